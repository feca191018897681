package wrk

import (
	_ "embed"
	"regexp"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	program    = "wrk"
	scriptName = "wrk-done.lua"
	// timeout is the latency above which wrk counts a response as a timeout.
	timeout = "2s"
	// warmupMargin is what a warm-up is asked to take longer than it may, in seconds: the agent ends it by killing it.
	warmupMargin = 5
)

//go:embed done.lua
var script string

// Tool is wrk.
type Tool struct{}

var _ tool.Tool = Tool{}

// Args implements tool.Tool.
func (Tool) Args(cell v1alpha1.Cell, target string, purpose tool.Purpose) []string {
	seconds := cell.DurationSeconds
	if purpose == tool.Warmup {
		seconds = warmupMargin
		if cell.WarmupSeconds != nil {
			seconds += *cell.WarmupSeconds
		}
	}
	args := []string{
		program, "-t", number(cell.Threads), "-c", number(cell.Connections), "-d", number(seconds) + "s", "--timeout", timeout,
	}
	if purpose == tool.Measure {
		args = append(args, "-s", scriptName)
	}
	path := cell.Request.Path
	if path == "" {
		path = "/"
	}
	return append(args, "http://"+target+path)
}

// Files implements tool.Tool.
func (Tool) Files(v1alpha1.Cell, string) []tool.File {
	return []tool.File{{Name: scriptName, Text: script}}
}

// Outputs implements tool.Tool.
func (Tool) Outputs(v1alpha1.Cell) []string { return nil }

// VersionArgs implements tool.Tool. wrk prints its version and then exits with status 1.
func (Tool) VersionArgs() []string { return []string{program, "-v"} }

var versionLine = regexp.MustCompile(`^wrk (\S+)`)

// ParseVersion implements tool.Tool.
func (Tool) ParseVersion(raw []byte) string {
	if m := versionLine.FindSubmatch(raw); m != nil {
		return string(m[1])
	}
	return "unknown"
}

func number(n int32) string { return strconv.Itoa(int(n)) }
