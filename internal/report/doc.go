// Package report prints an analysis.Table: as one line for a status, as JSON for programs, as one self-contained HTML file for people, and where people
// look already: as Markdown for a comment, as CSV for a spreadsheet, and as JUnit's XML for continuous integration.
//
// It computes nothing: every number that it shows is in the table. What it adds is units of display (package format), words (words and
// phrase), places in a picture (chart) and an order. The page is a list of sections: those that any run has are made here, those of a
// kind of work in a package of its own, and sections.go lists them all. A new kind adds its package, or its file, and its line there.
package report
