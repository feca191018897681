// Package page prints a report as one self-contained HTML file with inline SVG, without scripts or external
// resources. A page is a list of sections with name, template and data; the package knows no section and no run.
//
// html/template escapes everything from outside; no string is ever marked as safe markup. So each section's own
// template writes it, and none is pasted as text.
package page
