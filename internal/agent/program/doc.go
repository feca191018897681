// Package program measures programs that the agent starts: a Collector runs a program that measures itself, and a Monitor runs a server
// under a profiler, asks it and keeps the profiler's files.
package program
