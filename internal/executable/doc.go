// Package executable reads how the program of a process was built, or will be: it finds the file as the process sees it, which package binary
// reads, and names the script where the program is an interpreter.
//
// Of what cannot be read it says why: an executable has no error, but answers that are unknown.
package executable
