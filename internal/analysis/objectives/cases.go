package objectives

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/tool/cases"
)

// ofCases returns none if the objective concerns loads.
func (j judge) ofCases(o record.Objective, r Result) []Result {
	metric := o.CaseMetric()
	if metric == "" {
		return nil
	}
	var names []string
	for _, row := range j.run.Cases {
		if row.Metric == metric && cases.Matches(o.Case, row.Case) && !slices.Contains(names, row.Case) {
			names = append(names, row.Case)
		}
	}
	var out []Result
	for _, name := range names {
		for _, i := range j.run.Implementations {
			if judged(o, i) {
				one := r
				one.Case, one.Implementation = name, i.Name
				out = append(out, one.with(j.ofCase(o, name, metric, i)))
			}
		}
	}
	return out
}

// ofCase is faulty if the implementation failed the case anywhere.
func (j judge) ofCase(o record.Objective, name, metric string, i planned.Implementation) (f estimate) {
	switch o.Metric {
	case v1alpha1.ObjectiveRatioToBaseline:
		f = j.ratioOfCase(name, metric, i.Name)
	case v1alpha1.ObjectiveRegression:
		f = j.regressionOfCase(o, name, metric, i.Name)
	default:
		f = j.meanOfCase(name, metric, i.Name)
	}
	f.faulty = j.run.ImplementationFailures[i.Name]+j.run.CaseFailures[verdict.Place{Implementation: i.Name, Case: name}] > 0
	return f
}

// meanOfCase gives values that may be 0, such as allocations, a Student interval.
func (j judge) meanOfCase(name, metric, implementation string) estimate {
	var values []float64
	printed, suspect := 0, 0
	for _, r := range j.run.Cases {
		if r.Implementation != implementation || r.Case != name || r.Metric != metric {
			continue
		}
		if printed++; r.Void == "" {
			values = append(values, r.Value)
			suspect += min(len(r.Doubts), 1)
		}
	}
	s := inference.Summarise(values)
	f := unknown(TooFewBlocks, "")
	switch {
	case printed == 0:
		return unknown(NotMeasured, "")
	case len(values) < inference.MinPairs && printed >= inference.MinPairs:
		f.why = VoidCells
	}
	if s == nil {
		return f
	}
	f.value, f.n, f.suspect = s.Mean, s.N, suspect == s.N
	if s.N < inference.MinPairs {
		return f
	}
	if f.why = ""; s.Low != nil {
		f.low, f.high = *s.Low, *s.High
		return f
	}
	low, high := inference.PlainInterval(s.Mean, *s.StdDev, s.N)
	f.low, f.high = max(low, 0), high
	return f
}

// ratioOfCase: if both are 0 in every block, nothing changed.
func (j judge) ratioOfCase(name, metric, implementation string) estimate {
	c := util.First(j.run.Rows, func(c *verdict.RowComparison) bool {
		return c.Implementation == implementation && c.Case == name && string(c.Metric) == metric
	})
	if c == nil {
		return unknown(NotMeasured, "")
	}
	f := unknown(TooFewBlocks, "")
	f.n, f.suspect = c.Blocks, c.OnlySuspect()
	switch {
	case c.Reason == verdict.BothZero:
		f.value, f.low, f.high, f.why = 1, 1, 1, ""
		return f
	case c.Reason == verdict.ZeroHasNoRatio:
		return unknown(ZeroHasNoRatio, "")
	case c.VoidBlocks > 0:
		f.why = VoidCells
	}
	if c.Ratio != nil {
		f.value = *c.Ratio
	}
	if c.Low != nil {
		f.low, f.high, f.why = *c.Low, *c.High, ""
	}
	return f
}

func (j judge) regressionOfCase(o record.Objective, name, metric, implementation string) estimate {
	var then []verdict.Result
	for _, past := range o.Against.Runs {
		earlier, missing := j.earlierRun(past.UID)
		if earlier == nil {
			return unknown(NoEarlierRun, missing)
		}
		if why, detail := alikePrograms(j.run, *earlier, name, metric, o.Against.Anchor, implementation); why != "" {
			return unknown(why, detail)
		}
		then = append(then, verdict.RowsByBlock(earlier.Cases, name, metric, implementation, o.Against.Anchor))
	}
	return against(verdict.RowsByBlock(j.run.Cases, name, metric, implementation, o.Against.Anchor), then)
}

func alikePrograms(now, then Run, name, metric, anchor, implementation string) (why Reason, detail string) {
	if why, detail := sameAnchor(&now.Data, &then.Data, anchor); why != "" {
		return why, detail
	}
	for _, side := range []string{implementation, anchor} {
		was := util.First(then.Cases, func(r *verdict.BlockRow) bool {
			return r.Implementation == side && r.Case == name && r.Metric == metric
		})
		is := util.First(now.Cases, func(r *verdict.BlockRow) bool {
			return r.Implementation == side && r.Case == name && r.Metric == metric
		})
		switch {
		case was == nil && is == nil:
			return NotMeasured, ""
		case was == nil:
			return LoadDiffers, fmt.Sprintf("the earlier run has no case %s of %s", name, side)
		case is == nil:
			return NotMeasured, fmt.Sprintf("%s has no case %s", side, name)
		case was.Unit != is.Unit:
			return LoadDiffers, fmt.Sprintf("%s of case %s was in %s and is in %s", metric, name, was.Unit, is.Unit)
		case was.Value == 0 || is.Value == 0:
			return ZeroHasNoRatio, fmt.Sprintf("%s has 0 in case %s", side, name)
		}
	}
	return "", ""
}
