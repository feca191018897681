// Package callgrind parses profiles of valgrind's callgrind and cachegrind, and draws flame graphs. Costs are event counts by function and
// line, with callers and callees for callgrind. Files are untrusted.
package callgrind
