// Package httpcheck checks whether a server answers as it should: once before it is measured, and beside the tool while it is. It is a small
// HTTP client of its own, since it counts bytes on the wire and sends what wrk sends; for HTTP/2 it makes use of the client of a library, as k6 does.
//
// It does not measure: how long an answer takes is of interest only where none comes.
package httpcheck
