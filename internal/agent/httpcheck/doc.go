// Package httpcheck checks whether a server answers correctly, before and during the load. It has its own small HTTP client, since it counts
// bytes on the wire and sends what wrk sends. For HTTP/2 it uses a library's client, as k6 does.
//
// It does not measure latency: time matters only for missing answers.
package httpcheck
