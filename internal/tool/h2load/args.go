package h2load

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	program = "h2load"
	// warmupMargin is added to a warm-up's duration, in seconds: the agent kills it at its end.
	warmupMargin = 5
)

// Tool is h2load.
type Tool struct{}

var _ tool.Tool = Tool{}

// Args implements tool.Tool.
func (Tool) Args(cell record.Cell, target tool.Target, purpose tool.Purpose) []string {
	args := append([]string{program}, extent(cell, purpose)...)
	if cell.Protocol() == record.HTTP2 {
		args = append(args, "--npn-list=h2")
	} else {
		args = append(args, "--h1")
	}
	return append(append(args, requestArgs(cell)...), target.URL(cell.Request.Path))
}

func extent(cell record.Cell, purpose tool.Purpose) []string {
	if purpose == tool.Probe {
		return []string{"-c", "1", "-t", "1", "-m", "1", "-n", "1"}
	}
	args := []string{"-c", number(cell.Connections), "-t", number(cell.Threads), "-m", number(max(cell.StreamsPerConnection, 1)), "-D"}
	if purpose == tool.Warmup {
		return append(args, number(cell.WarmupSeconds+warmupMargin))
	}
	return append(args, number(cell.DurationSeconds), "--log-file="+logName(cell))
}

// requestArgs returns the arguments of a request other than a plain GET. A body selects POST unless the method is named.
func requestArgs(cell record.Cell) []string {
	r := cell.Request
	var args []string
	if r.Verb() != "GET" || r.Body != "" {
		args = append(args, "-H", ":method: "+r.Verb())
	}
	for _, h := range r.Headers {
		args = append(args, "-H", h.Name+": "+h.Value)
	}
	if r.Body != "" {
		return append(args, "-d", bodyName(cell))
	}
	if r.NoBody() {
		args = append(args, "-H", "content-length: 0")
	}
	return args
}

type facts struct {
	Status int32 `json:"status"`
}

// Files implements tool.Tool.
func (Tool) Files(cell record.Cell, _ tool.Target) []tool.File {
	text, err := json.Marshal(facts{Status: cell.Request.Expect.Status})
	if err != nil {
		panic(fmt.Sprintf("writing a number as JSON: %v", err))
	}
	files := []tool.File{{Name: factsName(cell), Text: string(text) + "\n"}}
	if cell.Request.Body != "" {
		files = append(files, tool.File{Name: bodyName(cell), Text: cell.Request.Body})
	}
	return files
}

// A cell's files: facts for the parser, the request body, and the log.
func factsName(cell record.Cell) string { return "h2load-" + record.PointOf(cell).Name() + ".json" }
func bodyName(cell record.Cell) string  { return "h2load-" + record.PointOf(cell).Name() + ".body" }
func logName(cell record.Cell) string   { return "h2load-" + record.PointOf(cell).Name() + ".log" }

// Waits implements tool.Tool: h2load connects at once.
func (Tool) Waits() bool { return false }

// Outputs implements tool.Tool.
func (Tool) Outputs(cell record.Cell) []string { return []string{factsName(cell), logName(cell)} }

// VersionArgs implements tool.Tool.
func (Tool) VersionArgs() []string { return []string{program, "--version"} }

var versionLine = regexp.MustCompile(`(?m)^h2load nghttp2/(\S+)$`)

// ParseVersion implements tool.Tool.
func (Tool) ParseVersion(raw []byte) string {
	if m := versionLine.FindSubmatch(raw); m != nil {
		return string(m[1])
	}
	return record.Unknown
}

func number(n int32) string { return strconv.Itoa(int(n)) }
