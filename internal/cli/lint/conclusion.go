package lint

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/validity"
)

// conclusion is the last line: the samples' reliability, and what can be compared.
func conclusion(r Report) string {
	if r.Void() == len(r.Samples) {
		return worth(r) + ": no result is usable."
	}
	return worth(r) + ": " + comparison(r.Repeats) + "."
}

func worth(r Report) string {
	n := len(r.Samples)
	counts := map[string]int{}
	for _, d := range doubts(n, r.Findings) {
		counts[d.standing()]++
	}
	var parts []string
	for _, standing := range standings {
		switch of := counts[standing]; {
		case of == n && n == 1:
			return "Sample " + standing
		case of == n:
			return fmt.Sprintf("All %d samples %s", n, standing)
		case of > 0:
			parts = append(parts, fmt.Sprintf("%d %s", of, standing))
		}
	}
	return fmt.Sprintf("Of %d samples, %s", n, strings.Join(parts, ", "))
}

// standings are the words for verdicts, best first. A sample with doubtful latencies keeps its throughput.
var standings = []string{"valid", "suspect in latency only", "suspect", "void"}

func (d doubt) standing() string {
	switch {
	case d.verdict == validity.Valid:
		return standings[0]
	case d.verdict == validity.Void:
		return standings[3]
	case d.whole:
		return standings[2]
	}
	return standings[1]
}

// comparison concludes from the remaining runs. It concludes nothing if they only repeat void runs.
func comparison(groups []Repeats) string {
	if len(groups) == 0 {
		return "no comparison, because no run has a usable throughput"
	}
	if pairs := rivals(groups); len(pairs) > 0 {
		switch least := fewest(pairs); {
		case least == 1:
			return "no comparison from one run"
		case least < enoughRepeats:
			return fmt.Sprintf("a ratio but no verdict, because there are fewer than %d runs of each", enoughRepeats)
		default:
			return fmt.Sprintf("at least %d runs of each can be compared, if only the server differed", least)
		}
	}
	least := fewest(groups)
	switch {
	case slices.ContainsFunc(groups, func(g Repeats) bool { return !g.sameSource(groups[0]) }):
		return "no comparison, because no two sources ran the same load"
	case len(groups) > 1:
		return fmt.Sprintf("one source under %d loads, with at least %s of each; there is nothing to compare it with", len(groups), plural(int64(least), "run"))
	case least == 1:
		return "no comparison from one run"
	}
	return fmt.Sprintf("%d runs of one load from one source; there is nothing to compare them with", least)
}

func fewest(groups []Repeats) int {
	least := groups[0].Runs
	for _, g := range groups {
		least = min(least, g.Runs)
	}
	return least
}

// sameSource reports whether two groups seem to be runs of one implementation, by address and file name.
func (r Repeats) sameSource(o Repeats) bool {
	return r.Tool == o.Tool && r.URL == o.URL && r.Source == o.Source
}

// rivals are the groups to compare: different sources, one load.
func rivals(groups []Repeats) []Repeats {
	sources := map[load]map[source]bool{}
	for _, g := range groups {
		if sources[g.load()] == nil {
			sources[g.load()] = map[source]bool{}
		}
		sources[g.load()][g.source()] = true
	}
	return slices.DeleteFunc(slices.Clone(groups), func(g Repeats) bool { return len(sources[g.load()]) < 2 })
}

type load struct {
	tool, path           string
	threads, connections int64
	perSecond            float64
}

type source struct{ url, files string }

func (r Repeats) load() load {
	return load{r.Tool, pathOf(r.URL), r.Threads, r.Connections, r.PerSecond}
}

func (r Repeats) source() source { return source{r.URL, r.Source} }
