// Package levels makes the sections on what was measured at the levels of a run: throughput and CPU time, latencies, throughput over
// time, all numbers, and the tables of details that lie behind them. It compares nobody.
package levels
