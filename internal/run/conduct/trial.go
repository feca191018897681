package conduct

import (
	"cmp"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Trial is a begun line of the plan, and its state.
type Trial struct {
	record.PlannedTrial
	Work kind.Work
	// Begun is true once its turn has come.
	Begun bool
	// Started is when its agents got the start of the first cell; zero before.
	Started time.Time
	// Ended is zero while it runs.
	Ended time.Time
	// Stored is its stored manifest; nil if there is none yet.
	Stored *record.Artifact
	// Reason and Message say how it stands, or why it ended.
	Reason, Message string
	// Nodes are the nodes of its members' start commands.
	Nodes []record.BoundNode
}

func (t *Trial) ended() bool { return !t.Ended.IsZero() }

func (t *Trial) failed() bool { return t.ended() && t.Stored == nil }

func (t *Trial) lost() bool {
	return t.failed() && v1alpha1.OriginOf(t.Reason) == v1alpha1.OriginInfrastructure
}

// notNeeded reports whether the run ended early, before the trial.
func (t *Trial) notNeeded() bool { return t.ended() && t.Reason == v1alpha1.ReasonStoppedEarly }

// Trials are those of one run, in any order.
type Trials []Trial

func (l Trials) inOrder() Trials {
	byIndex := func(a, b Trial) int { return cmp.Compare(a.Index, b.Index) }
	if slices.IsSortedFunc(l, byIndex) {
		return l
	}
	sorted := slices.Clone(l)
	slices.SortFunc(sorted, byIndex)
	return sorted
}

func (l Trials) allEnded() bool {
	return !slices.ContainsFunc(l, func(t Trial) bool { return !t.ended() })
}

// LastEnd returns the latest end of a trial; zero before the first.
func (l Trials) LastEnd() (last time.Time) {
	for i := range l {
		if l[i].Ended.After(last) {
			last = l[i].Ended
		}
	}
	return last
}

// follow reports whether trials after the blocks have begun.
func (l Trials) follow() bool {
	return slices.ContainsFunc(l, func(t Trial) bool { return t.Follows() })
}

func (l Trials) lastBlock() int32 {
	var last int32
	for i := range l {
		last = max(last, l[i].Block)
	}
	return last
}

func (l Trials) before(t Trial) *Trial {
	sorted := l.inOrder()
	for i := range sorted {
		if sorted[i].Index < t.Index && !sorted[i].ended() {
			return &sorted[i]
		}
	}
	return nil
}
