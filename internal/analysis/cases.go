package analysis

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Case is one metric of one case over all processes that count.
type Case struct {
	Implementation string           `json:"implementation"`
	Case           string           `json:"case"`
	Axes           []record.Axis    `json:"axes,omitempty"`
	Metric         string           `json:"metric"`
	Unit           string           `json:"unit"`
	Better         record.Direction `json:"better"`
	// Summary is over the processes' medians; nil if none counts.
	Summary     *inference.Summary `json:"summary,omitempty"`
	Processes   int                `json:"processes"`
	Repetitions int                `json:"repetitions"`
	// OptimisedAway: the time is too short for the work.
	OptimisedAway bool `json:"optimisedAway,omitempty"`
}

// CaseGap is a case that an implementation failed, or lacks while others have it.
type CaseGap struct {
	Implementation string `json:"implementation"`
	Case           string `json:"case"`
	Processes      int    `json:"processes"`
	// Failure is the program's own text (untrusted).
	Failure string `json:"failure,omitempty"`
	// Unread: unreadable output may have held the case.
	Unread bool `json:"unread,omitempty"`
}

const (
	// shortestNanos is two cycles at 3 GHz; an empty loop takes one.
	shortestNanos = 0.7
	timeMetric    = "Time"
)

type program struct {
	implementation string
	block          int32
	cases          []record.Case
	unread         []record.Unread
	unreadMore     int
}

func programsOf(data record.RunData) []program {
	var out []program
	for _, t := range data.Trials {
		own, _ := t.Server(0)
		if p := own.Program; p != nil {
			out = append(out, program{t.Manifest.Servers[0], t.Manifest.Block, p.Cases, p.Unread, p.UnreadMore})
		}
	}
	slices.SortStableFunc(out, func(a, b program) int { return cmp.Compare(a.block, b.block) })
	return out
}

type caseKey struct{ name, metric string }

func casesOf(printed []program, p planned.Run, rows []verdict.BlockRow) []Case {
	counted := map[verdict.Place][]float64{}
	for _, r := range rows {
		if r.Void == "" {
			at := verdict.Place{Implementation: r.Implementation, Case: r.Case, Metric: r.Metric}
			counted[at] = append(counted[at], r.Value)
		}
	}
	var out []Case
	for _, i := range p.Implementations {
		known := map[caseKey]int{}
		for _, one := range printed {
			if one.implementation != i.Name {
				continue
			}
			for _, c := range one.cases {
				for _, v := range c.Values {
					key := caseKey{c.Name, v.Metric}
					at, seen := known[key]
					if !seen {
						at, known[key] = len(out), len(out)
						out = append(out, Case{
							Implementation: i.Name, Case: c.Name, Axes: c.Axes, Metric: v.Metric, Unit: v.Unit, Better: v.Better, Repetitions: len(v.Samples),
						})
					}
					out[at].Processes++
					out[at].Repetitions = min(out[at].Repetitions, len(v.Samples))
				}
			}
		}
	}
	for k := range out {
		c := &out[k]
		c.Summary = inference.Summarise(counted[verdict.Place{Implementation: c.Implementation, Case: c.Case, Metric: c.Metric}])
		c.OptimisedAway = c.Unit == "ns" && c.Metric == timeMetric && c.Summary != nil && c.Summary.Mean < shortestNanos
	}
	return out
}

func failedCases(gaps []CaseGap) map[verdict.Place]int {
	out := map[verdict.Place]int{}
	for _, g := range gaps {
		out[verdict.Place{Implementation: g.Implementation, Case: g.Case}] = g.Processes
	}
	return out
}

func gapsOf(printed []program, p planned.Run) []CaseGap {
	processes := map[string]int{}
	whole, failures := map[verdict.Place]int{}, map[verdict.Place]string{}
	unread := map[string]bool{}
	var names []string
	for _, one := range printed {
		processes[one.implementation]++
		unread[one.implementation] = unread[one.implementation] || len(one.unread) > 0
		for _, c := range one.cases {
			names = append(names, c.Name)
			at := verdict.Place{Implementation: one.implementation, Case: c.Name}
			if c.Failure == "" {
				whole[at]++
			}
			failures[at] = cmp.Or(failures[at], c.Failure)
		}
	}
	var out []CaseGap
	for _, name := range util.Distinct(names) {
		for _, i := range p.Implementations {
			at := verdict.Place{Implementation: i.Name, Case: name}
			if missing := processes[i.Name] - whole[at]; missing > 0 {
				out = append(out, CaseGap{Implementation: i.Name, Case: name, Processes: missing, Failure: failures[at], Unread: failures[at] == "" && unread[i.Name]})
			}
		}
	}
	return out
}
