package ab

import (
	"regexp"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// RequestsPerSecond bounds the rate assumed of one ab (its one thread reached 243,000 on one CPU), so that its time ends before its
	// requests.
	RequestsPerSecond = 500_000
	// MaxRequests bounds a cell's requests, and so ab's memory. At RequestsPerSecond ab reaches it after 50 s, and its duration shows the
	// early end.
	MaxRequests = 25_000_000
	// BytesPerRequest is ab's memory per request at its end: a record of 32 bytes, and as much again for sorting (measured: 62 with the C
	// library's merge sort).
	BytesPerRequest = 64
)

const (
	program     = "ab"
	contentType = "Content-Type"
	// timeout in seconds without a byte on any connection; then ab ends without a result.
	timeout = "2"
	// warmupMargin is added to a warm-up's duration, in seconds: the agent kills it at its end.
	warmupMargin = 5
)

// Tool is ApacheBench.
type Tool struct{}

var _ tool.Tool = Tool{}

// Requests returns the number of requests to ask ab for in a cell of a duration in seconds.
func Requests(seconds int32) int64 { return min(int64(seconds)*RequestsPerSecond, MaxRequests) }

// Args implements tool.Tool.
func (Tool) Args(cell record.Cell, target tool.Target, purpose tool.Purpose) []string {
	args := []string{program, "-q"}
	args = append(args, extent(cell, purpose)...)
	if cell.Connection != record.PerRequest {
		args = append(args, "-k")
	}
	if cell.Request.Expect.AnyBody {
		args = append(args, "-l") // Otherwise each answer of another length than the first fails.
	}
	args = append(args, "-r", "-s", timeout, "-e", output(cell))
	args = append(args, requestArgs(cell)...)
	return append(args, target.URL(cell.Request.Path))
}

// requestArgs returns the arguments of a request other than a plain GET. -p must precede -m: it selects POST, and ab refuses a second method.
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
			args = append(args, "-T", h.Value) // Otherwise ab chooses a content type.
		} else {
			args = append(args, "-H", h.Name+": "+h.Value)
		}
	}
	if r.NoBody() {
		args = append(args, "-H", "Content-Length: 0")
	}
	return args
}

func bodyName(cell record.Cell) string { return "ab-" + record.PointOf(cell).Name() + ".body" }

func extent(cell record.Cell, purpose tool.Purpose) []string {
	if purpose == tool.Probe {
		return []string{"-c", "1", "-n", "1"}
	}
	seconds := cell.DurationSeconds
	if purpose == tool.Warmup {
		seconds = cell.WarmupSeconds + warmupMargin
	}
	// -n must follow -t, which sets it too.
	return []string{"-c", strconv.Itoa(int(cell.Connections)), "-t", strconv.Itoa(int(seconds)), "-n", strconv.FormatInt(Requests(seconds), 10)}
}

func output(cell record.Cell) string { return "ab-" + record.PointOf(cell).Name() + ".csv" }

// Files implements tool.Tool.
func (Tool) Files(cell record.Cell, _ tool.Target) []tool.File {
	if cell.Request.Body == "" {
		return nil
	}
	return []tool.File{{Name: bodyName(cell), Text: cell.Request.Body}}
}

// Waits implements tool.Tool: ab connects at once.
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
