// Package folders reads and writes the folder of a run on this machine: which process leads the run, its progress for a later
// resume, and its report.
package folders
