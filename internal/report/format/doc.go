// Package format prints single values for people: counts, shares, durations, sizes, effects, instants and the ticks of axes. It knows no
// word of any language: where a value needs one, package phrase puts it there.
package format
