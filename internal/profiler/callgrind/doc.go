// Package callgrind reads the profiles of valgrind's callgrind and cachegrind, and draws them as a flame graph. Costs are counts of
// events by function and line, with callers and callees where callgrind was used. It trusts no file.
package callgrind
