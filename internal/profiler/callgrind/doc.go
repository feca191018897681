// Package callgrind reads the profiles that valgrind's callgrind writes: costs by function and line, and who called whom at what cost. Costs
// are counts of events, instructions (Ir) above all. Cachegrind, which writes nearly the same, counts where callgrind fails, as it does with
// signals in Go; it knows no calls. The package is pure, and trusts no file.
package callgrind
