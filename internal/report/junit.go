package report

import (
	"fmt"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/junit"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
)

// JUnit prints the outcome as tests. With objectives these are the tests, and every one that is not met fails.
// Otherwise each comparison is a test, which passes if it has a verdict and is skipped if inconclusive.
func JUnit(t analysis.Table) ([]byte, error) {
	v := run{view.New(t, phrase.English)}
	s := junit.Suite{Name: t.Run.Namespace + "/" + t.Run.Name, Cases: v.tests(), Said: v.Line(t.Headline()) + "\n" + v.Say("comment.page", pageFile)}
	s.Last(t.Run.Started, t.Run.Ended)
	s.Close("loadstone." + t.Run.Name)
	out, err := junit.Print(s)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", t.Run.Name, err)
	}
	return out, nil
}

func (v run) tests() []junit.Case {
	var out []junit.Case
	for _, o := range v.Table.Objectives {
		out = append(out, v.objectiveTest(o))
	}
	if len(out) > 0 {
		return out
	}
	h := v.Table.Headline()
	for _, e := range h.Entries {
		load := e.Load
		if len(e.Loads) > 0 {
			load = v.Say("forest.loads")
		}
		name := format.Join(", ", v.Say("comparison.heading", e.Implementation, e.Baseline), load)
		out = append(out, comparisonTest(name, v.Entry(h, e), e.Verdict != verdict.Inconclusive))
	}
	for _, r := range v.Table.Rows {
		if r.Decides {
			name := format.Join(", ", v.Say("comparison.heading", r.Implementation, r.Baseline), r.Case)
			out = append(out, comparisonTest(name, v.caseSentence(r), r.Verdict != verdict.Inconclusive && len(v.Table.OptimisedAway(r)) == 0))
		}
	}
	if len(out) == 0 {
		out = append(out, comparisonTest(v.Say("junit.result"), v.LineWithoutComparison(h), v.Table.Counts()))
	}
	return out
}

func comparisonTest(name, sentence string, decided bool) junit.Case {
	if !decided {
		return junit.Case{Name: name, Skipped: junit.Because("", sentence)}
	}
	return junit.Case{Name: name, Said: sentence}
}

func (v run) objectiveTest(o objectives.Result) junit.Case {
	at := ""
	if o.Case != "" || o.Load != "" {
		at = o.At()
	}
	what := format.Join(": ", o.Name, v.Say("objective.of", v.ObjectiveMetric(o), o.Implementation))
	c, sentence := junit.Case{Name: format.Join(", ", what, at, v.bound(o))}, v.objectiveSentence(o)
	if o.Outcome == objectives.Met {
		c.Said = sentence
		return c
	}
	c.Failure = junit.Because(string(o.Outcome), sentence)
	return c
}

func (v run) objectiveSentence(o objectives.Result) string {
	value := v.Say("junit.unknown")
	if o.Value != nil {
		print := phrase.PrinterOf(o.Metric)
		n, blocks := v.objectiveN(o), v.Count("blocks", o.N)
		if o.EarlierN > 0 {
			blocks = v.Say("junit.blocks", n.Text)
		}
		interval := ""
		if o.Low != nil || o.High != nil {
			interval = v.Say("evidence.interval", v.Confidence(), v.objectiveInterval(o, print))
		}
		value = v.Say("junit.value", print(*o.Value), format.Join(", ", interval, blocks, n.Sub))
	}
	shut := ""
	if o.Outcome == objectives.Undecided {
		shut = v.Say("junit.shut")
	}
	return format.Join("; ", v.Say("junit.objective", v.Say("outcome."+string(o.Outcome)), value, v.bound(o)), v.objectiveWhy(o), shut)
}

func (v run) caseSentence(r verdict.RowComparison) string {
	words, why := v.CaseVerdict(r)
	if why != "" {
		words = v.Say("junit.value", words, why)
	}
	interval := v.EffectInterval(*r.Result)
	if interval != "" {
		interval = v.Say("evidence.interval", v.Confidence(), interval)
	}
	return v.Say("junit.case", words, v.Say("cases.change", v.ChangeOf(*r.Result), string(r.Metric)), format.Join(", ", interval, v.Count("blocks", r.Blocks)))
}
