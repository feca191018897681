// Package search looks for the highest arrival rate at which a latency stays below a bound: which rate to try next, whether a
// measurement kept the bound, and what a whole search has found.
//
// Rates are doubled from the start until one misses, or halved until one is met. Then the interval between the highest rate met and the
// lowest missed is cut at its geometric mean, since its width matters as a ratio, until it is at most Width. What is left of the steps
// repeats these two rates in turn. A rate counts by the majority of its tries: a tie is tried again at once, and an outcome that is
// overturned moves the interval, so a single bad step does not end a search at the wrong place.
//
// The package is pure: it sends no request and reads no clock.
package search
