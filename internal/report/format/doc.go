// Package format prints single values: counts, shares, durations, sizes, effects, instants and ticks. It has no
// words; package phrase adds them.
package format
