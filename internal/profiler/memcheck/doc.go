// Package memcheck parses valgrind memcheck's output: errors and leaks from XML (--xml=yes), and the heap summary, missing there, from the
// tree of allocations (--xtree-memory=full). The package is pure. Files are untrusted.
package memcheck
