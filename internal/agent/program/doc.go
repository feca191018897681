// Package program measures programs that the agent starts. A Collector runs a program that measures itself. A Monitor runs a server under a
// profiler, sends it requests and keeps the profiler's files.
package program
