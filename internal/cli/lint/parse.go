package lint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/base/unwrap"
)

const (
	maxRuns = 5000
	// maxLines bounds the lines of a run that are kept. Loadstone's own output has 3,000 to 4,000.
	maxLines = 20_000
	// maxTitles is how many lines above a run may describe it; maxAbove how many are searched.
	maxTitles, maxAbove = 3, 10
	maxRefused          = 5
	quotedLine          = 120
)

// Refusal is a file or run that could not be read.
type Refusal struct {
	// File is the name given to Parse; Line is the run's first line, 0 for the whole file.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
	// Why may quote untrusted text.
	Why string `json:"why"`
}

// Place is what could not be read, as people write it.
func (r Refusal) Place() string {
	if r.Line == 0 {
		return r.File
	}
	return fmt.Sprintf("%s:%d", r.File, r.Line)
}

// form is a form of output that is read.
type form struct {
	tool string
	// begins reports whether a run begins at a line; current is the run being read, or nil.
	begins func(line string, current *run) bool
	// read makes a sample from a run's lines. rows instead takes lines one by one, without keeping them.
	read func(lines []string, s *Sample) error
	rows func() rows
}

// rows reads the lines of one run.
type rows interface {
	// add takes a line. It returns false if the run ended before it.
	add(line string) bool
	// samples completes a sample, or several.
	samples(s Sample) ([]Sample, error)
}

// forms lists all forms; the first that begins at a line reads the run.
var forms = slices.Concat(rowForms, []form{
	{tool: Bombardier, begins: starts("Bombarding "), read: readBombardier},
	{tool: Autocannon, begins: beginsAutocannon, read: readAutocannon},
	{tool: Wrk, begins: beginsWrk, read: readWrk},
	{tool: AB, begins: beginsAB, read: readAB},
	{tool: K6, begins: beginsK6, read: readK6},
	{tool: Vegeta, begins: starts("Requests      [total"), read: readVegeta},
	{tool: Hey, begins: beginsHey, read: readHey},
	{tool: H2load, begins: beginsH2load, read: readH2load},
})

func starts(prefix string) func(string, *run) bool {
	return func(line string, _ *run) bool { return strings.HasPrefix(line, prefix) }
}

// run is the part of a file that one run of a tool printed.
type run struct {
	*form
	first  int
	source string
	lines  []string
	titles []string
	// seen are the metrics of k6 that it has already.
	seen map[string]bool
	rows rows
}

func (r *run) in(tool string) bool { return r != nil && r.tool == tool }

func (r *run) has(prefix string) bool {
	return r != nil && slices.ContainsFunc(r.lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
}

// Parse finds every run of a load tool in a file. name appears in samples and refusals. A failed run is a sample with Failed set; an unreadable part
// is a refusal. At least one is returned.
func Parse(name string, in io.Reader) ([]Sample, []Refusal) {
	refuse := func(why string) []Refusal { return []Refusal{{File: name, Why: why}} }
	r, err := unwrap.New(in)
	if err != nil {
		return nil, refuse(err.Error())
	}
	head := r.Head()
	if isVegetaRecords(head) {
		s, err := readVegetaRecords(r.Raw(), Sample{File: name, Line: 1, Tool: Vegeta})
		if err != nil {
			return nil, refuse(err.Error())
		}
		return []Sample{s}, nil
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, refuse("it is binary: save the text or JSON that the tool printed")
	}
	p := parser{name: name, streams: map[string]*stream{}}
	if !anyBegins(string(head), "") {
		if common := unwrap.Common(string(head)); common != "" && anyBegins(string(head), common) {
			r.Strip(common)
		}
	}
	unread := nameUnread(string(head))
	p.readAll(r)
	if len(p.samples)+len(p.refused) == 0 {
		return nil, refuse(unread)
	}
	addNameClaims(name, p.samples)
	nameSources(p.samples)
	return p.samples, p.refused
}

// anyBegins reports whether a run begins in a text, without a common prefix of its lines.
func anyBegins(head, common string) bool {
	r, err := unwrap.New(strings.NewReader(head))
	if err != nil {
		return false
	}
	r.Strip(common)
	for {
		l, ok := r.Next()
		if !ok {
			return false
		}
		line := trimmed(l.Text)
		if slices.ContainsFunc(forms, func(f form) bool { return f.begins(line, nil) }) {
			return true
		}
	}
}

// parser finds the runs of a file. Lines of pods or containers may alternate, so each has a stream.
type parser struct {
	name    string
	streams map[string]*stream
	samples []Sample
	refused []Refusal
	more    int
}

// maxStreams bounds a file's streams; further ones are read as one.
const maxStreams = 1000

type stream struct {
	current *run
	above   []string
}

func (p *parser) readAll(r *unwrap.Reader) {
	number, runs := 0, 0
	for {
		l, ok := r.Next()
		if !ok {
			break
		}
		number = l.Number
		began := p.take(l)
		if began {
			runs++
		}
		if runs > maxRuns {
			p.refuse(l.Number, fmt.Sprintf("the file has more than %d runs: the rest is not read. Split it", maxRuns))
			break
		}
	}
	for _, source := range slices.Sorted(keysOf(p.streams)) {
		p.end(p.streams[source])
	}
	if err := r.Err(); err != nil {
		p.refuse(number, "the file cannot be read to its end: "+printed.Clip(err.Error(), quotedLine))
	}
	slices.SortStableFunc(p.samples, func(a, b Sample) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortStableFunc(p.refused, func(a, b Refusal) int { return cmp.Compare(a.Line, b.Line) })
	if p.more > 0 {
		p.refused = append(p.refused, Refusal{File: p.name, Why: fmt.Sprintf("%d more runs cannot be read", p.more)})
	}
}

// take gives a line to its stream's run. It reports whether a run begins there.
func (p *parser) take(l unwrap.Line) bool {
	st := p.streams[l.Source]
	if st == nil {
		if len(p.streams) == maxStreams {
			l.Source = ""
		}
		st = &stream{}
		p.streams[l.Source] = st
	}
	line := trimmed(l.Text)
	at := slices.IndexFunc(forms, func(f form) bool { return f.begins(line, st.current) })
	if at >= 0 {
		p.end(st)
		st.current = &run{form: &forms[at], first: l.Number, source: l.Source, titles: titles(st.above), seen: map[string]bool{}}
		if st.current.form.rows != nil {
			st.current.rows = st.current.form.rows()
		}
		st.above = st.above[:0]
	}
	if st.current != nil && !st.current.add(line) {
		p.end(st)
	}
	if at < 0 && line != "" {
		if len(st.above) == maxAbove {
			st.above = append(st.above[:0], st.above[1:]...)
		}
		st.above = append(st.above, printed.Clip(line, quotedLine*4))
	}
	return at >= 0
}

func (r *run) add(line string) bool {
	if r.rows != nil {
		return r.rows.add(line)
	}
	if isFence(line) {
		return false
	}
	if len(r.lines) < maxLines {
		r.lines = append(r.lines, printed.Clip(line, 4096))
	}
	if r.tool == K6 {
		r.note(line)
	}
	return true
}

func (p *parser) end(st *stream) {
	r := st.current
	if st.current = nil; r == nil {
		return
	}
	samples, err := r.samples(Sample{File: p.name, Line: r.first, Tool: r.tool, Stream: r.source})
	if err != nil {
		why := err.Error()
		if r.tool != anyJSON {
			why = r.tool + ": " + why
		}
		p.refuse(r.first, why)
	}
	for i := range samples {
		s := &samples[i]
		s.Warmup = slices.ContainsFunc(r.titles, warmup.MatchString)
		if len(r.titles) > 0 {
			s.Title = printed.Clip(r.titles[0], quotedLine)
		}
		s.Command = command(r.titles)
		s.finish()
		s.Claims = claims(*s, r.titles)
	}
	p.samples = append(p.samples, samples...)
}

func (r *run) samples(s Sample) ([]Sample, error) {
	if r.rows != nil {
		return r.rows.samples(s)
	}
	err := r.read(r.lines, &s)
	if at := slices.IndexFunc(r.lines, decimalComma.MatchString); at >= 0 && (err != nil || s.Failed != "") {
		return nil, fmt.Errorf("%q has a decimal comma: run the tool with LC_ALL=C, or replace the commas by points", printed.Clip(r.lines[at], quotedLine))
	}
	if err != nil {
		return nil, err
	}
	return []Sample{s}, nil
}

// decimalComma matches lines such as "Requests/sec: 41152,20". Commas between values have a space behind them.
var decimalComma = regexp.MustCompile(`(?:^|[\s:])\d+,\d{1,3}(?:[a-zA-Zµ%]{0,4})(?:\s|$|,\s)`)

func (p *parser) refuse(line int, why string) {
	if len(p.refused) == maxRefused {
		p.more++
		return
	}
	p.refused = append(p.refused, Refusal{File: p.name, Line: line, Why: why})
}

func trimmed(line string) string {
	return strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), ">"))
}

var (
	warmup = regexp.MustCompile(`(?i)\b(warm-?ups?|warming|primer)\b`)
	// separator lines say nothing.
	separator = regexp.MustCompile("^(```.*|~~~.*|[-=*_#/\\\\|(~). ‾]+)$")
	// furniture is progress, and the end of earlier output: neither it nor lines above it are titles.
	furniture = regexp.MustCompile(`^(\[\d+\]\s.*|(Requests|Transfer)/sec:.*|\d+(\.\d+)?% .*|Non-2xx .*|Socket errors: .*|Throughput: .*|│.*|└.*|Error Set:.*|` +
		`loadstone .*|running \(.*|\S+ +[✓✗↓] \[.*|time=".*|data_(sent|received)\.*: .*|/\\ .*|/ .*)$`)
)

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// titles are lines that may describe the following run, nearest first.
func titles(above []string) []string {
	var out []string
	for _, line := range slices.Backward(above) {
		switch {
		case separator.MatchString(line):
			continue
		case furniture.MatchString(line) || len(out) == maxTitles:
			return out
		}
		out = append(out, line)
	}
	return out
}

func errEnds(what string) error {
	return errors.New("the output ends before " + what + ": it was cut off, or the tool was stopped")
}
