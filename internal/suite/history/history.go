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

// Alpha is the probability of any change point at all in a history in which nothing has changed.
const Alpha = 0.01

// Report is the report of one run of a round.
type Report struct {
	Round int32
	// Run is the run's name in the suite.
	Run   string
	Table analysis.Table
}

// Gap is a run of a round whose values are not known.
type Gap struct {
	Round  int32  `json:"round"`
	Run    string `json:"run"`
	Reason string `json:"reason"`
}

// History is the course of all values of a suite.
type History struct {
	Suite string `json:"suite"`
	// Alpha is that of the whole history, and SeriesAlpha what of it each series has between two breaks.
	Alpha       float64  `json:"alpha"`
	SeriesAlpha float64  `json:"seriesAlpha"`
	Series      []Series `json:"series"`
	Gaps        []Gap    `json:"gaps,omitempty"`
}

// Series is the course of one metric of one implementation under one load of one run of the suite.
type Series struct {
	key
	// Needed is how many values are needed since the last break for a change to be found.
	Needed int      `json:"needed"`
	Values []Value  `json:"values"`
	Breaks []Break  `json:"breaks,omitempty"`
	Points []Change `json:"changePoints,omitempty"`
}

type key struct {
	Run            string `json:"run"`
	Implementation string `json:"implementation"`
	// Baseline is what the values are ratios to; empty of plain values.
	Baseline string         `json:"baseline,omitempty"`
	Load     string         `json:"load"`
	Metric   verdict.Metric `json:"metric"`
	// Unit is that of the values: "ratio", "requests/s" or "µs".
	Unit string `json:"unit"`
}

func (k key) compare(o key) int {
	return cmp.Or(strings.Compare(k.Run, o.Run), strings.Compare(k.Implementation, o.Implementation), strings.Compare(k.Baseline, o.Baseline),
		strings.Compare(k.Load, o.Load), strings.Compare(string(k.Metric), string(o.Metric)))
}

// Value is the value of one round, from a number of blocks.
type Value struct {
	Round   int32     `json:"round"`
	Started time.Time `json:"started"`
	Value   float64   `json:"value"`
	Blocks  int       `json:"blocks"`
	terms   terms
}

// Break is a round whose values cannot be compared with those before.
type Break struct {
	Round int32 `json:"round"`
	// Why is what differs from the round before.
	Why string `json:"why"`
	at  int
}

// Change is a change point: the round from which on the values are others.
type Change struct {
	Round int32 `json:"round"`
	inference.Point
	// Ratio is the level after over the level before; Worse says whether that is bad.
	Ratio float64 `json:"ratio"`
	Worse bool    `json:"worse"`
}

// Values are what a history needs of a report. They are small, so that who reads reports one at a time needs to hold one only.
type Values struct {
	round int32
	all   []valueOf
}

// Of is the history of a suite, from the values of its reports in any order.
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

// find looks for the change points of all series, of as many at the same time as there are CPUs.
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

// add puts a value at the end, behind a break where it rests upon something else than the one before.
func (s *Series) add(v Value) {
	if n := len(s.Values); n > 0 {
		if why := v.terms.differ(s.Values[n-1].terms); why != "" {
			s.Breaks = append(s.Breaks, Break{Round: v.Round, Why: why, at: n})
		}
	}
	s.Values = append(s.Values, v)
}

// find looks for change points between breaks.
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

// Comparable is how many of the newest values can be compared with each other.
func (s *Series) Comparable() int {
	if n := len(s.Breaks); n > 0 {
		return len(s.Values) - s.Breaks[n-1].at
	}
	return len(s.Values)
}

// Young says that there are fewer comparable rounds than a change needs; empty if there are enough.
func (s *Series) Young() string {
	if n := s.Comparable(); n < s.Needed {
		return young(n, s.Needed)
	}
	return ""
}

// Loss is a value that has become worse, and stays so.
type Loss struct {
	// Round is the first round with the worse value, and Rounds is how many rounds of its series have it.
	Round  int32
	Rounds int
	Text   string
}

// Losses are the values that have become worse, and stay so.
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

// Worse says which values have become worse within the newest rounds of their series, and stay so; empty if none has.
func (h History) Worse(within int) string {
	var all []string
	for _, l := range h.Losses() {
		if l.Rounds <= within {
			all = append(all, l.Text)
		}
	}
	return strings.Join(all, "; ")
}

// Young says how many rounds there are where no value has enough of them for a change to be found; empty if one has.
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

// young says that there are fewer rounds than a change needs.
func young(rounds, needed int) string {
	return fmt.Sprintf("not enough rounds yet: %d of %d", rounds, needed)
}

// valueOf is a value with the series to which it belongs.
type valueOf struct {
	key
	value Value
}

// Values are the values of a report: ratios, or plain ones of a run of one implementation. What the generator bounded is no value.
func (r Report) Values() Values {
	if len(r.Table.Implementations) == 1 {
		return Values{r.Round, plain(r)}
	}
	return Values{r.Round, ratios(r)}
}

// ratios are the values of a run that compares implementations, load by load.
func ratios(r Report) []valueOf {
	var out []valueOf
	for _, c := range r.Table.Comparisons {
		if c.Load == "" {
			continue // The mean over all loads has nothing that its loads do not have.
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

// plain are the values of a run that compares nothing, level by level.
func plain(r Report) []valueOf {
	var out []valueOf
	for _, g := range r.Table.Groups {
		if g.Step > 0 {
			continue // A search asks for other rates in each round.
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

// terms are digests of what a value rests upon, besides the implementation that it is of; empty where it does not matter.
type terms struct {
	baseline, load, machine string
	// contents are digests of what a run names and reads, by what it is and its name. A round that does not know one is believed.
	contents map[content]string
}

// content is the text of a ConfigMap, a body or a script.
type content struct{ what, name string }

// The contents, as a break names them.
const (
	ofConfigMap = "another content of the baseline's ConfigMap"
	ofBody      = "another body from"
	ofScript    = "another script of"
)

// termsOf are the terms of a load, and of a baseline if there is one.
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

// differ says in what two terms differ; empty if they do not.
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

// baseline is what a baseline is: the digest of its image, its CPUs and its settings.
func baseline(t analysis.Table, name string) string {
	var of planned.Implementation
	for _, i := range t.Implementations {
		if i.Name == name {
			of = i
		}
	}
	of.Baseline, of.ConfigMaps = false, nil // A round that does not know them is compared nevertheless.
	for _, f := range t.Environment {
		if f.Implementation == name && f.Key == environment.ImageID && len(f.Values) > 0 {
			of.Image = f.Values[0].Value
		}
	}
	return digest(of)
}

// load is what a load is: its levels.
func load(t analysis.Table, name string) string {
	var levels []planned.Level
	for _, l := range t.Levels {
		if l.Load == name {
			levels = append(levels, l)
		}
	}
	return digest(levels)
}

// digest is the SHA-256 of what a report was read from, which can always be written again.
func digest(v any) string {
	data, _ := json.Marshal(v)
	sum := sha256.Sum256(data)
	return string(sum[:])
}
