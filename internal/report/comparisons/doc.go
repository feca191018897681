// Package comparisons renders the sections about differences: all effects in one picture, the table of their tests, the capacities
// that searches found, and the cases of programs that measure themselves. It computes no verdict.
package comparisons
