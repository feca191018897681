// Package massif reads the snapshots that valgrind's massif takes of the heap and the stacks of a process. The package is pure, and trusts no
// file.
package massif
