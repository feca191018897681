package tool

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Purpose says what a run of a tool is for.
type Purpose string

const (
	// Warmup puts load on the server until the agent kills the tool; nothing of its output is used.
	Warmup Purpose = "Warmup"
	// Measure is the run whose output is parsed.
	Measure Purpose = "Measure"
)

// File is a file that a tool needs in its working directory.
type File struct {
	Name string
	Text string
}

// Tool is one load generator program.
type Tool interface {
	// Args is the argument vector that puts the cell's load on target (host:port); its first element is the program's name.
	Args(cell v1alpha1.Cell, target string, purpose Purpose) []string
	// Files are written into the tool's working directory before it runs.
	Files() []File
	// Parse reads the whole raw output of a measured run. The error says, in a sentence, why there is no measurement.
	// Measurement.Args and ToolVersion are left to the caller.
	Parse(raw []byte) (record.Measurement, error)
	// VersionArgs is the argument vector that makes the program print its version, and ParseVersion finds it in what was
	// printed; "unknown" if it is not there.
	VersionArgs() []string
	ParseVersion(raw []byte) string
}
