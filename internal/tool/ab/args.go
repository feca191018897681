package ab

import (
	"regexp"
	"strconv"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// RequestsPerSecond is what one ab is reckoned to make at most; its one thread was seen to make 243,000 on one CPU. It is asked
	// for so many requests that its time ends first.
	RequestsPerSecond = 500_000
	// MaxRequests bounds the requests of a cell, and by it ab's memory. An ab that makes them before its time is over ends there,
	// and its duration says so: at RequestsPerSecond that is after 50 s.
	MaxRequests = 25_000_000
	// BytesPerRequest is the memory that ab has touched at its end for each request that it made: a record of 32 bytes, and as much
	// again while it sorts them (measured: 62 with the C library's merge sort).
	BytesPerRequest = 64
)

const (
	program = "ab"
	// timeout is for how many seconds no connection at all may get a byte; then ab ends without a result.
	timeout = "2"
	// warmupMargin is what a warm-up is asked to take longer than it may, in seconds: the agent ends it by killing it.
	warmupMargin = 5
)

// Tool is ApacheBench.
type Tool struct{}

var _ tool.Tool = Tool{}

// Requests is the number of requests that ab is asked for in a cell of a duration, in seconds.
func Requests(seconds int32) int64 { return min(int64(seconds)*RequestsPerSecond, MaxRequests) }

// Args implements tool.Tool.
func (Tool) Args(cell record.Cell, target string, purpose tool.Purpose) []string {
	args := []string{program, "-q"}
	args = append(args, extent(cell, purpose)...)
	if cell.Connection != record.PerRequest {
		args = append(args, "-k")
	}
	return append(args, "-r", "-s", timeout, "-e", output(cell), "http://"+target+cell.Request.Path)
}

// extent returns how long ab runs, on how many connections.
func extent(cell record.Cell, purpose tool.Purpose) []string {
	if purpose == tool.Probe {
		return []string{"-c", "1", "-n", "1"}
	}
	seconds := cell.DurationSeconds
	if purpose == tool.Warmup {
		seconds = cell.WarmupSeconds + warmupMargin
	}
	// -n must come after -t, which sets it too.
	return []string{"-c", strconv.Itoa(int(cell.Connections)), "-t", strconv.Itoa(int(seconds)), "-n", strconv.FormatInt(Requests(seconds), 10)}
}

// output is the name of the file with the percentiles.
func output(cell record.Cell) string { return "ab-" + record.PointOf(cell).Name() + ".csv" }

// Files implements tool.Tool.
func (Tool) Files(record.Cell, string) []tool.File { return nil }

// Waits implements tool.Tool: ab connects as soon as it runs.
func (Tool) Waits() bool { return false }

// Outputs implements tool.Tool.
func (Tool) Outputs(cell record.Cell) []string { return []string{output(cell)} }

// VersionArgs implements tool.Tool.
func (Tool) VersionArgs() []string { return []string{program, "-V"} }

var versionLine = regexp.MustCompile(`(?m)^This is ApacheBench, Version (\S+)`)

// ParseVersion implements tool.Tool.
func (Tool) ParseVersion(raw []byte) string {
	if m := versionLine.FindSubmatch(raw); m != nil {
		return string(m[1])
	}
	return "unknown"
}
