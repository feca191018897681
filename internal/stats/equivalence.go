package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// reference is the baseline's answer to one path.
type reference struct {
	record.Response
	// sameBody is true if the baseline gave the same body in all its trials. One that gives another each time, such as the time of
	// day, cannot be compared with.
	sameBody bool
}

// newReferences finds the baseline's answer to each path: the most frequent one of its trials.
func newReferences(trials []*record.TrialData) map[string]*reference {
	counts := map[string]map[record.Response]int{}
	for _, t := range trials {
		for _, r := range responses(t) {
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
		out[path] = &reference{Response: answers[0], sameBody: same}
	}
	return out
}

// responses are the answers that a trial's first generator got.
func responses(t *record.TrialData) []record.Response {
	if len(t.Generators) == 0 {
		return nil
	}
	return t.Generators[0].Responses
}

// checkEquivalence compares the answer of the trial with the baseline's. Another status voids: it is other work, and an error page
// often less. Another body is marked: it may be as much work, and whoever wants it to be the same says so in expect.body. Headers
// may differ in size; that is a fact of the environment.
func checkEquivalence(f *facts) []Reason {
	if f.reference == nil || f.level.Scripted {
		return nil
	}
	own := find(responses(f.trial), func(r *record.Response) bool { return r.Path == f.level.Path })
	if own == nil {
		return nil
	}
	r := Reason{
		Code: NotEquivalent, Weight: Void, Scope: ScopeCell,
		Detail: fmt.Sprintf("%s: %d, %d B; %d, %d B", own.Path, own.Status, own.BodyBytes, f.reference.Status, f.reference.BodyBytes),
	}
	switch {
	case own.Status != f.reference.Status:
		return []Reason{r}
	case f.reference.sameBody && own.BodySHA256 != f.reference.BodySHA256:
		r.Weight = Suspect
		return []Reason{r}
	}
	return nil
}
