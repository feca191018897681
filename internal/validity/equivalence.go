package validity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/pick"
	"loadstone.dev/loadstone/internal/record"
)

// reference is the baseline's answer to one path.
type reference struct {
	record.Response
	// sameBody is true if the baseline gave the same body in all its trials. One that gives another each time, such as the time of
	// day, cannot be compared with.
	sameBody bool
	// least and most are the sizes of its bodies.
	least, most int64
}

// newReferences finds the baseline's answer to each path: the most frequent one of its trials.
func newReferences(trials []*record.TrialData) map[string]*reference {
	counts := map[string]map[record.Response]int{}
	for _, t := range trials {
		for _, r := range Responses(t) {
			if counts[r.Path] == nil {
				counts[r.Path] = map[record.Response]int{}
			}
			r.HeaderBytes = 0
			counts[r.Path][r]++
		}
	}
	out := map[string]*reference{}
	for path, seen := range counts {
		answers := slices.SortedFunc(maps.Keys(seen), func(a, b record.Response) int {
			return cmp.Or(cmp.Compare(seen[b], seen[a]), cmp.Compare(a.Status, b.Status), cmp.Compare(a.BodySHA256, b.BodySHA256))
		})
		same := !slices.ContainsFunc(answers, func(r record.Response) bool { return r.BodySHA256 != answers[0].BodySHA256 })
		ref := &reference{Response: answers[0], sameBody: same, least: answers[0].BodyBytes, most: answers[0].BodyBytes}
		for _, r := range answers {
			ref.least, ref.most = min(ref.least, r.BodyBytes), max(ref.most, r.BodyBytes)
		}
		out[path] = ref
	}
	return out
}

// Responses are the answers that a trial's first generator got.
func Responses(t *record.TrialData) []record.Response {
	if len(t.Generators) == 0 {
		return nil
	}
	return t.Generators[0].Responses
}

// otherWork is the part of an answer by which a body may be shorter or longer than the baseline's and still be the same work: the
// smallest difference that the verdicts tell apart. It is related to the whole answer, since a server sends its head as well: ten bytes
// or eleven beside a head of a hundred are the same work, and a page of half the size is not.
const otherWork = inference.EquivalenceMargin

// checkEquivalence compares the answer of the trial with the baseline's. Another status voids: it is other work, and an error page
// often less. So does a body of clearly another size: whoever sends less wins by that. Another body of the same size is marked: it may be
// as much work, and whoever wants it to be the same says so in expect.body, which is checked before each trial. A baseline whose own bodies
// differ from trial to trial has a range of sizes, and no body that another could be. Heads may differ in size; that is a fact of the
// environment.
func checkEquivalence(f *facts) []Reason {
	if f.reference == nil || f.level.Scripted {
		return nil
	}
	own := pick.First(Responses(f.trial), func(r *record.Response) bool { return r.Path == f.level.Path })
	if own == nil {
		return nil
	}
	r := Reason{
		Code: NotEquivalent, Weight: Void, Scope: ScopeCell,
		Detail: fmt.Sprintf("%s: %d, %d B; %d, %d B", own.Path, own.Status, own.BodyBytes, f.reference.Status, f.reference.BodyBytes),
	}
	off := max(f.reference.least-own.BodyBytes, own.BodyBytes-f.reference.most, 0)
	switch {
	case own.Status != f.reference.Status, float64(off) > otherWork*float64(own.HeaderBytes+f.reference.BodyBytes):
		return []Reason{r}
	case f.reference.sameBody && own.BodySHA256 != f.reference.BodySHA256:
		r.Weight = Suspect
		return []Reason{r}
	}
	return nil
}
