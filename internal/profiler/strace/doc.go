// Package strace reads the table of system calls that strace prints at its end (strace -c -f). The package is pure, and trusts no file.
//
// Being traced slows a program down and changes how much it does with one call: a busy server reads more at once, and waits less often. The names are right;
// counts under load are those of the traced program.
package strace
