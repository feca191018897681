package suite

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/conduct"
)

// severity orders outcomes: a round has the worst of its runs.
var severity = []v1alpha1.RoundOutcome{v1alpha1.RoundPassed, v1alpha1.RoundInconclusive, v1alpha1.RoundFailed, v1alpha1.RoundMissed}

// isResult reports whether an outcome says something about the inputs; they are then not measured again.
func isResult(o v1alpha1.RoundOutcome) bool { return slices.Contains(severity, o) }

type ending struct {
	outcome         v1alpha1.RoundOutcome
	reason, message string
}

// endingOf follows the rules of the command line's exit code.
func endingOf(run *v1alpha1.BenchmarkRun) ending {
	e := facts.Ending(run)
	switch {
	case e.Reason == v1alpha1.ReasonObjectivesMissed:
		return ending{v1alpha1.RoundMissed, e.Reason, e.Message}
	case e.Reason == v1alpha1.ReasonObjectivesUndecided:
		return ending{v1alpha1.RoundInconclusive, e.Reason, e.Message}
	case e.State != conduct.Succeeded:
		return ending{v1alpha1.RoundFailed, e.Reason, e.Message}
	case e.Open() != "":
		return ending{v1alpha1.RoundInconclusive, e.Open(), e.Verdict.Text}
	}
	return ending{v1alpha1.RoundPassed, v1alpha1.ReasonDone, e.Verdict.Text}
}

func (r *round) ending() ending {
	var worst ending
	var texts []string
	for _, run := range r.runs {
		e := endingOf(run.object)
		switch order := cmp.Compare(slices.Index(severity, e.outcome), slices.Index(severity, worst.outcome)); {
		case order < 0:
			continue
		case order > 0:
			worst, texts = e, nil
		}
		texts = append(texts, run.record.Run+": "+cmp.Or(e.message, e.reason))
	}
	if names := r.uncompared(); len(names) > 0 {
		texts = append([]string{strings.Join(names, ", ") + ": too few good rounds to compare with yet"}, texts...)
	}
	worst.message = strings.Join(texts, "; ")
	return worst
}

// Measured is an ended run of a round, and where it is stored.
type Measured struct {
	Round int32
	// Run is the run's name in the suite.
	Run string
	// Prefix is empty if the run left nothing. Report is the page's key; empty if only the prefix is remembered.
	Prefix, Report string
	// ManifestSHA256 is the digest of the run's manifest.
	ManifestSHA256 string
}

// MeasuredBy returns the ended runs of a suite's own rounds, oldest first, from the cluster and from remembered good
// rounds. Pull requests do not count, since they may never be merged.
func MeasuredBy(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) []Measured {
	var out []Measured
	for _, r := range roundsOf(runs) {
		for _, run := range r.runs {
			if run.ended() && r.PullRequest == "" {
				out = append(out, Measured{r.number, run.record.Run, prefixOf(run.object), pageOf(run.object), run.object.Status.Report.ManifestSHA256})
			}
		}
	}
	for _, g := range s.Status.GoodRounds {
		for _, run := range g.Runs {
			there := func(m Measured) bool { return m.Round == g.Round && m.Run == run.Name }
			if !slices.ContainsFunc(out, there) {
				out = append(out, Measured{g.Round, run.Name, run.Prefix, run.Report, run.Run.ManifestSHA256})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Measured) int { return cmp.Or(cmp.Compare(a.Round, b.Round), strings.Compare(a.Run, b.Run)) })
	return out
}
