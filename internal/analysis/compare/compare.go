package compare

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Earlier is a run to compare with, under the user's name for it.
type Earlier struct {
	Name string
	Data record.RunData
}

// Result relates a run to earlier ones.
type Result struct {
	// Anchor is the implementation through which runs are compared.
	Run        record.Run `json:"run"`
	Anchor     string     `json:"anchor"`
	Confidence float64    `json:"confidence"`
	// WithinRuns: too few earlier runs to know the spread between runs.
	WithinRuns bool     `json:"withinRunsOnly"`
	Changes    []Change `json:"changes"`
}

// Change is a value over the anchor's, over the same ratio of the earlier runs.
type Change struct {
	objectives.Result
	Of    verdict.Metric `json:"compared"`
	Known bool           `json:"known"`
}

var ofLevels = []record.Objective{
	{Of: v1alpha1.ComparedThroughput},
	{Of: v1alpha1.ComparedServerCPUPerRequest},
	{Of: v1alpha1.ComparedLatencyPercentile, Percentile: "50"},
	{Of: v1alpha1.ComparedLatencyPercentile, Percentile: "99"},
}

// Runs compares a run with earlier ones through an anchor (default: the baseline). An error says why it cannot.
func Runs(later record.RunData, earlier []Earlier, anchor string) (Result, error) {
	p := later.Manifest.Plan
	if anchor == "" {
		anchor = p.Baseline
	}
	out := Result{Run: later.Manifest.Run, Anchor: anchor, WithinRuns: len(earlier) < objectives.LeastRegressionRuns}
	others := otherThan(p.Implementations, anchor)
	if len(others) == len(p.Implementations) {
		return out, fmt.Errorf("run %s did not measure %s: name an anchor that every run measured", out.Run.Name, anchor)
	}
	if len(others) == 0 {
		return out, fmt.Errorf("run %s measured only %s: runs are compared through an anchor, an implementation that stays the same, because machines drift from run to run", out.Run.Name, anchor)
	}
	against := record.Reference{Anchor: anchor}
	later.Earlier = map[string]record.EarlierRun{}
	for i, e := range earlier {
		key := fmt.Sprintf("%d: %s", i+1, e.Name)
		against.Runs = append(against.Runs, v1alpha1.PastRun{UID: key})
		later.Earlier[key] = record.EarlierRun{Data: &earlier[i].Data}
	}
	asked := slices.Concat(ofLevels, ofRows(later.Trials))
	for i := range asked {
		o := &asked[i]
		o.Metric, o.Implementations, o.Against, o.Max = v1alpha1.ObjectiveRegression, others, &against, "1"
	}
	later.Manifest.Plan.Objectives = asked
	var table analysis.Table
	err := util.Guard(func() (err error) {
		table, err = analysis.Analyse(later)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("comparing run %s with earlier ones: %w", out.Run.Name, err)
	}
	out.Confidence, out.Changes = table.Rules.Confidence, changes(table, asked)
	return out, nil
}

func ofRows(trials []record.TrialData) []record.Objective {
	var out []record.Objective
	known := map[string]bool{}
	for _, t := range trials {
		for _, r := range t.Rows {
			if !known[r.Metric] {
				known[r.Metric], out = true, append(out, record.Objective{OfRows: r.Metric})
			}
		}
	}
	return out
}

func otherThan(list []record.Implementation, anchor string) []string {
	var out []string
	for _, i := range list {
		if i.Name != anchor {
			out = append(out, i.Name)
		}
	}
	return out
}

func changes(t analysis.Table, asked []record.Objective) []Change {
	out := []Change{}
	for _, r := range t.Objectives {
		lost := r.Case != "" && r.Detail != "" // The earlier runs have the case.
		if r.Reason == objectives.NotMeasured && !lost {
			continue
		}
		one := Change{Result: r, Of: verdict.MetricOf(r.Of, r.Percentile), Known: r.Low != nil || r.High != nil}
		if r.Case != "" {
			one.Of = verdict.Metric(asked[r.Index].OfRows)
		}
		out = append(out, one)
	}
	return out
}

// Comparable reports whether any value could be compared; if not, why.
func (r Result) Comparable() (ok bool, reason objectives.Reason, detail string) {
	if slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Known }) {
		return true, "", ""
	}
	if len(r.Changes) == 0 {
		return false, objectives.NotMeasured, ""
	}
	return false, r.Changes[0].Reason, r.Changes[0].Detail
}

// More reports whether the value has grown with confidence. Too few earlier runs give none, nor does a closed loop.
func (c Change) More() bool { return !c.WithinRuns && !c.ClosedLoop && c.Low != nil && *c.Low > 1 }

// Less reports, like More, whether the value has shrunk with confidence.
func (c Change) Less() bool { return !c.WithinRuns && !c.ClosedLoop && c.High != nil && *c.High < 1 }
