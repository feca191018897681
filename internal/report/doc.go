// Package report prints an analysis.Table: as one line for a status, as JSON for programs, and as one self-contained HTML file for
// people, with inline SVG, without scripts and without anything fetched from elsewhere.
//
// It computes nothing: every number that it shows is in the table. What it adds is units of display, places in a picture and
// words; all words are in words.go, keyed, so that another language is another such file. Whatever comes from outside - names,
// messages of tools and servers - is escaped by html/template; no string is ever marked as safe markup.
package report
