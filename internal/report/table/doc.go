// Package table is a table of text as a page shows it: headed rows in bodies, cells with a tone and a second line, notes below a row. It
// leaves out columns that are empty, and lets a row become a card where the window is narrow.
package table
