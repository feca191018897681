// Package observe reads what a server costs while others put load on it: snapshots of every counter before and after each cell, samples of
// the fast ones in between, its connections shortly before the load ends, and the speed of its CPUs.
//
// Of a program that measures itself it has a Window: what its container costs while it runs, for the collector.
//
// It sends the server nothing, and judges nothing: what cannot be read is said in words, cell by cell.
package observe
