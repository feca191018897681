package validity

import (
	"fmt"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// otherWork is how much an answer's body may differ from the baseline's and still be the same work: the smallest
// difference that verdicts distinguish. It relates to the whole answer, head included: 10 or 11 bytes next to a head
// of 100 are the same work, half a page is not.
const otherWork = inference.EquivalenceMargin

// checkEquivalence compares the trial's answers with the baseline's and returns the worst finding of all requests.
//
// Another status voids: it is other work, and an error page is often less. So does a body of clearly different size.
// Another body of the same size only marks: it may be as much work, and a user who needs equality sets expect.body,
// which is checked before each trial. If the baseline's own bodies vary, only their range of sizes counts. If the
// spec accepts any body, only the status is compared. Heads may differ in size; the environment lists that.
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

// OtherWork reports whether an answer is other work than the baseline's, so that a cell with it is void. anyBody means that only the status is
// compared.
func OtherWork(own, baseline record.Response, anyBody bool) bool {
	reference := measured.Reference{Response: baseline, SameBody: true, Least: baseline.BodyBytes, Most: baseline.BodyBytes}
	return otherAnswer(planned.Asked{AnyBody: anyBody}, &own, &reference) == Void
}

func nameOf(l planned.Level, r *record.Response) string {
	if len(l.Mix) == 0 {
		return r.Path
	}
	return r.Key()
}

// otherAnswer returns the weight of an answer that is not the baseline's; Valid if it is the same work.
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
