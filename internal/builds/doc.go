// Package builds says how the implementations of a run were built, what they are before any load, and which claims about them hold.
package builds
