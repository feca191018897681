// Package launch starts a program in its own image at a given instant and waits for it, once or several times, with the counters of perf stat.
// The program's parent runs in its container; Launched is the agent's view of that parent.
package launch
