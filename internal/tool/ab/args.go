package ab

import (
	"regexp"
	"strconv"
	"strings"

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
	program     = "ab"
	contentType = "Content-Type"
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
func (Tool) Args(cell record.Cell, target tool.Target, purpose tool.Purpose) []string {
	args := []string{program, "-q"}
	args = append(args, extent(cell, purpose)...)
	if cell.Connection != record.PerRequest {
		args = append(args, "-k")
	}
	if cell.Request.Expect.AnyBody {
		args = append(args, "-l") // Else each answer of another length than the first has failed.
	}
	args = append(args, "-r", "-s", timeout, "-e", output(cell))
	args = append(args, requestArgs(cell)...)
	return append(args, target.URL(cell.Request.Path))
}

// requestArgs are those of a request that is no plain one. -p must come before -m: it makes the request a POST, and ab refuses a second method.
func requestArgs(cell record.Cell) []string {
	r := cell.Request
	var args []string
	if r.Body != "" {
		args = append(args, "-p", bodyName(cell))
	}
	if !r.Plain() {
		args = append(args, "-m", r.Verb())
	}
	for _, h := range r.Headers {
		if r.Body != "" && strings.EqualFold(h.Name, contentType) {
			args = append(args, "-T", h.Value) // It heads each body with a type of its own choice otherwise.
		} else {
			args = append(args, "-H", h.Name+": "+h.Value)
		}
	}
	if r.NoBody() {
		args = append(args, "-H", "Content-Length: 0")
	}
	return args
}

// bodyName is the name of the file with the body of a cell's requests.
func bodyName(cell record.Cell) string { return "ab-" + record.PointOf(cell).Name() + ".body" }

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
func (Tool) Files(cell record.Cell, _ tool.Target) []tool.File {
	if cell.Request.Body == "" {
		return nil
	}
	return []tool.File{{Name: bodyName(cell), Text: cell.Request.Body}}
}

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
