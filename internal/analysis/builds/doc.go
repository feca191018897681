// Package builds reports how implementations were built, what they need when idle, and whether claims about them
// hold.
package builds
