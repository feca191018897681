// Package massif parses valgrind massif's snapshots of a process's heap and stacks. The package is pure. Files are untrusted.
package massif
