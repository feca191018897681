// Package perfstat reads the counters of perf stat -x, as it prints them for programs. A counter that the machine or the kernel does not have
// is no zero: it was not counted. The package is pure, and trusts no file.
package perfstat
