package tool

import (
	"fmt"
	"path"
	"strconv"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// Purpose is the purpose of a tool's run.
type Purpose string

const (
	// Warmup loads the server until the agent kills the tool; its output is unused.
	Warmup Purpose = "Warmup"
	// Measure is the run whose output is parsed.
	Measure Purpose = "Measure"
	// Probe is the shortest run that tests the user's script, before measuring. If the script fails, it must exit nonzero or print an error
	// that Parse finds.
	Probe Purpose = "Probe"
)

// Target is the server under load.
type Target struct {
	Address string
	// TLS means HTTPS.
	TLS bool
}

// URL returns the address of a path.
func (t Target) URL(path string) string {
	scheme := "http"
	if t.TLS {
		scheme = "https"
	}
	return scheme + "://" + t.Address + path
}

// File is a file for a tool's working directory.
type File struct {
	Name string
	Text string
}

// Tool is a load generator program. Its cells hold one generator's share of connections and arrival rate.
type Tool interface {
	// Name is the tool's name in specs, and its program's.
	Name() record.Tool
	// Install says how to install the program.
	Install() string
	// Args returns the arguments that load target; the first is the program's name. Tools do not verify certificates.
	Args(cell record.Cell, target Target, purpose Purpose) []string
	// Waits reports whether a measured run opens one connection to test the server, then waits until its standard input ends. Such tools are
	// started early, so that several begin at one instant, even on one CPU.
	Waits() bool
	// Files are written to the working directory before the cell.
	Files(cell record.Cell, target Target) []File
	// Outputs are files written in addition to standard output, and required ones of Files. The agent appends each to the raw output after an
	// OutputHeader line, and removes it.
	Outputs(cell record.Cell) []string
	// Parse reads a measured run's whole raw output. The error is a sentence. The caller sets Measurement.Args and ToolVersion.
	Parse(raw []byte) (record.Measurement, error)
	// VersionArgs makes the program print its version; ParseVersion extracts it, or returns "unknown".
	VersionArgs() []string
	ParseVersion(raw []byte) string
	// Check returns what the program cannot do of a load, before anything runs; the run's plan adds tools that can.
	Check(l Load) []Refusal
	// Caveats qualify a cell's measurement; tls says that the server uses TLS.
	Caveats(cell record.Cell, tls bool) Caveats
	// Needs is what a generator needs to run its share of a cell.
	Needs(share record.Cell) Needs
}

// Caveats qualify a measurement. Zero suits a tool that counts answers' bytes as sent, reopens connections, and always makes full handshakes.
type Caveats struct {
	// Pause is the highest observed percentile of latencies from the intended starts due to the tool's own pauses: below it, they cannot be
	// told from the server's. It is 0 without rates.
	Pause time.Duration
	// OtherBytes: counted bytes include TLS or have compressed heads.
	OtherBytes bool
	// OtherHeads: servers may send other heads than to the agents' checks.
	OtherHeads bool
	// StaysRefused: the tool never reopens a refused connection and continues with fewer.
	StaysRefused bool
	// Resumes: the tool resumes TLS sessions if the server allows it.
	Resumes bool
	// ReadsBodies: the tool compares each answer's body with that of the load, if the load has one.
	ReadsBodies bool
}

// Needs are a run's needs in addition to the measured time.
type Needs struct {
	// Gap is the time for start and end.
	Gap time.Duration
	// MemoryBytes is one run's memory, without the agent's.
	MemoryBytes int64
}

const (
	// LeastGap separates a measured time from the next cell, for a tool that starts at once and ends within 100 ms.
	LeastGap = 250 * time.Millisecond
	// ConnectionBytes is a connection's memory in any tool: wrk uses an 8 KiB buffer and a parser each.
	ConnectionBytes = 16 << 10
)

// OutputHeader is the line before a tool's file in the raw output.
func OutputHeader(name string) string { return "\n== " + name + "\n" }

// ScriptPath returns the path of a cell's script below dir, or empty.
func ScriptPath(dir string, c record.Cell) string {
	if c.Script == nil {
		return ""
	}
	return path.Join(dir, c.Load, c.Script.Key)
}

// MaxCount bounds every parsed number, so that sums cannot overflow.
const MaxCount = 1 << 42

// Count parses a whole number from 0 to MaxCount.
func Count(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading a number: %w", err)
	}
	if n < 0 || n > MaxCount {
		return 0, fmt.Errorf("%d is out of range", n)
	}
	return n, nil
}
