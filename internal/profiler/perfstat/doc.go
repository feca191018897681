// Package perfstat parses the counters of perf stat -x,. A counter that the machine or kernel lacks is missing, not zero. The package is pure.
// Files are untrusted.
package perfstat
