// Package launch starts a program in its own image, at a given instant, and waits for it: once or several times, with the
// counters that perf stat has. The parent of the program runs in its container; Launched is the agent's view of that parent.
package launch
