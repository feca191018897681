// Package comparisons renders the sections about differences: all effects in one picture, the table of their tests, and the
// capacities that searches found. It computes no verdict.
package comparisons
