package tool

import (
	"fmt"
	"path"
	"strconv"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// Purpose is what a run of a tool is for.
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

// Target is the server that a tool puts load on.
type Target struct {
	// Address is its host:port.
	Address string
	// TLS says that it speaks HTTPS.
	TLS bool
}

// URL is the address of a path of the server.
func (t Target) URL(path string) string {
	scheme := "http"
	if t.TLS {
		scheme = "https"
	}
	return scheme + "://" + t.Address + path
}

// File is a file that a tool needs in its working directory.
type File struct {
	Name string
	Text string
}

// Tool is one load generator program. Cells that it is given hold the share of one generator: its own number of connections, and
// its own part of the arrival rate.
type Tool interface {
	// Name is that of the tool in specs, and of its program.
	Name() record.Tool
	// Install says how the program comes to a machine that lacks it.
	Install() string
	// Args is the argument vector that puts the cell's load on target; its first element is the program's name. No tool verifies a certificate.
	Args(cell record.Cell, target Target, purpose Purpose) []string
	// Waits says that a measured run opens one connection, to see whether the server is there, and then waits until its standard input
	// ends: it can be started before its time, so that several of them begin at one instant, even on one CPU.
	Waits() bool
	// Files are written into the tool's working directory before it runs the cell.
	Files(cell record.Cell, target Target) []File
	// Outputs are the files that the tool writes beside its standard output, and those of Files without which they say too little. The agent appends
	// each to the raw output, after a line that OutputHeader makes, and removes it.
	Outputs(cell record.Cell) []string
	// Parse reads the whole raw output of a measured run. The error says, in a sentence, why there is no measurement.
	// Measurement.Args and ToolVersion are left to the caller.
	Parse(raw []byte) (record.Measurement, error)
	// VersionArgs is the argument vector that makes the program print its version, and ParseVersion finds it in what was
	// printed; "unknown" if it is not there.
	VersionArgs() []string
	ParseVersion(raw []byte) string
	// Check is what the program cannot do of a load. It is asked before anything runs; the plan of a run adds which other tools could.
	Check(l Load) []Refusal
	// Caveats are what readers of a cell's measurement must know; tls says that the server speaks TLS.
	Caveats(cell record.Cell, tls bool) Caveats
	// Needs is what a generator needs to run its share of a cell.
	Needs(share record.Cell) Needs
}

// Caveats are what the measurement of a cell means beside what it says. The zero value suits a tool that counts the bytes of answers as they are sent, opens
// connections again, and begins each with a whole handshake.
type Caveats struct {
	// Pause is up to where the tool's own pauses were seen to put a percentile of the latencies from the intended starts: below, they cannot be told from
	// the server's. It is 0 of a tool that keeps no rate.
	Pause time.Duration
	// OtherBytes says that what the tool counts is not the bytes of heads and bodies: those of TLS, too, or those of compressed heads.
	OtherBytes bool
	// OtherHeads says that servers may head their answers differently than those to the agents' checks.
	OtherHeads bool
	// StaysRefused says that the tool never opens a connection again that was refused: it goes on with fewer.
	StaysRefused bool
	// Resumes says that the tool resumes sessions of TLS, where the server allows it.
	Resumes bool
}

// Needs is what a run of a tool takes beside the measured time.
type Needs struct {
	// Gap is the time to start in and to end in.
	Gap time.Duration
	// MemoryBytes is the memory of one run, beyond that of the agent.
	MemoryBytes int64
}

// Every tool needs these for a run.
const (
	// LeastGap separates the end of a measured time from the next cell, for a tool that is started in a moment and ends within 100 ms.
	LeastGap = 250 * time.Millisecond
	// ConnectionBytes is the memory that a connection needs in any tool: wrk holds a buffer of 8 KiB and a parser for each.
	ConnectionBytes = 16 << 10
)

// OutputHeader is the line before the contents of a file that a tool wrote, in the raw output.
func OutputHeader(name string) string { return "\n== " + name + "\n" }

// ScriptPath is where the script of a cell lies below dir; empty if it has none.
func ScriptPath(dir string, c record.Cell) string {
	if c.Script == nil {
		return ""
	}
	return path.Join(dir, c.Load, c.Script.Key)
}

// MaxCount bounds every number that is read from what a program wrote for a parser, so that sums of a whole output stay far from overflow.
const MaxCount = 1 << 42

// Count reads a whole number from 0 to MaxCount.
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
