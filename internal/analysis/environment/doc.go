// Package environment reports what the trials of a run ran on, where they differ, and what is unknown.
package environment
