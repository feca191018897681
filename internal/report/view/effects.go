package view

import (
	"slices"

	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
)

// Effect is one place of a comparison, with a result for each metric. Verdict and reason are the place's, and shown
// at its deciding metric.
type Effect struct {
	Label string
	// Point is the level; for a mean over a load's levels only the load, for all loads nothing.
	Point   record.Point
	Overall bool
	Results []verdict.Result
	Verdict verdict.Verdict
	Reason  verdict.Reason
}

// Said returns a result's verdict and reason: the place's if the result decides.
func (e Effect) Said(r verdict.Result) (verdict.Verdict, verdict.Reason) {
	if r.Decides {
		return e.Verdict, e.Reason
	}
	return r.Verdict, r.Reason
}

// Effects returns the places of a comparison in display order: the mean over a load's levels, then each level.
func (v *View) Effects(c verdict.Comparison) []Effect {
	var out []Effect
	if len(c.Levels) != 1 && len(c.Overall) > 0 {
		e := Effect{Label: v.Say("forest.loads"), Point: record.Point{Load: c.Load}, Overall: true, Results: c.Overall, Verdict: c.Verdict, Reason: c.Reason}
		if c.Load != "" {
			e.Label = v.Say("forest.level", c.Load, v.Say("forest.overall", v.Count("levels", len(c.Levels))))
		}
		out = append(out, e)
	}
	for _, l := range c.Levels {
		out = append(out, Effect{Label: v.LevelName(l.Point), Point: l.Point, Results: l.Results, Verdict: l.Verdict, Reason: l.Reason})
	}
	return out
}

// AllEffects returns the places of all comparisons of a contender.
func (v *View) AllEffects(implementation string) []Effect {
	var out []Effect
	for _, c := range v.Table.Comparisons {
		if c.Implementation == implementation {
			out = append(out, v.Effects(c)...)
		}
	}
	return out
}

// ComparedMetrics returns all compared metrics, those that decide most often first.
func (v *View) ComparedMetrics() []verdict.Metric {
	var metrics []verdict.Metric
	decides := map[verdict.Metric]int{}
	for _, c := range v.Table.Comparisons {
		for _, e := range v.Effects(c) {
			for _, r := range e.Results {
				if !slices.Contains(metrics, r.Metric) {
					metrics = append(metrics, r.Metric)
				}
				if r.Decides {
					decides[r.Metric]++
				}
			}
		}
	}
	slices.SortStableFunc(metrics, func(a, b verdict.Metric) int { return decides[b] - decides[a] })
	return metrics
}

// EffectInterval prints a result's interval if it has enough blocks for a verdict.
func (v *View) EffectInterval(r verdict.Result) string {
	if _, _, ok := phrase.Ends(r); !ok || r.FewestPairs < v.Table.Rules.MinBlocks {
		return ""
	}
	return v.ChangeLimits(r)
}

var tones = map[verdict.Verdict]string{
	verdict.Better: "faster", verdict.Worse: "slower", verdict.NoDifference: "same",
	verdict.DependsOnLoad: "unknown", verdict.Mixed: "unknown", verdict.Differs: "unknown", verdict.Inconclusive: "unknown",
}

// Tone returns a verdict's colour: faster, slower, same or unknown.
func Tone(v verdict.Verdict) string { return tones[v] }

// RowVerdict returns a verdict and its reason in a few words; the effect is shown separately.
func (v *View) RowVerdict(r verdict.Result, said verdict.Verdict, reason verdict.Reason) (words, why string) {
	words = v.Say("verdict." + string(said))
	switch {
	case reason == verdict.ClosedLoopLatency:
		words = v.Say("reason.ClosedLoop")
	case reason == "":
	case reason == verdict.TooFewBlocks && r.Blocks == 0:
		why = v.Say("reason.nopair")
	case reason == verdict.TooFewBlocks:
		why = v.Say("reason.TooFewBlocks", v.Count("blocks", r.FewestPairs), format.Integer(v.Table.Rules.MinBlocks))
	default:
		why = v.Say("reason." + string(reason))
	}
	return words, why
}

// CapacityVerdict is RowVerdict for searches: the winner sustains the higher rate; it is not faster.
func (v *View) CapacityVerdict(r verdict.Result) (words, why string) {
	if r.Verdict == verdict.Better || r.Verdict == verdict.Worse {
		return v.Say("capacity." + string(r.Verdict)), ""
	}
	if r.Reason == verdict.BoundsOnly {
		return v.Say("verdict." + string(r.Verdict)), v.Say("capacity.BoundsOnly")
	}
	return v.RowVerdict(r, r.Verdict, r.Reason)
}

// CaseVerdict is RowVerdict for a case, with void blocks and sides whose work was probably not done.
func (v *View) CaseVerdict(r verdict.RowComparison) (words, why string) {
	words, why = v.RowVerdict(*r.Result, r.Verdict, r.Reason)
	why = format.Join("; ", why, v.CaseAgainst(r))
	if r.VoidBlocks > 0 {
		why = format.Join("; ", why, v.Say("cases.void", v.Count("blocks", r.VoidBlocks)))
	}
	for _, c := range v.Table.OptimisedAway(r) {
		why = format.Join("; ", why, v.Say("cases.optimised", c))
	}
	return words, why
}

// CaseMetric names a case's metric, its unit and direction.
func (v *View) CaseMetric(name, unit string, better record.Direction) string {
	return v.Say("cases.metric", name, unit, v.Say("cases."+string(better)))
}
