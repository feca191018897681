// Package lint reads output of load tools from any source, and reports the results in it that are unreliable.
//
// Parse finds the runs in a file: forms lists the adapters, one for each form of output (rowForms for tables). Codes and limits are those
// of package validity where the same check judges a run's cells.
//
// Raw output holds less than Loadstone's own records: no pinning, no CPU time, no answers. What follows from that is listed, never
// guessed. Where several causes fit, all are listed. Quoted text is untrusted.
package lint
