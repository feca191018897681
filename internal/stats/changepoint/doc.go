// Package changepoint finds where the level of a series has changed for good: E-divisive means with a permutation test (Matteson and James), by
// bisection, as the change points of MongoDB's and Apache Otava's performance tests are found.
//
// What lies far from the median counts as if it lay five standard deviations away, so that an outlier hides no step. All sums are of whole numbers,
// and the permutations follow from the series alone: every machine finds the same points.
//
// A series without a change has a point with a probability of at most alpha, whatever its values are distributed like, as long as they do not
// depend on each other. A slow creep has one point or several somewhere along its way: the steps that come nearest to it.
//
// It performs no side effects, and knows neither rounds nor metrics.
package changepoint
