// Package lint reads output of wrk, ab and k6 from any source, and reports the results in it that are unreliable.
//
// Judge checks each sample and compares samples with each other. Analyse adds repeats and verdicts. Text prints everything.
// Codes and limits are those of package validity where a run's cells are judged by the same check.
//
// Raw output holds less than Loadstone's own records: no pinning, no CPU time, no answers. What follows from that is listed, never
// guessed. Quoted text is untrusted.
package lint
