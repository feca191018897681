package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/hack/figures"
)

// marked is a part of a page that is generated from the records:
//
//	<!-- = table -->...<!-- . -->                         all figures
//	<!-- = measurements -->...<!-- . -->                  what they are of
//	<!-- = coro-switch -->...<!-- . -->                   a figure with its interval and aim
//	<!-- = coro-switch %.1f -->...<!-- . -->              its value
//	<!-- = coro-switch interval %.1f -->...<!-- . -->     its interval
//	<!-- = coro/boost/switch/Time %.1f -->...<!-- . -->   the geometric mean of what an implementation of a run printed of a case
var marked = regexp.MustCompile(`(<!-- = ([^\n]+?) -->)(?s:.*?)(<!-- \. -->)`)

// shortSection lists all figures with an aim that are short or not told. It may list those that are stale, and no others. All decimal numbers there come from the records.
const shortSection = "\n## Missed aims"

var (
	bold    = regexp.MustCompile(`\*\*([a-z0-9-]+)\*\*`)
	decimal = regexp.MustCompile(`\d+\.\d+`)
)

type page struct {
	rows         []row
	all          map[string]*results
	stale        map[string]string
	measurements []measurement
}

type row struct {
	figures.Figure
	run string
	// stale: the run measured other sources or another spec than those of the checkout.
	stale bool
}

func pageOf(list []comparison, all map[string]*results, stale map[string]string) page {
	p := page{all: all, stale: stale, measurements: measurements(all)}
	for _, c := range list {
		p.rows = append(p.rows, row{c.figure(all[c.run()]), c.run(), stale[c.run()] != ""})
	}
	return p
}

// render generates a page again. Findings are statements that the records do not support.
func (p page) render(text string) (made string, findings []string) {
	made = marked.ReplaceAllStringFunc(text, func(place string) string {
		part := marked.FindStringSubmatch(place)
		says, err := p.says(part[2])
		if err != nil {
			findings = append(findings, err.Error())
			return place
		}
		return part[1] + says + part[3]
	})
	return made, append(findings, p.check(made)...)
}

func (p page) says(what string) (string, error) {
	switch what {
	case "table":
		return "\n\n" + p.table() + "\n", nil
	case "measurements":
		return "\n\n" + tell(p.measurements) + p.tellStale() + "\n\n", nil
	}
	name, format := what, ""
	if i := strings.LastIndex(what, " %"); i >= 0 {
		name, format = what[:i], what[i+1:]
	}
	name, interval := strings.CutSuffix(name, " interval")
	r, err := p.find(name)
	switch {
	case err != nil:
		return "", err
	case r.Missing != "":
		return r.verdict(), nil
	case format == "" && interval, interval && r.Interval == (figures.Interval{}):
		return "", fmt.Errorf("the place %q asks for an interval, and has no format such as %%.2f, or %s has none", what, name)
	case format == "":
		return whole(r), nil
	}
	text := fmt.Sprintf(format, r.Value)
	if interval {
		text = fmt.Sprintf(format+" to "+format, r.Interval.Low, r.Interval.High)
	}
	if strings.Contains(text, "%!") {
		return "", fmt.Errorf("the place %q makes %s: its format is to be one of a number, such as %%.2f", what, text)
	}
	if r.stale {
		text += " (stale)"
	}
	return text, nil
}

func whole(r row) string {
	text := fmt.Sprintf("%.4g (%s)", r.Value, told(r.Figure))
	if r.Aim != (figures.Aim{}) {
		text += ", aim " + aim(r.Figure)
	}
	if r.stale {
		text += ", stale"
	}
	return text
}

// tellStale names the runs that are stale, and what differs.
func (p page) tellStale() string {
	if len(p.stale) == 0 {
		return ""
	}
	var list []string
	for _, run := range slices.Sorted(maps.Keys(p.stale)) {
		list = append(list, fmt.Sprintf("- `%s`: %s", run, p.stale[run]))
	}
	return fmt.Sprintf("\n\nStale: %d of %d runs, because these paths have changed since:\n\n%s", len(list), len(p.all), strings.Join(list, "\n"))
}

func (p page) find(name string) (row, error) {
	i := slices.IndexFunc(p.rows, func(r row) bool { return r.Name == name })
	if i >= 0 {
		return p.rows[i], nil
	}
	part := strings.Split(name, "/")
	if len(part) != 4 || p.all[part[0]] == nil {
		return row{}, fmt.Errorf("%q is no figure of the table, and no RUN/IMPLEMENTATION/CASE/METRIC", name)
	}
	mean := theMean
	if p.all[part[0]].head.Blocks == 1 {
		mean = theHighest // One number is its own, and may be 0.
	}
	of := source{run: part[0], implementation: part[1], test: part[2], metric: part[3]}
	f := comparison{name: name, over: []source{of}, take: mean}.figure(p.all[part[0]])
	if f.Missing != "" && !unanswerable(f) && p.all[part[0]].missing == "" {
		return row{}, fmt.Errorf("%q is not in the record: %s", name, f.Missing)
	}
	return row{f, part[0], p.stale[part[0]] != ""}, nil
}

// table prints all figures. With several measurements, the last column has the number of the measurement.
func (p page) table() string {
	var b strings.Builder
	head, line := "| figure | value | unit | aim | reached | 99 % interval of one session, n |", "|---|---|---|---|---|---|"
	several := len(p.measurements) > 1
	if several {
		head, line = head+" of |", line+"---|"
	}
	b.WriteString(head + "\n" + line + "\n")
	for _, r := range p.rows {
		value := fmt.Sprintf("%.4g", r.Value)
		if r.Missing != "" {
			value = "-"
		}
		said := r.verdict()
		if said == short {
			said = "**" + short + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |", r.Name, value, r.Unit, aim(r.Figure), said, told(r.Figure))
		if several {
			fmt.Fprintf(&b, " %s |", p.of(r.run))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (p page) of(run string) string {
	for i, m := range p.measurements {
		if m.of(run) {
			return fmt.Sprint(i + 1)
		}
	}
	return "-"
}

// A page must mention figures with an aim and the first two verdicts. It may mention those with the others.
const (
	short       = "short"
	notTold     = "not told"
	notMeasured = "not measured"
	outdated    = "stale"
)

// verdict is notTold if the run could not answer the question, and otherwise outdated if the run is stale.
func (r row) verdict() string {
	switch {
	case unanswerable(r.Figure):
		return notTold
	case r.stale && r.Missing == "":
		return outdated
	}
	return r.Verdict()
}

func aim(f figures.Figure) string {
	return strings.NewReplacer(" (bound)", "", "<=", "≤ ", ">=", "≥ ").Replace(f.Aim.String())
}

// told prints the interval or range of a figure and the number of values, or why there are none.
func told(f figures.Figure) string {
	if f.Missing != "" {
		return f.Missing
	}
	n, spread, _ := strings.Cut(f.Note, ", ")
	n = strings.Replace(n, "n=", "n = ", 1)
	switch {
	case f.Interval != (figures.Interval{}):
		return fmt.Sprintf("%.4g to %.4g; %s", f.Interval.Low, f.Interval.High, n)
	case spread != "":
		return "range " + spread + "; " + n
	}
	return n
}

// check compares a page's own statements about short figures with the records. A page without such statements passes.
func (p page) check(text string) (findings []string) {
	_, section, ok := strings.Cut(text, shortSection)
	if !ok {
		return nil
	}
	section, _, _ = strings.Cut(section, "\n## ")
	complain := func(format string, args ...any) {
		findings = append(findings, fmt.Sprintf("%q ", strings.TrimSpace(shortSection))+fmt.Sprintf(format, args...))
	}
	names := map[string]bool{}
	for _, m := range bold.FindAllStringSubmatch(section, -1) {
		names[m[1]] = false
	}
	for _, r := range p.rows {
		said := r.verdict()
		if said == "met" {
			continue
		}
		named := said == notMeasured || said == outdated || r.Aim == (figures.Aim{})
		for name := range names {
			if r.Name == name || strings.HasPrefix(r.Name, name+"-") {
				named, names[name] = true, true
			}
		}
		if !named {
			complain("has no word on **%s**, which is %s", r.Name, said)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] {
			complain("names **%s**, but it has no figure, or all are met", name)
		}
	}
	for _, number := range decimal.FindAllString(marked.ReplaceAllString(section, ""), -1) {
		complain("has an unmarked number, %s: mark its figure, or move the number", number)
	}
	return findings
}
