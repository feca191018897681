// Package builds reports how the implementations of a run were built, what they need when idle, and whether the claims about them hold.
package builds
