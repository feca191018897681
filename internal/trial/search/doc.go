// Package search looks for the highest arrival rate at which a latency stays below a bound. It is pure.
//
// Rates double from the start until one misses, or halve until one is met. Then the interval between the highest rate
// met and the lowest missed is cut at its geometric mean (its ratio matters) until it is at most Width. The remaining
// steps repeat these two rates in turn. The majority of a rate's tries counts: a tie is retried at once, and an
// overturned outcome moves the interval. So one bad step does not end a search at the wrong place.
package search
