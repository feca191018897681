// Package lint says what of raw outputs of load generators cannot be believed, wherever they were made. They are read by internal/printout.
//
// Judge looks at each sample alone and at all of them together; Analyse adds repeats and verdicts, Text prints the whole. What a run's
// cells are judged by as well has the codes and the limits of internal/validity.
//
// A raw file holds less than Loadstone's own records: no pinning, no CPU time of either side, no answers. What follows from that is
// listed and never guessed. What is quoted from files is untrusted text.
package lint
