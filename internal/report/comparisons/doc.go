// Package comparisons makes the sections on who differs from whom: the picture of all effects, and the table of their tests. The
// verdicts are in the table that is shown; the package finds none.
package comparisons
