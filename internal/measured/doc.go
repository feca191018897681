// Package measured reads what was measured of a cell from the records of its trial. A cell is one level of one load in one trial.
//
// Read gathers the records and computes the values that follow from them: throughput, latencies, CPU time, where the processes ran, the
// cell over time, and what else was seen. Beside them stands what a run's trials have in common: their machine, images and scripts, and
// the baseline's answers.
//
// Nothing here says what a value is worth: a fact does not depend on who asks; internal/validity has the thresholds. What a record does
// not have is nil, 0 or false, and never guessed.
package measured
