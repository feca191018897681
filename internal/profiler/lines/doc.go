// Package lines reads the text files that profilers write: line by line, within bounds, and with errors that say at which line and what is
// missing. The package is pure, and trusts no file.
package lines
