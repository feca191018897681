// Package comparisons renders the sections about differences: effects, tests, capacities, and cases of programs. It
// computes no verdict.
package comparisons
