package lint

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/validity"
)

// conclusion is the last line: what the samples are worth, and what can be compared.
func conclusion(r Report) string {
	if r.Void() == len(r.Samples) {
		return worth(r) + ": no result is usable."
	}
	return worth(r) + ": " + comparison(r.Repeats) + "."
}

// worth counts the samples by what they are worth, the best first.
func worth(r Report) string {
	n := len(r.Samples)
	counts := map[string]int{}
	for i := range r.Samples {
		counts[r.standing(i)]++
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

// standings are the words for a sample's verdict, the best first. Where only latencies are doubted, the throughput stands.
var standings = []string{"valid", "suspect in latency only", "suspect", "void"}

func (r Report) standing(sample int) string {
	switch r.Verdicts[sample] {
	case validity.Valid:
		return standings[0]
	case validity.Void:
		return standings[3]
	case validity.Suspect:
	}
	doubted := slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Scope == ScopeSample && f.Weight != Note && slices.Contains(f.Samples, sample)
	})
	if doubted {
		return standings[2]
	}
	return standings[1]
}

// comparison returns what can be concluded from the runs that are left. None is where they only repeat runs that are void.
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

// fewest is the number of runs of the smallest group.
func fewest(groups []Repeats) int {
	least := len(groups[0].Samples)
	for _, g := range groups {
		least = min(least, len(g.Samples))
	}
	return least
}

// sameSource says that two groups are, by their addresses and the names of their files, runs of one implementation.
func (r Repeats) sameSource(o Repeats) bool {
	return r.Tool == o.Tool && r.URL == o.URL && r.Source == o.Source
}

// rivals are the groups that a reader would compare: those of different sources under one load.
func rivals(groups []Repeats) []Repeats {
	var out []Repeats
	for _, g := range groups {
		if slices.ContainsFunc(groups, g.rivals) {
			out = append(out, g)
		}
	}
	return out
}

func (r Repeats) rivals(o Repeats) bool {
	return !r.sameSource(o) && r.Tool == o.Tool && pathOf(r.URL) == pathOf(o.URL) && r.Threads == o.Threads && r.Connections == o.Connections && r.PerSecond == o.PerSecond
}
