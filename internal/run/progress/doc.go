// Package progress describes a run's progress and ending, for one machine and clusters alike. It prints nothing.
package progress
