package tool

import (
	"path"

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
	// Probe is the shortest run that shows whether the user's script works. It is made before anything is measured, and must end
	// with a status other than 0, or print an error that Parse finds, if the script does not.
	Probe Purpose = "Probe"
)

// File is a file that a tool needs in its working directory.
type File struct {
	Name string
	Text string
}

// Tool is one load generator program. Cells that it is given hold the share of one generator: its own number of connections, and
// its own part of the arrival rate.
type Tool interface {
	// Args is the argument vector that puts the cell's load on target (host:port); its first element is the program's name.
	Args(cell v1alpha1.Cell, target string, purpose Purpose) []string
	// Waits says that a measured run opens one connection, to see whether the server is there, and then waits until its standard input
	// ends: it can be started before its time, so that several of them begin at one instant, even on one CPU.
	Waits() bool
	// Files are written into the tool's working directory before it runs the cell.
	Files(cell v1alpha1.Cell, target string) []File
	// Outputs are the files that the tool writes beside its standard output. The agent appends each to the raw output, after a line
	// that OutputHeader makes, and removes it.
	Outputs(cell v1alpha1.Cell) []string
	// Parse reads the whole raw output of a measured run. The error says, in a sentence, why there is no measurement.
	// Measurement.Args and ToolVersion are left to the caller.
	Parse(raw []byte) (record.Measurement, error)
	// VersionArgs is the argument vector that makes the program print its version, and ParseVersion finds it in what was
	// printed; "unknown" if it is not there.
	VersionArgs() []string
	ParseVersion(raw []byte) string
}

// OutputHeader is the line before the contents of a file that a tool wrote, in the raw output.
func OutputHeader(name string) string { return "\n== " + name + "\n" }

// ScriptPath is where the script of a cell lies below dir; empty if it has none.
func ScriptPath(dir string, c v1alpha1.Cell) string {
	if c.Script == nil {
		return ""
	}
	return path.Join(dir, c.Load, c.Script.Key)
}
