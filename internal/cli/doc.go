// Package cli is the command line of loadstone. Each command is a file that reads flags, calls the package that does the work, and prints.
// exit.go has the exit codes of all commands.
package cli
