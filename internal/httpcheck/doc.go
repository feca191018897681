// Package httpcheck checks whether a server answers as it should: once before it is measured, and beside the tool while it is. It is a small
// HTTP client of its own, since it counts bytes on the wire and sends what wrk sends.
//
// It does not measure: how long an answer takes is of interest only where none comes.
package httpcheck
