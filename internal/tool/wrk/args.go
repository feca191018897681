package wrk

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	program  = "wrk"
	doneName = "wrk-done.lua"
	// timeout is the latency above which wrk counts a timeout.
	timeout = "2s"
	// warmupMargin is added to a warm-up's duration, in seconds: the agent kills it at its end.
	warmupMargin = 5
)

var (
	//go:embed done.lua
	doneText string
	//go:embed user.lua
	userText string
	//go:embed mix.lua
	mixText string
)

// Tool is wrk.
type Tool struct {
	// Scripts is the folder of users' scripts, as for tool.ScriptPath.
	Scripts string
}

var _ tool.Tool = Tool{}

// Args implements tool.Tool. A script that makes the requests also makes the warm-up's.
func (Tool) Args(cell record.Cell, target tool.Target, purpose tool.Purpose) []string {
	args := append([]string{program}, extent(cell, purpose)...)
	args = append(args, "--timeout", timeout)
	if cell.Connection == record.PerRequest {
		args = append(args, "-H", "Connection: close")
	}
	if purpose != tool.Warmup || scriptName(cell) != doneName {
		args = append(args, "-s", scriptName(cell))
	}
	return append(args, target.URL(cell.Requests()[0].Path))
}

// extent returns the arguments for threads, connections and duration. A probe has one connection and wrk's shortest duration.
func extent(cell record.Cell, purpose tool.Purpose) []string {
	threads, connections, seconds := cell.Threads, cell.Connections, cell.DurationSeconds
	switch purpose {
	case tool.Probe:
		threads, connections, seconds = 1, 1, 1
	case tool.Warmup:
		seconds = cell.WarmupSeconds + warmupMargin
	case tool.Measure:
	}
	return []string{"-t", number(threads), "-c", number(connections), "-d", number(seconds) + "s"}
}

// Files implements tool.Tool.
func (t Tool) Files(cell record.Cell, _ tool.Target) []tool.File {
	files := []tool.File{{Name: doneName, Text: doneText}}
	switch {
	case cell.Script != nil:
		return append(files, tool.File{Name: scriptName(cell), Text: "local path = " + quote(tool.ScriptPath(t.Scripts, cell)) + "\n" + userText})
	case len(cell.Mix) > 0:
		return append(files, tool.File{Name: scriptName(cell), Text: mixTable(cell) + mixText})
	case !cell.Request.Plain():
		return append(files, tool.File{Name: scriptName(cell), Text: requestText(cell.Request)})
	}
	return files
}

func scriptName(cell record.Cell) string {
	if cell.Script == nil && len(cell.Mix) == 0 && cell.Request.Plain() {
		return doneName
	}
	return "wrk-" + record.PointOf(cell).Name() + ".lua"
}

// requestText is a request's script: wrk formats it once for all threads.
func requestText(r record.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "dofile(%s)\nwrk.method = %s\n", quote(doneName), quote(r.Verb()))
	for _, h := range r.Headers {
		fmt.Fprintf(&b, "wrk.headers[%s] = %s\n", quote(h.Name), quote(h.Value))
	}
	if r.Body != "" || r.NoBody() {
		fmt.Fprintf(&b, "wrk.body = %s\n", quote(r.Body)) // wrk declares the length of every body, even an empty one.
	}
	return b.String()
}

func mixTable(cell record.Cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "local sequence = %q\nlocal count = %d\nlocal asked = {\n", tool.Sequence(cell.Mix), cell.Threads)
	for _, r := range cell.Mix {
		fmt.Fprintf(&b, "  {method = %s, path = %s, headers = {", quote(r.Verb()), quote(r.Path))
		for _, h := range r.Headers {
			fmt.Fprintf(&b, "[%s] = %s, ", quote(h.Name), quote(h.Value))
		}
		b.WriteString("}")
		if r.Body != "" || r.NoBody() {
			fmt.Fprintf(&b, ", body = %s", quote(r.Body))
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// quote writes a Lua string with each byte as a number, so that none is special.
func quote(s string) string {
	text := []byte{'"'}
	for _, b := range []byte(s) {
		text = fmt.Appendf(text, "\\%03d", b)
	}
	return string(append(text, '"'))
}

// Waits implements tool.Tool: its script reads all input before wrk starts its threads.
func (Tool) Waits() bool { return true }

// Outputs implements tool.Tool.
func (Tool) Outputs(record.Cell) []string { return nil }

// VersionArgs implements tool.Tool. wrk prints its version and then exits with 1.
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
