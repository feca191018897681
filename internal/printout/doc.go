// Package printout reads what load generators printed elsewhere: wrk, ab and k6.
//
// Parse cuts a file's text into runs, has each read by its tool's package, and makes samples of them, with every number as it was printed
// and the rounding that printing cost it, and with what people claim of a run in titles and names. It judges nothing.
//
// The package is pure: it opens no file and reads no clock. What it quotes from files is untrusted text.
package printout
