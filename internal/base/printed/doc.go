// Package printed parses numbers that programs print for people, with their rounding. The package is pure. Texts are untrusted: an error
// quotes them, clipped.
package printed
