// Package printed reads numbers as programs print them for people: each with the rounding that printing cost it.
//
// The texts of wrk, ab and k6 are read in their packages; what their numbers, durations and sizes have in common is here.
// The package is pure, and trusts no text: what it cannot read is an error that quotes it, clipped.
package printed
