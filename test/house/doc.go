// Package house checks all packages against the design: which may do I/O, and how large they may be.
package house
