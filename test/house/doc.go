// Package house holds the project's packages against what the design says of them all: which of them may do I/O, and how large they may become.
package house
