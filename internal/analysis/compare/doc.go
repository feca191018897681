// Package compare compares a run with earlier runs, from their records alone. It uses the inference of objectives of kind
// Regression. It also reads the noise of an A/A run: the ratio of two equal servers, and its interval.
package compare
