package tool

import (
	"path"
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
	// Traits are what the program can and cannot do, whatever the cell.
	Traits() Traits
	// Needs is what a generator needs to run its share of a cell.
	Needs(share record.Cell) Needs
}

// Traits are what a tool can and cannot do.
type Traits struct {
	// Install says how the program comes to a machine that lacks it.
	Install string
	// OneThread is true of a tool that has a single thread.
	OneThread bool
	// EqualThreads is true of a tool whose threads hold the same number of connections each, and which drops what does not divide.
	EqualThreads bool
	// MaxRatePerCPU is the highest arrival rate that is asked of it for each CPU, in requests a second; 0 if it sustains no rate.
	MaxRatePerCPU int32
	// PauseMillis is up to where, in milliseconds, a tool's own pauses were seen to put a percentile of the latencies from the intended starts: below, they
	// cannot be told from the server's. It is 0 of a tool that keeps no rate.
	PauseMillis int32
	// RatesOnly is true of a tool that is used for constant rates, and for nothing else: neither for a closed model nor for ramps.
	RatesOnly bool
	// MaxRequests is how many Needs.Requests a generator may have in a cell; 0 of a tool that leaves no records.
	MaxRequests int64
	// WholePercents is true of a tool that gives no percentile between two whole ones.
	WholePercents bool
	// OldHTTP is true of a tool that asks in HTTP/1.0, so that servers head their answers differently than those to the agents' checks.
	OldHTTP bool
	// CountsEncrypted is true of a tool that counts the bytes of TLS with those that it reads.
	CountsEncrypted bool
	// WholeHandshakes is true of a tool that begins each connection with a whole handshake of TLS, and false of one that resumes sessions.
	WholeHandshakes bool
	// StallsTLS is true of a tool that sends the first request of a connection of TLS 1.3 only when the server's kernel has acknowledged the handshake,
	// which takes 40 ms with servers that send nothing of their own then.
	StallsTLS bool
	// ConnectsOnce is true of a tool that never opens a connection again that was refused: it goes on with fewer.
	ConnectsOnce bool
	// MaxHeadBytes is how long method, path and headers of a request may be together, each header with four bytes more; 0 if that has no bound.
	MaxHeadBytes int
	// Methods are those that the tool can send, with a blank in between; empty if it sends any.
	Methods string
	// Mixes is true of a tool that makes the requests of a mix, in the order of Sequence.
	Mixes bool
	// HTTP2 is true of a tool that speaks HTTP/2 over TLS, and tells of how many requests the answer was in it.
	HTTP2 bool
	// Freezable is true of a tool that bears being stopped in the middle of its work and let go on.
	Freezable bool
}

// Needs is what a run of a tool takes beside the measured time.
type Needs struct {
	// Gap is the time to start in and to end in.
	Gap time.Duration
	// MemoryBytes is the memory of one run, beyond that of the agent.
	MemoryBytes int64
	// Requests is how many requests one run makes at most, of each of which the tool leaves a record; 0 of a tool that leaves none.
	Requests int64
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
