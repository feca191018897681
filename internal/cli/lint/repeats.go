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

// Repeats are the samples of one tool, threads, connections, address and source that are not void, each counted once.
type Repeats struct {
	Tool string `json:"tool"`
	URL  string `json:"url,omitempty"`
	// Source is the name of the files without its digits: two servers are often loaded at one address, into files of two names.
	Source      string `json:"source"`
	Threads     int64  `json:"threads,omitempty"`
	Connections int64  `json:"connections,omitempty"`
	// PerSecond is the asked arrival rate; 0 in the closed model or if unknown.
	PerSecond float64 `json:"perSecond,omitempty"`
	Samples   []int   `json:"samples"`
	// Mean, Least and Most are of the throughput in requests per second.
	Mean  float64 `json:"mean"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	// CV is the coefficient of variation, the standard deviation (n - 1) over the mean; nil of one sample.
	CV *float64 `json:"cv,omitempty"`
}

func (r Repeats) holds(s Sample) bool {
	return r.Tool == s.Tool && r.URL == s.URL && r.Source == s.Source() && r.Threads == s.Threads && r.Connections == s.Connections && r.PerSecond == s.Rate()
}

// repeats gathers samples in the order of their first.
func (all set) repeats() []Repeats {
	out := []Repeats{}
	for i, s := range all.samples {
		if !all.usable[i] || firstLike(all.samples[:i], s) >= 0 {
			continue
		}
		at := slices.IndexFunc(out, func(r Repeats) bool { return r.holds(s) })
		if at < 0 {
			out = append(out, Repeats{Tool: s.Tool, URL: s.URL, Source: s.Source(), Threads: s.Threads, Connections: s.Connections, PerSecond: s.Rate()})
			at = len(out) - 1
		}
		out[at].Samples = append(out[at].Samples, i)
	}
	for i := range out {
		out[i].describe(all.samples)
	}
	return out
}

func (r *Repeats) describe(samples []Sample) {
	values := make([]float64, len(r.Samples))
	for i, at := range r.Samples {
		values[i] = samples[at].PerSecond()
	}
	mean, sd := inference.Moments(values)
	r.Mean, r.Least, r.Most = mean, slices.Min(values), slices.Max(values)
	if len(values) > 1 {
		cv := sd / mean
		r.CV = &cv
	}
}

// firstLike finds a sample that agrees with another in everything that was printed; -1 if there is none. Of two runs of a second or
// more, that is one run counted twice.
func firstLike(samples []Sample, s Sample) int {
	return slices.IndexFunc(samples, func(o Sample) bool {
		same := o.Counted() && o.Tool == s.Tool && o.URL == s.URL && o.Threads == s.Threads && o.Connections == s.Connections &&
			o.Requests == s.Requests && o.Throughput == s.Throughput
		if !same || len(o.Latency) == 0 || len(s.Latency) == 0 {
			return false
		}
		return printed.OrZero(o.Mean()) == printed.OrZero(s.Mean()) && printed.OrZero(o.Latency[0].Max) == printed.OrZero(s.Latency[0].Max)
	})
}

func checkDuplicates(all set) []Finding {
	var out []Finding
	for i, s := range all.samples {
		if j := firstLike(all.samples[:i], s); j >= 0 {
			out = append(out, Finding{
				Code: Duplicate, Weight: validity.Suspect, Scope: ScopeComparison, Samples: []int{j, i},
				Sentence: "Both are identical to the last digit: they are one run.", Fix: "It is counted once. Give each run a separate file.",
			})
		}
	}
	return out
}

// checkRepeats returns what can be concluded from as many repeats as there are.
func checkRepeats(all set) []Finding {
	var out []Finding
	var single, few []int
	groups := all.repeats()
	for _, r := range groups {
		switch n := len(r.Samples); {
		case n == 1:
			single = append(single, r.Samples...)
		case n < enoughRepeats:
			few = append(few, r.Samples...)
		}
		if r.CV == nil || *r.CV <= spreadSuspect {
			continue
		}
		out = append(out, Finding{
			Code: Spread, Weight: validity.Suspect, Scope: ScopeComparison, Samples: r.Samples, Value: *r.CV, Limit: spreadSuspect,
			Sentence: fmt.Sprintf("The %d repeats on %s vary by %s (coefficient of variation), from %s to %s requests per second.",
				len(r.Samples), plural(r.Connections, "connection"), percent(*r.CV), number(r.Least), number(r.Most)),
			Fix: "Find out what else ran, pin server and generator, and compare runs made shortly after each other.",
		})
	}
	// One run alone claims nothing about another, and levels of one source are no rivals.
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

// checkErrorsWin finds a run of nothing but errors that is faster than one with answers.
func checkErrorsWin(all set) []Finding {
	var out []Finding
	for i, s := range all.samples {
		if !s.Counted() || !allErrors(s) {
			continue
		}
		for j, o := range all.samples {
			if !all.usable[j] || o.Tool != s.Tool || o.Connections != s.Connections || o.PerSecond() >= s.PerSecond() {
				continue
			}
			out = append(out, Finding{
				Code: ErrorsWin, Weight: validity.Void, Scope: ScopeSample, Samples: []int{i}, Value: s.PerSecond() / o.PerSecond(), Limit: 1,
				Sentence: fmt.Sprintf("All responses are errors, and it is %s times as fast as %s, which succeeded. An error page is often faster than the real page.",
					number(s.PerSecond()/o.PerSecond()), o.Place()),
				Fix: "Discard it. Count errors before you rank runs.",
			})
			break
		}
	}
	return out
}

func allErrors(s Sample) bool {
	return s.Errors.Status >= s.Requests || (s.Tool == K6 && s.Errors.Unsorted >= s.Requests)
}

// checkWork looks for two samples of one path whose answers differ in size: what is compared must do the same work.
func checkWork(all set) []Finding {
	var out []Finding
	for i, s := range all.samples {
		first := all.firstOfWork(i)
		if first < 0 {
			continue
		}
		a, b := perResponse(all.samples[first]), perResponse(s)
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

// firstOfWork finds the first sample that claims to do the work of another and tells its bytes; -1 if there is none before it.
func (all set) firstOfWork(i int) int {
	s := all.samples[i]
	if !all.usable[i] || s.Bytes == nil {
		return -1
	}
	for j, o := range all.samples[:i] {
		if all.usable[j] && o.Bytes != nil && sameWork(s, o) {
			return j
		}
	}
	return -1
}

// sameWork says that two samples claim to ask for the same thing in the same way.
func sameWork(a, b Sample) bool {
	return a.Tool == b.Tool && pathOf(a.URL) == pathOf(b.URL) && (a.Reused == nil) == (b.Reused == nil)
}

func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	_, p, _ := strings.Cut(rest, "/")
	return p
}

// perResponse is the size of one answer, headers included.
func perResponse(s Sample) printed.Quantity {
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
