package suite

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Measured is a run of a round that has ended, and where it lies in the object store.
type Measured struct {
	Round int32
	// Run is the run's name in the suite.
	Run string
	// Prefix is where the run lies; empty if it has left nothing. Report is the key of its report's page; empty if only the prefix is remembered.
	Prefix, Report string
}

// MeasuredBy are the runs of a suite's own rounds that have ended, the oldest first: those of the cluster, and those of good rounds that the status
// remembers. What pull requests have measured may never be the suite's.
func MeasuredBy(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) []Measured {
	var out []Measured
	for _, r := range roundsOf(runs) {
		for _, run := range r.runs {
			if run.ended() && r.PullRequest == "" {
				out = append(out, Measured{r.number, run.record.Run, prefixOf(run.object), pageOf(run.object)})
			}
		}
	}
	for _, g := range s.Status.GoodRounds {
		for _, run := range g.Runs {
			there := func(m Measured) bool { return m.Round == g.Round && m.Run == run.Name }
			if !slices.ContainsFunc(out, there) {
				out = append(out, Measured{g.Round, run.Name, run.Prefix, run.Report})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Measured) int { return cmp.Or(cmp.Compare(a.Round, b.Round), strings.Compare(a.Run, b.Run)) })
	return out
}
