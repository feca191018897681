// Package cli is the command line: a file for each command, which reads flags, calls what does the work, and prints. What an exit code means
// stands in exit.go, for all commands alike; how a cluster is reached in kube.go.
package cli
