// Package environment says what the trials of a run ran on, where they differ in it, and what nobody could tell of them.
package environment
