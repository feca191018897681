package validity

import (
	"fmt"

	"loadstone.dev/loadstone/internal/inference"
)

// otherWork is the part of an answer by which a body may be shorter or longer than the baseline's and still be the same work: the
// smallest difference that the verdicts tell apart. It is related to the whole answer, since a server sends its head as well: ten bytes
// or eleven beside a head of a hundred are the same work, and a page of half the size is not.
const otherWork = inference.EquivalenceMargin

// checkEquivalence compares the answer of the trial with the baseline's. Another status voids: it is other work, and an error page
// often less. So does a body of clearly another size: who sends less has an advantage. Another body of the same size is marked: it may be
// as much work, and a user who needs it to be the same sets expect.body, which is checked before each trial. A baseline whose own bodies
// differ from trial to trial has a range of sizes, and no body that another could be. Where the user says that any body will do, only the status
// is compared. Heads may differ in size; that is a fact of the environment.
func checkEquivalence(f *facts) []Reason {
	if f.reference == nil || f.Level.Scripted {
		return nil
	}
	own := f.Response()
	if own == nil {
		return nil
	}
	r := Reason{
		Code: NotEquivalent, Weight: Void, Scope: ScopeCell,
		Detail: fmt.Sprintf("%s: %d, %d B; %d, %d B", own.Path, own.Status, own.BodyBytes, f.reference.Status, f.reference.BodyBytes),
	}
	if own.Status != f.reference.Status {
		return []Reason{r}
	}
	if f.Level.AnyBody {
		return nil
	}
	off := max(f.reference.Least-own.BodyBytes, own.BodyBytes-f.reference.Most, 0)
	switch {
	case float64(off) > otherWork*float64(own.HeaderBytes+f.reference.BodyBytes):
		return []Reason{r}
	case f.reference.SameBody && own.BodySHA256 != f.reference.BodySHA256:
		r.Weight = Suspect
		return []Reason{r}
	}
	return nil
}
