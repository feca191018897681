package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/report/format"
)

// unit is a sample, or all parts of a distributed test.
type unit struct {
	samples     []int
	perSecond   float64
	connections int64
}

// units lists the comparable runs in order: usable, no warm-up, each once.
func (all set) units() []unit {
	out := []unit{}
	for i := range all.samples {
		s := &all.samples[i]
		if all.usable[i] && s.Part == 0 && !s.Warmup && all.twin[i] < 0 {
			out = append(out, unit{[]int{i}, s.PerSecond(), s.Connections})
		}
	}
	for _, t := range all.distributed() {
		u := unit{samples: t.samples}
		usable := t.share >= wholeTest
		for _, i := range t.samples {
			u.perSecond += all.samples[i].PerSecond()
			u.connections += all.samples[i].Connections
			usable = usable && all.usable[i]
		}
		if usable {
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(a, b unit) int { return a.samples[0] - b.samples[0] })
	return out
}

// test is a distributed test: consecutive parts of a source until their shares add up to 1.
type test struct {
	samples []int
	share   float64
}

func (all set) distributed() []test {
	type key struct {
		tool, url, source string
		perSecond         float64
	}
	var out []test
	open := map[key]int{}
	for i := range all.samples {
		s := &all.samples[i]
		if s.Part == 0 || all.twin[i] >= 0 {
			continue
		}
		k := key{s.Tool, s.URL, s.Source(), s.Rate()}
		at, known := open[k]
		if !known {
			at, open[k] = len(out), len(out)
			out = append(out, test{})
		}
		t := &out[at]
		t.samples, t.share = append(t.samples, i), t.share+s.Part
		if t.share >= wholeTest {
			delete(open, k)
		}
	}
	return out
}

// checkParts sums up distributed tests, and names warm-ups.
func checkParts(all set) []Finding {
	var out []Finding
	for _, t := range all.distributed() {
		if t.share < wholeTest {
			out = append(out, Finding{
				Code: PartsMissing, Weight: validity.Suspect, Scope: ScopeSample, Samples: t.samples, Value: t.share, Limit: 1,
				Sentence: fmt.Sprintf("This is %s of a distributed test: the other parts are not here.", percent(t.share)),
				Fix:      "Give the output of all parts. Their throughputs add up.",
			})
			continue
		}
		out = append(out, all.sum(t))
		out = append(out, all.uneven(t.samples, plural(int64(len(t.samples)), "part"))...)
	}
	for i := range all.samples {
		if s := &all.samples[i]; s.Warmup && s.Counted() {
			out = append(out, Finding{
				Code: Warmup, Weight: Note, Scope: ScopeComparison, Samples: []int{i},
				Sentence: "The lines above call this a warm-up: it is not counted as a repeat.", Fix: "Discard it, or change its title.",
			})
		}
	}
	return out
}

func (all set) sum(t test) Finding {
	var requests, users int64
	var perSecond, time float64
	for _, i := range t.samples {
		s := &all.samples[i]
		requests, users, perSecond = requests+s.Requests, users+s.Connections, perSecond+s.PerSecond()
		time += float64(s.Requests) * printed.OrZero(s.Mean()).Value
	}
	return Finding{
		Code: Distributed, Weight: Note, Scope: ScopeComparison, Samples: t.samples, Value: perSecond,
		Sentence: fmt.Sprintf("These are the %d parts of one test. Together they made %s requests, %s per second, by %s, with a mean latency of %s.",
			len(t.samples), format.Integer(requests), number(perSecond), plural(users, "virtual user"), spell(time/float64(max(requests, 1)))),
		Fix: "Report the sum. Percentiles of parts do not add up: compute them from all requests (k6 --out json).",
	}
}

func (all set) uneven(samples []int, what string) []Finding {
	least, most := -1, -1
	for _, i := range samples {
		mean := all.samples[i].Mean()
		if mean == nil || !all.usable[i] {
			continue
		}
		if least < 0 || mean.Value < all.samples[least].Mean().Value {
			least = i
		}
		if most < 0 || mean.Value > all.samples[most].Mean().Value {
			most = i
		}
	}
	if least < 0 {
		return nil
	}
	low, high := all.samples[least].Mean(), all.samples[most].Mean()
	if low.High() <= 0 || high.Low() <= unevenLatency*low.High() {
		return nil
	}
	return []Finding{{
		Code: UnevenLatency, Weight: validity.Suspect, Scope: ScopeComparison, Samples: samples, Value: high.Low() / low.High(), Limit: unevenLatency,
		Sentence: fmt.Sprintf("The mean latencies of the %s range from %s (#%d) to %s (#%d), although their throughputs agree.", what, latency(low), least+1, latency(high), most+1),
		Fix:      "Look at the machine, the network path and the data of the slow one. Do not average over it.",
	}}
}

func (all set) unevenLatency(r Repeats) []Finding {
	if r.Runs < 2 || all.samples[r.Samples[0]].Part > 0 {
		return nil
	}
	return all.uneven(r.Samples, fmt.Sprintf("%d repeats", r.Runs))
}

func (all set) streams(r Repeats) int {
	seen := map[string]bool{}
	for _, i := range r.Samples {
		if s := &all.samples[i]; s.Part == 0 && s.Stream != "" {
			seen[s.Stream] = true
		}
	}
	return len(seen)
}

func (all set) partsOrRepeats(r Repeats, streams int) Finding {
	return Finding{
		Code: PartsOrRepeats, Weight: validity.Suspect, Scope: ScopeComparison, Samples: r.Samples, Value: r.Mean * float64(r.Runs),
		Sentence: fmt.Sprintf("They come from %d pods or containers. If these ran at the same time, they are parts of one test, which made %s requests per second together. Otherwise, they are repeats.",
			streams, number(r.Mean*float64(r.Runs))),
		Fix: "Add up what ran at the same time. Give repeats one file each.",
	}
}

// checkAlike finds servers with equal throughput: probably something else limits them all.
func checkAlike(all set) []Finding {
	byLoad := map[load][]Repeats{}
	var loads []load
	for _, r := range rivals(all.repeats()) {
		if all.samples[r.Samples[0]].paced() {
			continue // They have one rate by design.
		}
		if byLoad[r.load()] == nil {
			loads = append(loads, r.load())
		}
		byLoad[r.load()] = append(byLoad[r.load()], r)
	}
	var out []Finding
	for _, l := range loads {
		groups := byLoad[l]
		most := slices.MaxFunc(groups, func(a, b Repeats) int { return compare(a.Mean, b.Mean) }).Mean
		var samples []int
		alike, least := 0, most
		for _, r := range groups {
			if r.Mean >= most*(1-alikeRange) {
				alike, least, samples = alike+1, min(least, r.Mean), append(samples, r.Samples...)
			}
		}
		if alike < alikeSources || alike*3 < len(groups) {
			continue
		}
		slices.Sort(samples)
		causes := "the generator, the network, or a rate limit"
		if l.tool == K6 {
			causes += ", or pauses in the script"
		}
		out = append(out, Finding{
			Code: AllAlike, Weight: validity.Suspect, Scope: ScopeComparison, Samples: samples, Value: 1 - least/most, Limit: alikeRange,
			Sentence: fmt.Sprintf("%d of %d servers agree to %s (%s to %s requests per second). Most likely, something that they share limits them: %s.",
				alike, len(groups), percent(1-least/most), number(least), number(most), causes),
			Fix: "Check that the generator had idle CPU, and add generators or a slower server for comparison. Until then, these servers have no order.",
		})
	}
	return out
}

// segment is the share of k6's --execution-segment, such as 0.25 for "1/4:1/2"; 0 without one.
func segment(text string) float64 {
	if text == "" {
		return 0
	}
	from, to, both := strings.Cut(text, ":")
	if !both {
		from, to = "0", text
	}
	low, okLow := fraction(from)
	high, okHigh := fraction(to)
	if !okLow || !okHigh || high <= low || high > 1 {
		return 0
	}
	return high - low
}

func fraction(text string) (float64, bool) {
	if percent, is := strings.CutSuffix(text, "%"); is {
		v, ok := bounded(percent)
		return v / 100, ok
	}
	above, below, is := strings.Cut(text, "/")
	v, ok := bounded(above)
	if !is || !ok {
		return v, ok
	}
	n, err := strconv.ParseInt(below, 10, 32)
	if err != nil || n < 1 {
		return 0, false
	}
	return v / float64(n), true
}
