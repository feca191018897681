package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/printed"
)

type level struct {
	connections int64
	throughput  float64
	micros      float64
	samples     []int
}

// share is N / X in microseconds: a request's time if all connections wait in turn.
func (l level) share() float64 { return float64(l.connections) / l.throughput * 1e6 }

// sweeps sorts closed-loop samples by tool, address, source and connections.
func (all set) sweeps() [][]level {
	type key struct{ tool, url, source string }
	var keys []key
	of := map[key][]level{}
	for i := range all.samples {
		s := &all.samples[i]
		if !all.usable[i] || s.paced() || s.Part > 0 || s.Warmup || s.Connections == 0 || all.twin[i] >= 0 {
			continue
		}
		k := key{s.Tool, s.URL, s.Source()}
		if of[k] == nil {
			keys = append(keys, k)
		}
		at := slices.IndexFunc(of[k], func(l level) bool { return l.connections == s.Connections })
		if at < 0 {
			of[k] = append(of[k], level{connections: s.Connections})
			at = len(of[k]) - 1
		}
		l := &of[k][at]
		l.samples = append(l.samples, i)
		n := float64(len(l.samples))
		l.throughput += (s.PerSecond() - l.throughput) / n
		l.micros += (printed.OrZero(s.Mean()).Value - l.micros) / n
	}
	out := make([][]level, 0, len(keys))
	for _, k := range keys {
		slices.SortFunc(of[k], func(a, b level) int { return cmp.Compare(a.connections, b.connections) })
		out = append(out, of[k])
	}
	return out
}

// saturated is the end of a sweep with flat throughput and latency proportional to connections; nil if none. At capacity, a request takes N / X with
// any server.
func saturated(levels []level) []level {
	var most float64
	for _, l := range levels {
		most = max(most, l.throughput)
	}
	from := len(levels)
	for from > 0 && levels[from-1].throughput >= most*(1-flat) {
		from--
	}
	tail := levels[from:]
	if len(tail) < 2 {
		return nil
	}
	first, last := tail[0], tail[len(tail)-1]
	grown := float64(last.connections) / float64(first.connections)
	if grown < wide || first.micros <= 0 || last.micros/first.micros < following*grown {
		return nil
	}
	return tail
}

// checkSaturation finds the level beyond which latency only means N / X. The first saturated level keeps its latency.
func checkSaturation(all set) []Finding {
	var out []Finding
	for _, levels := range all.sweeps() {
		tail := saturated(levels)
		if tail == nil {
			continue
		}
		var above []int
		list := make([]string, len(tail))
		for i, l := range tail {
			list[i] = fmt.Sprintf("%d: %s/s, %s, N/X %s", l.connections, number(l.throughput), spell(l.micros), spell(l.share()))
			if i > 0 {
				above = append(above, l.samples...)
			}
		}
		slices.Sort(above)
		out = append(out, Finding{
			Code: Saturated, Weight: validity.Suspect, Scope: validity.ScopeLatency, Samples: above, Value: float64(tail[0].connections),
			Sentence: fmt.Sprintf("The server is saturated at %s or fewer: above that, throughput changes by at most %s and latencies only show N/X (%s).",
				plural(tail[0].connections, "connection"), percent(flat), strings.Join(list, "; ")),
			Fix: "Compare throughput here. Compare latency below saturation: with fewer connections, or at a fixed rate well below the maximum.",
		})
	}
	return out
}
