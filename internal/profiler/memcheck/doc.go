// Package memcheck reads what valgrind's memcheck writes: errors and leaks from its XML (--xml=yes), and the heap summary, which the XML
// lacks, from its tree of allocations (--xtree-memory=full). The package is pure, and trusts no file.
package memcheck
