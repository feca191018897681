// Package progress holds what a run tells while it goes on, and how it has ended: the same on one machine and on a cluster. It prints nothing.
package progress
