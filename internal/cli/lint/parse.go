package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/tool/ab"
	"loadstone.dev/loadstone/internal/tool/k6"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

// A file's text is cut into runs at the lines with which tools begin.
var (
	escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// furniture is what stands around output and is no title: the end of the output before, progress, fences of Markdown.
	furniture = regexp.MustCompile("^(```.*|~~~.*|[-=*_#/\\\\|(~). ‾]+|(Requests|Transfer)/sec:.*|\\d+(\\.\\d+)?% .*|Non-2xx .*|Socket errors: .*|" +
		"loadstone .*|running \\(.*|\\S+ +[✓✗↓] \\[.*|time=\".*|data_(sent|received)\\.*: .*|/\\\\ .*|/ .*)$")
)

// chunk is the part of a file that one run printed.
type chunk struct {
	tool  string
	first int
	lines []string
	// titles are the lines above it, the nearest first.
	titles []string
	// seen are the metrics of k6 that it has already.
	seen map[string]bool
}

// Parse finds every run in the text of a file. Name is what people call the file, and appears in samples and errors. A run whose
// tool gave up is a sample with Failed set; an error means that the text holds no run, or one that cannot be read.
func Parse(name string, text []byte) ([]Sample, error) {
	clean := strings.ToValidUTF8(escapes.ReplaceAllString(string(text), ""), "?")
	if strings.HasPrefix(strings.TrimSpace(clean), "{") {
		samples, err := parseJSON(name, clean)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		return samples, nil
	}
	chunks := split(clean)
	if len(chunks) == 0 {
		return nil, fmt.Errorf("reading %s: it holds no output that is known; expected that of wrk (\"Running 10s test @ URL\"), of ab (\"This is ApacheBench\"), "+
			"the summary that k6 prints at its end (\"http_reqs...: 12345 411.2/s\"), or the JSON of k6's --summary-export or handleSummary", name)
	}
	var out []Sample
	for _, c := range chunks {
		s := Sample{File: name, Line: c.first, Tool: c.tool}
		if len(c.titles) > 0 {
			s.Title = printed.Clip(c.titles[0], 120)
		}
		if err := c.read(&s); err != nil {
			return nil, fmt.Errorf("reading %s: the run of %s that begins in line %d: %w", name, c.tool, c.first, err)
		}
		s.finish()
		s.Claims = claims(s, c.titles)
		out = append(out, s)
	}
	addNameClaims(name, out)
	return out, nil
}

func (c chunk) read(s *Sample) error {
	switch c.tool {
	case Wrk:
		return readWrk(c.lines, s)
	case AB:
		return readAB(c.lines, s)
	}
	return readK6(c.lines, s)
}

// split cuts text into chunks.
func split(text string) []chunk {
	var (
		out    []chunk
		lines  = strings.Split(text, "\n")
		titles []string
	)
	for i, line := range lines {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), ">"))
		var current *chunk
		if len(out) > 0 {
			current = &out[len(out)-1]
		}
		if tool := begins(line, current); tool != "" {
			out = append(out, chunk{tool: tool, first: i + 1, titles: titles, seen: map[string]bool{}})
			current = &out[len(out)-1]
		}
		if current != nil {
			current.lines = append(current.lines, line)
			if metric, ok := k6.Metric(line); ok {
				current.seen[metric] = true
			}
		}
		titles = withTitle(titles, line, current != nil && len(current.lines) == 1)
	}
	return out
}

// maxTitles is how many lines above an output may say what it is.
const maxTitles = 3

// withTitle adds a line that may be the title of the next run, the nearest first.
func withTitle(titles []string, line string, begun bool) []string {
	switch {
	case begun:
		return nil
	case line == "":
		return titles
	case furniture.MatchString(line):
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			return titles
		}
		return nil
	}
	titles = append([]string{line}, titles...)
	return titles[:min(len(titles), maxTitles)]
}

// begins returns which tool's run begins with a line, after what the current chunk holds already.
func begins(line string, current *chunk) string {
	in := func(tool string) bool { return current != nil && current.tool == tool }
	switch {
	case wrk.Begins(line):
		return Wrk
	case ab.Begins(line):
		return AB
	case ab.BeginsResult(line) && (!in(AB) || slices.ContainsFunc(current.lines, ab.BeginsResult)):
		return AB
	case k6.Begins(line):
		return K6
	case k6.BeginsPart(line) && (!in(K6) || len(current.seen) > 0):
		return K6
	}
	if metric, ok := k6.Metric(line); ok && (!in(K6) || current.seen[metric] || current.over(metric)) {
		return K6
	}
	return ""
}

// over says that a metric begins another summary, although this one does not have it: checks come first, and one may have none.
func (c *chunk) over(metric string) bool {
	return metric == "checks" && (c.seen["http_reqs"] || c.seen["iterations"])
}
