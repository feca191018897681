// Package validate says what is wrong with the file of a run or of a suite, line by line, and how much it would measure and where, without a cluster.
// It reads files by package runfile alone.
package validate
