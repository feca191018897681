// Package latency merges stored histograms into distributions and says which of their quantiles are known.
//
// There are four kinds of latency, and no two of them are merged or compared. A tool that gives quantiles only is known by brackets:
// its samples lie between two histograms, which are merged separately, so that a merged quantile or mean is an interval that
// holds the real one. Requests that timed out, and arrivals that were never sent, rank above all samples.
package latency
