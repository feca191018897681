// Package levels makes the sections on measured levels: throughput and CPU time, latencies, throughput over time, and
// all numbers. It compares nothing.
package levels
