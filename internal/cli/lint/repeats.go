package lint

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Repeats are the samples of one tool, threads, connections, address and source, without void ones and duplicates.
type Repeats struct {
	Tool string `json:"tool"`
	URL  string `json:"url,omitempty"`
	// Source is the files' name without digits: two servers are often loaded at one address.
	Source      string `json:"source"`
	Threads     int64  `json:"threads,omitempty"`
	Connections int64  `json:"connections,omitempty"`
	// PerSecond is the requested arrival rate; 0 if closed or unknown.
	PerSecond float64 `json:"perSecond,omitempty"`
	Samples   []int   `json:"samples"`
	// Runs counts runs; a distributed test is one.
	Runs int `json:"runs"`
	// Throughput in requests per second.
	Mean  float64 `json:"mean"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	// CV is the coefficient of variation, standard deviation (n - 1) / mean; nil for one sample.
	CV *float64 `json:"cv,omitempty"`
}

func (all set) repeats() []Repeats {
	out := []Repeats{}
	type key struct {
		load
		source
	}
	at := map[key]int{}
	var values [][]float64
	for _, u := range all.units() {
		s := &all.samples[u.samples[0]]
		r := Repeats{Tool: s.Tool, URL: s.URL, Source: s.Source(), Threads: s.Threads, Connections: u.connections, PerSecond: s.Rate()}
		k := key{r.load(), r.source()}
		i, known := at[k]
		if !known {
			i, at[k] = len(out), len(out)
			out, values = append(out, r), append(values, nil)
		}
		out[i].Samples = append(out[i].Samples, u.samples...)
		values[i] = append(values[i], u.perSecond)
	}
	for i := range out {
		out[i].describe(values[i])
	}
	return out
}

func (r *Repeats) describe(values []float64) {
	mean, sd := inference.Moments(values)
	r.Runs, r.Mean, r.Least, r.Most = len(values), mean, slices.Min(values), slices.Max(values)
	if len(values) > 1 {
		cv := sd / mean
		r.CV = &cv
	}
}

// twins finds for each sample the first one that prints the same; -1 if none. With a second or more, that is one run counted twice.
func twins(samples []Sample) []int {
	type face struct {
		tool, url, stream              string
		threads, connections, requests int64
		throughput, mean, most         printed.Quantity
	}
	out := make([]int, len(samples))
	first := map[face]int{}
	for i := range samples {
		s := &samples[i]
		out[i] = -1
		if !s.Counted() || len(s.Latency) == 0 {
			continue
		}
		f := face{s.Tool, s.URL, s.Stream, s.Threads, s.Connections, s.Requests, s.Throughput, printed.OrZero(s.Mean()), printed.OrZero(s.Most())}
		if at, known := first[f]; known {
			out[i] = at
		} else {
			first[f] = i
		}
	}
	return out
}

func checkDuplicates(all set) []Finding {
	var out []Finding
	for i, j := range all.twin {
		if j >= 0 {
			out = append(out, Finding{
				Code: Duplicate, Weight: validity.Suspect, Scope: ScopeComparison, Samples: []int{j, i},
				Sentence: "Both are identical to the last digit: they are one run.", Fix: "It is counted once. Give each run a separate file.",
			})
		}
	}
	return out
}

func checkRepeats(all set) []Finding {
	var out []Finding
	var single, few []int
	groups := all.repeats()
	for _, r := range groups {
		streams := all.streams(r)
		switch n := r.Runs; {
		case n == 1:
			single = append(single, r.Samples...)
		case streams > 1:
			out = append(out, all.partsOrRepeats(r, streams))
		case n < enoughRepeats:
			few = append(few, r.Samples...)
		}
		if r.CV == nil || *r.CV <= spreadSuspect {
			out = append(out, all.unevenLatency(r)...)
			continue
		}
		out = append(out, Finding{
			Code: Spread, Weight: validity.Suspect, Scope: ScopeComparison, Samples: r.Samples, Value: *r.CV, Limit: spreadSuspect,
			Sentence: fmt.Sprintf("The %d repeats on %s vary by %s (coefficient of variation), from %s to %s requests per second.",
				r.Runs, plural(r.Connections, "connection"), percent(*r.CV), number(r.Least), number(r.Most)),
			Fix: "Look for other programs, pin server and generator, and compare runs made shortly after each other.",
		})
	}
	// A single run makes no claim about another; levels of one source do not compete.
	if len(groups) > 1 && len(single) > 0 {
		weight := Note
		if pairs := rivals(groups); len(pairs) > 0 && fewest(pairs) == 1 {
			weight = validity.Suspect
		}
		out = append(out, Finding{
			Code: NoRepeats, Weight: weight, Scope: ScopeComparison, Samples: single,
			Sentence: "There is one run of each (n = 1): no comparison is possible, however large the difference.",
			Fix:      fmt.Sprintf("Repeat each at least %d times with new processes, in random order.", enoughRepeats),
		})
	}
	if len(few) > 0 {
		out = append(out, Finding{
			Code: FewRepeats, Weight: Note, Scope: ScopeComparison, Samples: few,
			Sentence: fmt.Sprintf("There are fewer than %d repeats of each: enough for a ratio, not for a verdict.", enoughRepeats),
			Fix:      fmt.Sprintf("Repeat each at least %d times with new processes, in random order.", enoughRepeats),
		})
	}
	return out
}

// checkErrorsWin finds a run with errors only that is faster than one with answers.
func checkErrorsWin(all set) []Finding {
	type load struct {
		tool        string
		connections int64
	}
	slowest := map[load]int{}
	for i := range all.samples {
		o := &all.samples[i]
		k := load{o.Tool, o.Connections}
		if at, known := slowest[k]; all.usable[i] && (!known || o.PerSecond() < all.samples[at].PerSecond()) {
			slowest[k] = i
		}
	}
	var out []Finding
	for i := range all.samples {
		s := &all.samples[i]
		at, known := slowest[load{s.Tool, s.Connections}]
		if !known || !s.Counted() || !allErrors(*s) || all.samples[at].PerSecond() >= s.PerSecond() {
			continue
		}
		o := &all.samples[at]
		out = append(out, Finding{
			Code: ErrorsWin, Weight: validity.Void, Scope: ScopeSample, Samples: []int{i}, Value: s.PerSecond() / o.PerSecond(), Limit: 1,
			Sentence: fmt.Sprintf("All responses are errors, and it is %s times as fast as %s, which succeeded. An error page is often faster than the real page.",
				number(s.PerSecond()/o.PerSecond()), o.Place()),
			Fix: "Discard it. Count errors before you rank runs.",
		})
	}
	return out
}

func allErrors(s Sample) bool {
	return s.Errors.Status+s.Errors.Unsorted >= s.Requests
}

// checkWork finds samples of one path with answers of different size: only equal work can be compared.
func checkWork(all set) []Finding {
	// work identifies samples that should do the same work.
	type work struct {
		tool, path string
		kept       bool
	}
	var out []Finding
	firsts := map[work]int{}
	for i := range all.samples {
		s := &all.samples[i]
		if !all.usable[i] || s.Bytes == nil {
			continue
		}
		w := work{s.Tool, pathOf(s.URL), s.Reused != nil}
		first, known := firsts[w]
		if !known {
			firsts[w] = i
			continue
		}
		a, b := perResponse(&all.samples[first]), perResponse(s)
		if max(a.Low(), b.Low()) <= min(a.High(), b.High())*(1+unequalBytes) {
			continue
		}
		out = append(out, Finding{
			Code: UnequalWork, Weight: validity.Suspect, Scope: ScopeComparison, Samples: []int{first, i}, Value: b.Value / a.Value,
			Sentence: fmt.Sprintf("A response has %s B in one and %s B in the other: they do different work.", number(math.Round(a.Value)), number(math.Round(b.Value))),
			Fix:      "Make both send the same body and headers, or report the difference with the comparison.",
		})
	}
	return out
}

func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	_, p, _ := strings.Cut(rest, "/")
	return p
}

func perResponse(s *Sample) printed.Quantity {
	n := float64(s.Requests)
	return printed.Quantity{Value: s.Bytes.Value / n, Rounding: s.Bytes.Rounding / n}
}

// checkRound looks for numbers that a tool would hardly print.
func checkRound(all set) []Finding {
	var found []int
	for i, s := range all.samples {
		if !s.Counted() || s.Throughput.Value <= 0 {
			continue
		}
		if math.Mod(s.Throughput.Value, roundStep) != 0 {
			return nil
		}
		found = append(found, i)
	}
	if len(found) < roundSamples {
		return nil
	}
	return []Finding{{
		Code: RoundNumbers, Weight: Note, Scope: ScopeComparison, Samples: found, Value: float64(len(found)), Limit: roundSamples,
		Sentence: fmt.Sprintf("All %d throughputs are multiples of %d, but tools print two decimals.", len(found), roundStep),
		Fix:      "Use the original output of the tools: these numbers were rounded or typed.",
	}}
}

// checkMixed reminds of latencies that are not the same quantity.
func checkMixed(all set) []Finding {
	type kind struct{ tool, kind string }
	var kinds []kind
	var found []int
	for i, s := range all.samples {
		if s.Mean() == nil || !s.Counted() {
			continue
		}
		found = append(found, i)
		k := kind{s.Tool, string(s.Latency[0].Kind)}
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	slices.SortFunc(kinds, func(a, b kind) int { return cmp.Or(cmp.Compare(a.tool, b.tool), cmp.Compare(a.kind, b.kind)) })
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.tool + "'s " + k.kind
	}
	return []Finding{{
		Code: MixedLatencies, Weight: Note, Scope: ScopeComparison, Samples: found,
		Sentence: "The latencies are different quantities: " + strings.Join(names, ", ") + ".",
		Fix:      "Compare latencies only within one tool and kind. Compare throughputs only at the same number of connections.",
	}}
}
