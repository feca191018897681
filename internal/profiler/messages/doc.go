// Package messages reads what valgrind says to people beside its results: instructions that it does not know, stacks that the program switches,
// and why it gave up. The package is pure, and trusts no file.
package messages
