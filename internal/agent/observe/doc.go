// Package observe reads what a server costs under load: snapshots of all counters before and after each cell, samples of the fast ones in
// between, its connections shortly before the load ends, and the speed of its CPUs.
//
// It does not judge, and during the load it sends nothing. Each cell lists what could not be read.
package observe
