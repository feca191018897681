package view

import (
	"slices"

	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/verdict"
)

// Effect is one place at which a contender is compared, with a result for each metric. Verdict and reason are those of the place, which
// stand at the metric that decides there.
type Effect struct {
	Label   string
	Overall bool
	Results []verdict.Result
	Verdict verdict.Verdict
	Reason  verdict.Reason
}

// Said is the verdict of a result and its reason: the place's where the result decides.
func (e Effect) Said(r verdict.Result) (verdict.Verdict, verdict.Reason) {
	if r.Decides {
		return e.Verdict, e.Reason
	}
	return r.Verdict, r.Reason
}

// Effects are the places of one comparison, in the order in which they are shown: the mean over a load's levels, then each level.
func (v *View) Effects(c verdict.Comparison) []Effect {
	var out []Effect
	if len(c.Levels) != 1 && len(c.Overall) > 0 {
		e := Effect{Label: v.Say("forest.loads"), Overall: true, Results: c.Overall, Verdict: c.Verdict, Reason: c.Reason}
		if c.Load != "" {
			e.Label = v.Say("forest.level", c.Load, v.Say("forest.overall", v.Count("levels", len(c.Levels))))
		}
		out = append(out, e)
	}
	for _, l := range c.Levels {
		out = append(out, Effect{Label: v.LevelName(l.Point), Results: l.Results, Verdict: l.Verdict, Reason: l.Reason})
	}
	return out
}

// AllEffects are the places of all comparisons of a contender.
func (v *View) AllEffects(implementation string) []Effect {
	var out []Effect
	for _, c := range v.Table.Comparisons {
		if c.Implementation == implementation {
			out = append(out, v.Effects(c)...)
		}
	}
	return out
}

// ComparedMetrics are all metrics of the run's comparisons, those that decide in more places first.
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

// EffectInterval prints the interval of a result from as many blocks on as a verdict needs.
func (v *View) EffectInterval(r verdict.Result) string {
	if _, _, ok := phrase.Ends(r); !ok || r.FewestPairs < v.Table.Rules.MinBlocks {
		return ""
	}
	return v.ChangeLimits(r)
}

// tones colour verdicts.
var tones = map[verdict.Verdict]string{
	verdict.Better: "faster", verdict.Worse: "slower", verdict.NoDifference: "same",
	verdict.DependsOnLoad: "unknown", verdict.Inconclusive: "unknown",
}

// Tone is the colour of a verdict: faster, slower, same or unknown.
func Tone(v verdict.Verdict) string { return tones[v] }

// RowVerdict puts a verdict into a word or two, and the reason for none into a few more. The effect itself stands beside it.
func (v *View) RowVerdict(r verdict.Result, said verdict.Verdict, reason verdict.Reason) (words, why string) {
	words = v.Say("verdict." + string(said))
	switch {
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
