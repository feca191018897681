package validity

import (
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/stats/inference"
)

const (
	// shorterSuspect is the smallest difference that verdicts distinguish. A page of changing size may miss it. It
	// does not miss shorterVoid on the average of a cell, unless the checks of the trials differ as well.
	shorterSuspect, shorterVoid = inference.EquivalenceMargin, 0.25
	// longerSuspect and longerVoid are wider, since no check contains the frames of a chunked body: 6 bytes per
	// chunk, half of a body that is sent word by word.
	longerSuspect, longerVoid = 0.25, 1.0
)

// checkBytes compares the bytes that the tools read with the answer of the check before the trial: half as many, or
// twice as many, are another answer. Tools such as wrk do not look at bodies. It skips cells that already have
// answers with a wrong status or body.
func checkBytes(f *facts) []Reason {
	b := f.Bytes
	if b == nil || b.Least <= 0 || f.Errors.Status+f.Errors.Body > 0 {
		return nil
	}
	mark := func(off, size, suspect, void float64) []Reason {
		r := Reason{Code: AnswerSize, Weight: Void, Scope: ScopeCell, Subject: measured.SubjectServer, Value: b.Each / size, Limit: void}
		switch {
		case off <= max(b.Slack, suspect*size):
			return nil
		case off <= max(b.Slack, void*size):
			r.Weight, r.Limit = Suspect, suspect
		}
		return []Reason{r}
	}
	if b.Each < b.Least {
		return mark(b.Least-b.Each, b.Least, shorterSuspect, shorterVoid)
	}
	return mark(b.Each-b.Unfinished-b.Most, b.Most, longerSuspect, longerVoid)
}

const (
	// sidesApart: beyond the difference of their checks, two servers' answers may differ by what verdicts do not
	// distinguish.
	sidesApart = inference.EquivalenceMargin
	// scriptedApart and scriptedSlack: requests of a script are unchecked, and heads differ: those of good servers
	// have 60 to 200 bytes.
	scriptedApart, scriptedSlack = 0.25, 128
)

// checkSides compares the bytes per answer of a contender's cells with the baseline's cell of the same block. It
// marks both, since either may have changed. Differences of their checks and of AnswerSize are already known.
func checkSides(contender, baseline *Group) {
	for k := range contender.Cells {
		a := &contender.Cells[k]
		b := util.First(baseline.Cells, func(c *Cell) bool { return c.Block == a.Block })
		if b == nil || a.Validity == Void || b.Validity == Void || a.Bytes == nil || b.Bytes == nil || a.has(AnswerSize) || b.has(AnswerSize) {
			continue
		}
		if apart(*a.Bytes, *b.Bytes) {
			share := a.Bytes.Each / max(b.Bytes.Each, 1)
			for _, c := range []*Cell{a, b} {
				c.mark(Reason{Code: UnequalAnswers, Weight: Suspect, Scope: ScopeCell, Value: share, Limit: sidesApart})
			}
		}
	}
}

// apart reports whether two servers' answers differ by more than their checks, their heads and the end of the load
// explain.
func apart(a, b measured.AnswerBytes) bool {
	share, slack := sidesApart, max(a.Slack, b.Slack)
	if a.Least <= 0 || b.Least <= 0 {
		a.Least, a.Most, b.Least, b.Most = 0, 0, 0, 0
		share, slack = scriptedApart, scriptedSlack
	}
	limit := max(share*min(a.Each, b.Each), slack)
	beyond := func(a, b measured.AnswerBytes) bool { return a.Each-a.Unfinished-a.Most-(b.Each-b.Least) > limit }
	return beyond(a, b) || beyond(b, a)
}
