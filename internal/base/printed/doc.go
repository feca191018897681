// Package printed parses numbers that programs print for people, with their rounding. Packages wrk, ab and k6 use it for numbers, durations
// and sizes. The package is pure. Texts are untrusted: an error quotes them, clipped.
package printed
