// Package lines reads profilers' text files line by line, with size limits, and errors that name the line and the missing part. The package is pure.
// Files are untrusted.
package lines
