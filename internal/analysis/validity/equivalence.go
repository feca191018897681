package validity

import (
	"fmt"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// otherWork is the part of an answer by which a body may be shorter or longer than the baseline's and still be the same work: the
// smallest difference that the verdicts tell apart. It is related to the whole answer, since a server sends its head as well: ten bytes
// or eleven beside a head of a hundred are the same work, and a page of half the size is not.
const otherWork = inference.EquivalenceMargin

// checkEquivalence compares the answers of the trial with the baseline's, of a mix those to each of its requests: the worst of what it finds is said.
// Another status voids: it is other work, and an error page often less. So does a body of clearly another size: who sends less has an advantage. Another
// body of the same size is marked: it may be as much work, and a user who needs it to be the same sets expect.body, which is checked before each trial. A
// baseline whose own bodies differ from trial to trial has a range of sizes, and no body that another could be. Where the user says that any body will
// do, only the status is compared. Heads may differ in size; that is a fact of the environment.
func checkEquivalence(f *facts) []Reason {
	if f.Level.Scripted {
		return nil
	}
	var worst []Reason
	answers := f.Responses()
	for i, asked := range f.Level.Asked() {
		own, reference := answers[i], f.references[asked.Key]
		if own == nil || reference == nil {
			continue
		}
		weight := otherAnswer(asked, own, reference)
		if weight == Void || weight == Suspect && worst == nil {
			worst = []Reason{{
				Code: NotEquivalent, Weight: weight, Scope: ScopeCell,
				Detail: fmt.Sprintf("%s: %d, %d B; %d, %d B", nameOf(f.Level, own), own.Status, own.BodyBytes, reference.Status, reference.BodyBytes),
			}}
		}
		if weight == Void {
			return worst
		}
	}
	return worst
}

// nameOf names what was asked: by its path, or in a mix, where two requests may share one, by its key.
func nameOf(l planned.Level, r *record.Response) string {
	if len(l.Mix) == 0 {
		return r.Path
	}
	return r.Key()
}

// otherAnswer is what an answer that is not the baseline's does to the cell; Valid if it is the same work.
func otherAnswer(asked planned.Asked, own *record.Response, reference *measured.Reference) Validity {
	if own.Status != reference.Status {
		return Void
	}
	if asked.AnyBody {
		return Valid
	}
	off := max(reference.Least-own.BodyBytes, own.BodyBytes-reference.Most, 0)
	switch {
	case float64(off) > otherWork*float64(own.HeaderBytes+reference.BodyBytes):
		return Void
	case reference.SameBody && own.BodySHA256 != reference.BodySHA256:
		return Suspect
	}
	return Valid
}
