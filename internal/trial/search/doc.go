// Package search looks for the highest arrival rate with a latency below a bound. It is pure.
//
// It fits a success curve to all steps. Below the capacity most steps are met, above it most are missed. Each step
// tries the likeliest capacity (the median of what the steps leave possible), at most four times the highest rate met.
// So rates quadruple until one misses, then the interval is cut. A miss lowers the estimate and does not stop the
// search. Rates met up to a missed one make that miss doubtful: it is tried again or passed.
package search
