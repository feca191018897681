package history

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Alpha is the probability of any change point in a history without changes.
const Alpha = 0.01

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
	// Alpha covers the whole history, SeriesAlpha each series between two breaks.
	Alpha       float64  `json:"alpha"`
	SeriesAlpha float64  `json:"seriesAlpha"`
	Series      []Series `json:"series"`
	Gaps        []Gap    `json:"gaps,omitempty"`
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
	terms   terms
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
	inference.Point
	// Ratio is the level after over the level before; Worse says whether that is bad.
	Ratio float64 `json:"ratio"`
	Worse bool    `json:"worse"`
}

// Values are a report's part of a history. They are small, so a caller can hold one report at a time.
type Values struct {
	round int32
	all   []valueOf
}

// Of returns the history of a suite, from its reports' values in any order.
func Of(suite string, reports []Values, gaps []Gap) History {
	h := History{Suite: suite, Alpha: Alpha, SeriesAlpha: Alpha, Series: []Series{}, Gaps: slices.Clone(gaps)}
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
	parts := 0
	for _, s := range h.Series {
		parts += len(s.Breaks) + 1
	}
	h.SeriesAlpha /= float64(max(parts, 1))
	h.find()
	return h
}

// find searches the change points of all series, on all CPUs.
func (h *History) find() {
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i := range h.Series {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			h.Series[i].find(h.SeriesAlpha)
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
	}
	s.Values = append(s.Values, v)
}

func (s *Series) find(alpha float64) {
	s.Needed = inference.Fewest(alpha)
	from := 0
	for i := range len(s.Breaks) + 1 {
		to := len(s.Values)
		if i < len(s.Breaks) {
			to = s.Breaks[i].at
		}
		var values []float64
		for _, v := range s.Values[from:to] {
			values = append(values, v.Value)
		}
		for _, p := range inference.Find(values, alpha) {
			p.At += from
			c := Change{Round: s.Values[p.At].Round, Point: p, Ratio: p.After / p.Before}
			c.Worse = c.Ratio < 1 == s.Metric.MoreIsBetter()
			s.Points = append(s.Points, c)
		}
		from = to
	}
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
	// Round is the first worse round, Rounds how many rounds of the series are worse.
	Round  int32
	Rounds int
	Text   string
}

// Losses returns the values that became worse and stayed so.
func (h History) Losses() []Loss {
	var all []Loss
	for _, s := range h.Series {
		if len(s.Points) == 0 {
			continue
		}
		if c := s.Points[len(s.Points)-1]; c.Worse {
			text := fmt.Sprintf("%s, %s of %s under %s: %s", s.Run, phrase.English.Metric(s.Metric), s.Measured(), s.Load, s.Say(c))
			all = append(all, Loss{Round: c.Round, Rounds: len(s.Values) - c.At, Text: text})
		}
	}
	return all
}

// Worse says which values became worse within the newest rounds and stayed so; empty if none.
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
			if o.Ratio == nil || *o.Ratio <= 0 || o.ContenderIsBound || o.BaselineIsBound {
				continue
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
	return valueOf{k, Value{Round: r.Round, Started: r.Table.Run.Started, Value: value, Blocks: blocks, terms: t}}
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
	var of planned.Implementation
	for _, i := range t.Implementations {
		if i.Name == name {
			of = i
		}
	}
	of.Baseline, of.ConfigMaps = false, nil // A round that does not know them is still compared.
	for _, f := range t.Environment {
		if f.Implementation == name && f.Key == environment.ImageID && len(f.Values) > 0 {
			of.Image = f.Values[0].Value
		}
	}
	return digest(of)
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
