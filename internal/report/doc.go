// Package report prints an analysis.Table: as one line for a status, as JSON, as a self-contained HTML page, as
// Markdown for a comment, as CSV, and as JUnit XML.
//
// It computes nothing: every number is in the table. It adds display units (package format), words (phrase), pictures
// (chart) and an order. Sections of any run are made here, those of a kind of work in its own package.
package report
