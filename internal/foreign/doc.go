// Package foreign reads what load generators printed elsewhere - wrk, ab and k6 - and says what of it cannot be believed.
//
// Parse cuts a file's text into runs, has each read by its tool's package, and makes samples of them, with every number as it was printed
// and the rounding that printing cost it.
// Judge looks at each sample alone and at all of them together; Analyse adds repeats and verdicts, Text prints the whole.
//
// A raw file holds less than Loadstone's own records: no pinning, no CPU time of either side, no answers. What follows from that is
// listed and never guessed. The package is pure: it opens no file and reads no clock. What it quotes from files is untrusted text.
package foreign
