// Package compare compares a run with earlier runs, from their records alone, by the inference of Regression
// objectives. It also reads the noise of an A/A run.
package compare
