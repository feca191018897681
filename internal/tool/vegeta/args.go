package vegeta

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	program = "vegeta"
	// timeout for an answer, as in the other tools.
	timeout = 2 * time.Second
	// margin extends a load of marginFrom arrivals per second or more: a late timer at its end would lose the last arrivals.
	margin     = 5 * time.Millisecond
	marginFrom = 1000
	// warmupMargin is added to a warm-up's duration: the agent kills it at its end.
	warmupMargin = 5 * time.Second
	nowhere      = "/dev/null"
	// comparedBytes bounds a body that is kept with each record and compared.
	comparedBytes = 256
	// acceptEncoding is set to identity, or vegeta would ask for compressed answers.
	acceptEncoding, identity = "Accept-Encoding", "identity"
)

// Tool is vegeta.
type Tool struct{}

var _ tool.Tool = Tool{}

// Args implements tool.Tool.
func (Tool) Args(cell record.Cell, target tool.Target, purpose tool.Purpose) []string {
	rate, asked, workers, output := cell.RequestsPerSecond, duration(cell), cell.Connections, recordsName(cell)
	switch purpose {
	case tool.Warmup:
		asked, output = time.Duration(cell.WarmupSeconds)*time.Second+warmupMargin, nowhere
	case tool.Probe: // One request, after a millisecond.
		rate, asked, workers, output = 1000, time.Millisecond, 1, nowhere
	case tool.Measure:
	}
	users := number(workers)
	args := []string{
		program, "-cpus", number(cell.Threads), "attack", "-format", "json", "-targets", targetName(cell), "-output", output,
		"-rate", number(rate) + "/1s", "-duration", asked.String(), "-workers", users, "-max-workers", users, "-connections", users, "-max-connections", users,
		"-timeout", timeout.String(), "-redirects", "-1", "-http2=false", "-max-body", strconv.Itoa(keptBytes(cell.Request)),
	}
	if cell.Connection == record.PerRequest {
		args = append(args, "-keepalive=false")
	}
	if target.TLS {
		args = append(args, "-insecure")
	}
	return args
}

func duration(cell record.Cell) time.Duration {
	d := time.Duration(cell.DurationSeconds) * time.Second
	if cell.RequestsPerSecond < marginFrom {
		return d
	}
	return d + margin
}

// keptBytes is one byte more than the expected body, so that a longer one differs.
func keptBytes(r record.Request) int {
	if body := comparedBody(r); body != nil {
		return len(*body) + 1
	}
	return 0
}

// comparedBody is the body required of all answers; nil if not compared.
func comparedBody(r record.Request) *string {
	if r.Expect.Body == nil || len(*r.Expect.Body) > comparedBytes {
		return nil
	}
	return r.Expect.Body
}

// request is vegeta's only target. vegeta ignores unknown fields, which are for the parser: the file is kept with the records.
type request struct {
	Method    string              `json:"method"`
	URL       string              `json:"url"`
	Header    map[string][]string `json:"header"`
	Body      []byte              `json:"body,omitempty"`
	Loadstone facts               `json:"loadstone"`
}

type facts struct {
	Rate        int32   `json:"rate"`
	Seconds     int32   `json:"seconds"`
	Connections int32   `json:"connections"`
	Threads     int32   `json:"threads"`
	Status      int32   `json:"status"`
	PerRequest  bool    `json:"perRequest,omitempty"`
	Body        *string `json:"body,omitempty"`
}

// Files implements tool.Tool.
func (Tool) Files(cell record.Cell, target tool.Target) []tool.File {
	r := cell.Request
	t := request{
		Method: r.Verb(), URL: target.URL(r.Path), Header: map[string][]string{}, Body: []byte(r.Body),
		Loadstone: facts{
			Rate: cell.RequestsPerSecond, Seconds: cell.DurationSeconds, Connections: cell.Connections, Threads: cell.Threads,
			Status: r.Expect.Status, PerRequest: cell.Connection == record.PerRequest, Body: comparedBody(r),
		},
	}
	asked := false
	for _, h := range r.Headers {
		t.Header[h.Name] = []string{h.Value}
		asked = asked || strings.EqualFold(h.Name, acceptEncoding)
	}
	if !asked {
		t.Header[acceptEncoding] = []string{identity}
	}
	text, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("writing a request as JSON: %v", err))
	}
	return []tool.File{{Name: targetName(cell), Text: string(text) + "\n"}}
}

func targetName(cell record.Cell) string { return "vegeta-" + record.PointOf(cell).Name() + ".json" }

func recordsName(cell record.Cell) string { return "vegeta-" + record.PointOf(cell).Name() + ".gob" }

// Waits implements tool.Tool: vegeta connects at its first arrival.
func (Tool) Waits() bool { return false }

// Outputs implements tool.Tool.
func (Tool) Outputs(cell record.Cell) []string { return []string{targetName(cell), recordsName(cell)} }

// VersionArgs implements tool.Tool.
func (Tool) VersionArgs() []string { return []string{program, "-version"} }

var versionLine = regexp.MustCompile(`(?m)^Version: v?(\S+)$`)

// ParseVersion implements tool.Tool.
func (Tool) ParseVersion(raw []byte) string {
	if m := versionLine.FindSubmatch(raw); m != nil {
		return string(m[1])
	}
	return "unknown"
}

func number(n int32) string { return strconv.Itoa(int(n)) }
