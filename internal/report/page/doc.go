// Package page prints a report for people: one self-contained HTML file, with inline SVG, without scripts and without anything fetched
// from elsewhere. A page is a list of sections, each with a name, a template and data; the package knows no section, and no run.
//
// Whatever comes from outside - names, messages of tools and servers - is escaped by html/template; no string is ever marked as safe
// markup. So each section is written by its own template after the other, and none is pasted into another as text.
package page
