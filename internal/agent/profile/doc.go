// Package profile runs a server under a profiler as often as its profile says: it commands each launch, sends the server its requests, ends it, and
// reads what the profiler wrote.
//
// What goes wrong with the server is a finding and no error. What of it can be believed is decided by package profiler, which reads the files.
package profile
