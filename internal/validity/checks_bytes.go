package validity

import (
	"math"

	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/pick"
	"loadstone.dev/loadstone/internal/record"
)

// answerBytes is what a cell's tools read for each answer, and what the checks before the trials got for one, in bytes of head and
// body on the wire.
type answerBytes struct {
	each float64
	// unfinished is the largest part of each that can be of answers which were under way when the tools stopped.
	unfinished float64
	// least and most are what the checks got; 0 if that is unknown.
	least, most float64
	// slack is by how much the head may differ from the check's.
	slack float64
}

const (
	// headSlack: from one answer to the next the numbers in a head change their length. All tools count what they read from the
	// connection, heads included: recorded cells of wrk, ab and k6 against servers of one page lie within a tenth of a byte.
	headSlack = 16
	// otherHeadSlack: ab asks in HTTP/1.0, and one request a connection asks for its end. "Transfer-Encoding: chunked" (28 bytes with
	// its line end), "Connection: keep-alive" (24) and "Keep-Alive: timeout=72" (24) come and go with that, two of them together.
	otherHeadSlack = 56
	// shorterSuspect is the smallest difference that the verdicts tell apart. A page whose size changes from answer to answer may miss
	// it; shorterVoid it does not miss on the average of a cell, unless the checks of the trials differ as well.
	shorterSuspect, shorterVoid = inference.EquivalenceMargin, 0.25
	// longerSuspect and longerVoid are wider, since the frames of a chunked body are on the wire and in no check: 6 bytes for each
	// chunk, half of a body that is sent in words.
	longerSuspect, longerVoid = 0.25, 1.0
)

// readBytes relates the bytes that the tools read to the answers; nil where there is nothing to relate.
func (f *facts) readBytes() *answerBytes {
	if !f.complete() || f.cell.Requests <= 0 {
		return nil
	}
	var read int64
	b := answerBytes{slack: headSlack}
	for _, m := range f.measurements() {
		read += m.Bytes
	}
	b.each = float64(read) / float64(f.cell.Requests)
	if f.level.Tool == record.ToolAb || f.level.Connection != record.KeepAlive {
		b.slack = otherHeadSlack
	}
	if f.level.Scripted {
		b.slack = 0 // Nobody has checked what a script asks for.
	} else if own := pick.First(Responses(f.trial), func(r *record.Response) bool { return r.Path == f.level.Path }); own != nil && own.HeaderBytes > 0 {
		b.least, b.most = wire(*own), wire(*own)
		if s, ok := f.sizes[f.level.Path]; ok {
			b.least, b.most = min(b.least, s.least), max(b.most, s.most)
		}
	}
	// What was cut off is less than an answer a connection; errors cut off one each.
	cut := float64(int64(f.level.Connections)+f.cell.Errors.Sum()) / float64(f.cell.Requests)
	b.unfinished = cut * max(b.most, b.each/(1+cut))
	return &b
}

// wire is the size of an answer as it was sent, but for the frames of a chunked body.
func wire(r record.Response) float64 { return float64(r.HeaderBytes + r.BodyBytes) }

// sizes are the sizes of one implementation's answers to a path, over the checks of all its trials.
type sizes struct{ least, most float64 }

// newSizes gathers the sizes by path.
func newSizes(trials []*record.TrialData) map[string]sizes {
	out := map[string]sizes{}
	for _, t := range trials {
		for _, r := range Responses(t) {
			if r.HeaderBytes <= 0 {
				continue
			}
			s, ok := out[r.Path]
			if !ok {
				s.least = math.Inf(1)
			}
			out[r.Path] = sizes{least: min(s.least, wire(r)), most: max(s.most, wire(r))}
		}
	}
	return out
}

// checkBytes compares the bytes that the tools read with the answer that the check before the trial got: half of them are another
// answer, and twice as many too. A tool that does not look at bodies, such as wrk, tells no difference. Cells with answers that are
// wrong by status or body say so already.
func checkBytes(f *facts) []Reason {
	b := f.cell.bytes
	if b == nil || b.least <= 0 || f.cell.Errors.Status+f.cell.Errors.Body > 0 {
		return nil
	}
	mark := func(off, size, suspect, void float64) []Reason {
		r := Reason{Code: AnswerSize, Weight: Void, Scope: ScopeCell, Subject: SubjectServer, Value: b.each / size, Limit: void}
		switch {
		case off <= max(b.slack, suspect*size):
			return nil
		case off <= max(b.slack, void*size):
			r.Weight, r.Limit = Suspect, suspect
		}
		return []Reason{r}
	}
	if b.each < b.least {
		return mark(b.least-b.each, b.least, shorterSuspect, shorterVoid)
	}
	return mark(b.each-b.unfinished-b.most, b.most, longerSuspect, longerVoid)
}

const (
	// sidesApart: beyond what their checks differ by, the answers of two servers to the same request may differ by as much as the
	// verdicts do not tell apart.
	sidesApart = inference.EquivalenceMargin
	// scriptedApart and scriptedSlack: what a script asks for was checked by nobody, and the heads of two servers differ: those of
	// good servers have from 60 to 200 bytes.
	scriptedApart, scriptedSlack = 0.25, 128
)

// checkSides compares the bytes for each answer of a contender's cells with those of the baseline's cell of the same block, and marks
// both: which of them changed is not known. What their checks differ by is no news, and neither is what AnswerSize has said.
func checkSides(contender, baseline *Group) {
	for k := range contender.Cells {
		a := &contender.Cells[k]
		b := pick.First(baseline.Cells, func(c *Cell) bool { return c.Block == a.Block })
		if b == nil || a.Validity == Void || b.Validity == Void || a.bytes == nil || b.bytes == nil || a.has(AnswerSize) || b.has(AnswerSize) {
			continue
		}
		if apart(*a.bytes, *b.bytes) {
			share := a.bytes.each / max(b.bytes.each, 1)
			for _, c := range []*Cell{a, b} {
				c.mark(Reason{Code: UnequalAnswers, Weight: Suspect, Scope: ScopeCell, Value: share, Limit: sidesApart})
			}
		}
	}
}

// apart says whether the answers of two servers differ by more than their checks, their heads and the end of the load explain.
func apart(a, b answerBytes) bool {
	share, slack := sidesApart, max(a.slack, b.slack)
	if a.least <= 0 || b.least <= 0 {
		a.least, a.most, b.least, b.most = 0, 0, 0, 0
		share, slack = scriptedApart, scriptedSlack
	}
	limit := max(share*min(a.each, b.each), slack)
	beyond := func(a, b answerBytes) bool { return a.each-a.unfinished-a.most-(b.each-b.least) > limit }
	return beyond(a, b) || beyond(b, a)
}
