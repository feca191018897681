package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/stats/inference"
)

const (
	// Odds are the odds of the Monitor for a suite with one series. Several series need as many times more, so a
	// whole suite has as few false changes as one series.
	Odds = 8000
	// repaired is how many newest rounds near the old level end a loss.
	repaired = 3
)

// Report is the report of one run of a round.
type Report struct {
	Round int32
	// Run is the run's name in the suite.
	Run   string
	Table analysis.Table
}

// Gap is a run of a round without known values.
type Gap struct {
	Round  int32  `json:"round"`
	Run    string `json:"run"`
	Reason string `json:"reason"`
}

// History is the course of all values of a suite.
type History struct {
	Suite string `json:"suite"`
	// MinimumEffect is the smallest change that is found, as a share; Odds are those that each series needs.
	MinimumEffect float64  `json:"minimumEffect"`
	Odds          float64  `json:"odds"`
	Series        []Series `json:"series"`
	Gaps          []Gap    `json:"gaps,omitempty"`
}

// Series is one metric of one implementation under one load of one run.
type Series struct {
	key
	// Needed is how many values since the last break allow a change to be found.
	Needed int      `json:"needed"`
	Values []Value  `json:"values"`
	Breaks []Break  `json:"breaks,omitempty"`
	Points []Change `json:"changePoints,omitempty"`
}

type key struct {
	Run            string `json:"run"`
	Implementation string `json:"implementation"`
	// Baseline is the denominator; empty for plain values.
	Baseline string         `json:"baseline,omitempty"`
	Load     string         `json:"load"`
	Metric   verdict.Metric `json:"metric"`
	// Unit is "ratio", "requests/s" or "µs".
	Unit string `json:"unit"`
}

func (k key) compare(o key) int {
	return cmp.Or(strings.Compare(k.Run, o.Run), strings.Compare(k.Implementation, o.Implementation), strings.Compare(k.Baseline, o.Baseline),
		strings.Compare(k.Load, o.Load), strings.Compare(string(k.Metric), string(o.Metric)))
}

// Value is the value of one round.
type Value struct {
	Round   int32     `json:"round"`
	Started time.Time `json:"started"`
	Value   float64   `json:"value"`
	Blocks  int       `json:"blocks"`
	// Repeated: the round measured the same inputs as the round before.
	Repeated bool `json:"repeated,omitempty"`
	inputs   string
	terms    terms
}

// Break is a round whose values cannot be compared with earlier ones.
type Break struct {
	Round int32 `json:"round"`
	// Why is the difference from the round before.
	Why string `json:"why"`
	at  int
}

// Change is a change point: the first round with different values.
type Change struct {
	Round int32 `json:"round"`
	// At is the index of the first value of the new level.
	At int `json:"at"`
	// Before and After are the medians of the two levels, each as far as the neighboring point; BeforeN and AfterN
	// are their numbers of values.
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
	BeforeN int     `json:"beforeN"`
	AfterN  int     `json:"afterN"`
	// Found is the round that confirmed the change.
	Found int32 `json:"found"`
	// Ratio is the level after over the level before; Worse says whether that is bad.
	Ratio float64 `json:"ratio"`
	Worse bool    `json:"worse"`
	// found is the index of that round; halfway is between the two levels as they were then.
	found   int
	halfway float64
}

// Values are a report's part of a history. They are small, so a caller can hold one report at a time.
type Values struct {
	round int32
	all   []valueOf
}

// Of returns the history of a suite, from its reports' values in any order. The smallest change of interest is a
// share above 0.
func Of(suite string, minimumEffect float64, reports []Values, gaps []Gap) History {
	h := History{Suite: suite, MinimumEffect: minimumEffect, Series: []Series{}, Gaps: slices.Clone(gaps)}
	reports = slices.Clone(reports)
	slices.SortStableFunc(reports, func(a, b Values) int { return cmp.Compare(a.round, b.round) })
	slices.SortFunc(h.Gaps, func(a, b Gap) int { return cmp.Or(cmp.Compare(a.Round, b.Round), strings.Compare(a.Run, b.Run)) })
	for _, r := range reports {
		for _, o := range r.all {
			i := slices.IndexFunc(h.Series, func(s Series) bool { return s.key == o.key })
			if i < 0 {
				i = len(h.Series)
				h.Series = append(h.Series, Series{key: o.key})
			}
			h.Series[i].add(o.value)
		}
	}
	slices.SortFunc(h.Series, func(a, b Series) int { return a.compare(b.key) })
	h.Odds = Odds * float64(max(len(h.Series), 1))
	h.find()
	return h
}

// find searches the change points of all series, on all CPUs.
func (h *History) find() {
	m := inference.Monitor{Odds: h.Odds, Least: math.Log1p(h.MinimumEffect)}
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i := range h.Series {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			h.Series[i].find(m)
		})
	}
	all.Wait()
}

// add appends a value, after a break if its basis changed.
func (s *Series) add(v Value) {
	if n := len(s.Values); n > 0 {
		if why := v.terms.differ(s.Values[n-1].terms); why != "" {
			s.Breaks = append(s.Breaks, Break{Round: v.Round, Why: why, at: n})
		}
		v.Repeated = v.inputs != "" && v.inputs == s.Values[n-1].inputs
	}
	s.Values = append(s.Values, v)
}

func (s *Series) find(m inference.Monitor) {
	s.Needed = inference.LeastRounds
	from := 0
	for i := range len(s.Breaks) + 1 {
		to := len(s.Values)
		if i < len(s.Breaks) {
			to = s.Breaks[i].at
		}
		var readings []inference.Reading
		for _, v := range s.Values[from:to] {
			readings = append(readings, inference.Reading{Log: math.Log(v.Value), Repeated: v.Repeated})
		}
		found := m.Find(readings)
		for k, c := range found {
			before, after := 0, len(readings)
			if k > 0 {
				before = found[k-1].At
			}
			if k+1 < len(found) {
				after = found[k+1].At
			}
			s.Points = append(s.Points, s.change(readings, c, before, after, from))
		}
		from = to
	}
}

func (s *Series) change(readings []inference.Reading, found inference.Change, before, after, start int) Change {
	low, high := inference.Middle(readings[before:found.At]), inference.Middle(readings[found.At:after])
	c := Change{
		Round: s.Values[start+found.At].Round, At: start + found.At, Found: s.Values[start+found.Found].Round, found: start + found.Found,
		Before: math.Exp(low), BeforeN: found.At - before, After: math.Exp(high), AfterN: after - found.At, Ratio: math.Exp(high - low),
		halfway: math.Exp((low + inference.Middle(readings[found.At:found.Found+1])) / 2),
	}
	c.Worse = c.Ratio < 1 == s.Metric.MoreIsBetter()
	return c
}

func (s *Series) repaired(c Change) bool {
	if len(s.Values)-1-c.found < repaired {
		return false
	}
	for _, v := range s.Values[len(s.Values)-repaired:] {
		if v.Value < c.halfway != (c.Before < c.halfway) {
			return false
		}
	}
	return true
}

// Comparable returns how many of the newest values share a basis.
func (s *Series) Comparable() int {
	if n := len(s.Breaks); n > 0 {
		return len(s.Values) - s.Breaks[n-1].at
	}
	return len(s.Values)
}

// Young says that there are too few comparable rounds for a change; empty if there are enough.
func (s *Series) Young() string {
	if n := s.Comparable(); n < s.Needed {
		return young(n, s.Needed)
	}
	return ""
}

// Loss is a value that became worse and stayed so.
type Loss struct {
	// Round is the first worse round, Rounds how many rounds of the series there are since the change was found, with
	// that one.
	Round  int32
	Rounds int
	Text   string
}

// Losses returns the values that became worse and stayed so.
func (h History) Losses() []Loss {
	var all []Loss
	for _, s := range h.Series {
		if c := s.loss(); c != nil {
			text := fmt.Sprintf("%s, %s of %s under %s: %s", s.Run, phrase.English.Metric(s.Metric), s.Measured(), s.Load, s.Say(*c))
			all = append(all, Loss{Round: c.Round, Rounds: len(s.Values) - c.found, Text: text})
		}
	}
	return all
}

// loss returns the newest change for the worse that no later round has repaired, among the rounds that share a basis; nil if there is none. A
// small change for the better afterwards repairs nothing.
func (s *Series) loss() *Change {
	since := len(s.Values) - s.Comparable()
	for i := len(s.Points) - 1; i >= 0 && s.Points[i].At >= since; i-- {
		if c := &s.Points[i]; c.Worse && !s.repaired(*c) {
			return c
		}
	}
	return nil
}

// Worse says which values were found to be worse within the newest rounds and stayed so; empty if none.
func (h History) Worse(within int) string {
	var all []string
	for _, l := range h.Losses() {
		if l.Rounds <= within {
			all = append(all, l.Text)
		}
	}
	return strings.Join(all, "; ")
}

// Young says how many rounds there are if no value has enough for a change; empty if one has.
func (h History) Young() string {
	if len(h.Series) == 0 {
		return "no round has a value"
	}
	most := 0
	for _, s := range h.Series {
		if s.Comparable() >= s.Needed {
			return ""
		}
		most = max(most, s.Comparable())
	}
	return young(most, h.Series[0].Needed)
}

func young(rounds, needed int) string {
	return fmt.Sprintf("not enough rounds yet: %d of %d", rounds, needed)
}

// Worth says how reliable change points are; empty without values.
func (h History) Worth() string {
	if len(h.Series) == 0 {
		return ""
	}
	return fmt.Sprintf("Changes below %s are not shown. False changes are rare: in simulations with up to moderately correlated noise, at most 2 of 100 unchanged suites showed one within 200 rounds.",
		format.PlainPercent(h.MinimumEffect))
}

type valueOf struct {
	key
	value Value
}

// Values returns a report's values: ratios, or plain ones if there is one implementation. Values that the generator
// bounded are left out.
func (r Report) Values() Values {
	if len(r.Table.Implementations) == 1 {
		return Values{r.Round, plain(r)}
	}
	return Values{r.Round, ratios(r)}
}

func ratios(r Report) []valueOf {
	var out []valueOf
	for _, c := range r.Table.Comparisons {
		if c.Load == "" {
			continue // The mean over all loads adds nothing to its loads.
		}
		for _, o := range c.Overall {
			if o.Ratio == nil || *o.Ratio <= 0 || o.ContenderIsBound || o.BaselineIsBound || o.ClosedLoop {
				continue // A bound, or a latency that hides pauses: neither gets better or worse.
			}
			k := key{r.Run, c.Implementation, c.Baseline, c.Load, o.Metric, "ratio"}
			out = append(out, r.value(k, *o.Ratio, o.Blocks, termsOf(r.Table, c.Baseline, c.Load)))
		}
	}
	return out
}

func plain(r Report) []valueOf {
	var out []valueOf
	for _, g := range r.Table.Groups {
		if g.Step > 0 {
			continue // A search tries other rates in each round.
		}
		t := termsOf(r.Table, "", g.Load)
		t.machine = r.Table.Fingerprint
		k := key{r.Run, g.Implementation, "", g.Name(), verdict.Throughput, "requests/s"}
		if s := g.Throughput; s != nil && s.Mean > 0 && !g.ThroughputIsBound && g.RequestsPerSecond == 0 {
			out = append(out, r.value(k, s.Mean, s.N, t))
		}
		k.Metric, k.Unit = verdict.CPUPerRequest, "µs"
		if s := g.CPUPerRequest; s != nil && s.Mean > 0 {
			out = append(out, r.value(k, s.Mean, s.N, t))
		}
	}
	return out
}

func (r Report) value(k key, value float64, blocks int, t terms) valueOf {
	return valueOf{k, Value{Round: r.Round, Started: r.Table.Run.Started, Value: value, Blocks: blocks, terms: t, inputs: inputs(r.Table, k.Implementation)}}
}

// terms are digests of a value's basis, besides its implementation; empty if irrelevant.
type terms struct {
	baseline, load, machine string
	// contents are digests of what a run reads, by kind and name. An unknown one counts as equal.
	contents map[content]string
}

type content struct{ what, name string }

// The contents, as a break names them.
const (
	ofConfigMap = "another content of the baseline's ConfigMap"
	ofBody      = "another body from"
	ofScript    = "another script of"
)

func termsOf(t analysis.Table, of, name string) terms {
	out := terms{load: load(t, name), contents: map[content]string{}}
	if of != "" {
		out.baseline = baseline(t, of)
	}
	for _, i := range t.Implementations {
		for _, c := range i.ConfigMaps {
			if i.Name == of {
				out.contents[content{ofConfigMap, strings.Join(append([]string{c.Name}, c.Keys...), "/")}] = c.SHA256
			}
		}
	}
	for _, r := range t.Requests {
		if r.Load == name && r.From != "" {
			out.contents[content{ofBody, r.From}] = r.BodySHA256
		}
	}
	for _, a := range t.Artifacts {
		if a.Trial == "" && a.Name == "scripts/"+name {
			out.contents[content{ofScript, name}] = a.SHA256
		}
	}
	return out
}

func (t terms) differ(from terms) string {
	var what []string
	if t.baseline != from.baseline {
		what = append(what, "another baseline")
	}
	if t.load != from.load {
		what = append(what, "other levels of the load")
	}
	if t.machine != from.machine {
		what = append(what, "another machine")
	}
	var texts []string
	for c, is := range t.contents {
		if was := from.contents[c]; was != is && was != "" && is != "" {
			texts = append(texts, c.what+" "+c.name)
		}
	}
	slices.Sort(texts)
	what = append(what, texts...)
	return strings.Join(what, ", ")
}

// baseline is the digest of a baseline's image, CPUs and settings.
func baseline(t analysis.Table, name string) string {
	of, _ := measured(t, name)
	of.Baseline, of.ConfigMaps = false, nil // A round that does not know them is still compared.
	return digest(of)
}

func inputs(t analysis.Table, name string) string {
	of, known := measured(t, name)
	if !known {
		return ""
	}
	return digest(of)
}

func measured(t analysis.Table, name string) (of planned.Implementation, known bool) {
	for _, i := range t.Implementations {
		if i.Name == name {
			of = i
		}
	}
	for _, f := range t.Environment {
		if f.Implementation == name && f.Key == environment.ImageID && len(f.Values) > 0 {
			of.Image, known = f.Values[0].Value, true
		}
	}
	return of, known
}

func load(t analysis.Table, name string) string {
	var levels []planned.Level
	for _, l := range t.Levels {
		if l.Load == name {
			levels = append(levels, l)
		}
	}
	return digest(levels)
}

func digest(v any) string {
	data, _ := json.Marshal(v)
	sum := sha256.Sum256(data)
	return string(sum[:])
}
