// Package page prints a report as one self-contained HTML file with inline SVG, without scripts or external resources. The package knows
// no section and no run. html/template escapes everything from outside; no string is marked as safe markup.
package page
