package conduct

import (
	"cmp"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Trial is a line of the plan that was begun, and what has become of it.
type Trial struct {
	record.PlannedTrial
	// Work is what it does.
	Work kind.Work
	// Begun is true once its turn has come.
	Begun bool
	// Started is the instant at which its agents were told to start the first cell; zero before.
	Started time.Time
	// Ended is when it ended, for whatever reason; zero while it goes on.
	Ended time.Time
	// Stored is its manifest in the store; nil if it has none, or not yet.
	Stored *record.Artifact
	// Reason and Message say how it stands, or why it ended.
	Reason, Message string
	// Nodes are the machines on which its members were told to start.
	Nodes []record.BoundNode
}

func (t *Trial) ended() bool { return !t.Ended.IsZero() }

// failed reports whether the trial ended without a manifest.
func (t *Trial) failed() bool { return t.ended() && t.Stored == nil }

// lost reports whether the infrastructure failed the trial.
func (t *Trial) lost() bool {
	return t.failed() && v1alpha1.OriginOf(t.Reason) == v1alpha1.OriginInfrastructure
}

// notNeeded reports whether the run ended early, before the trial.
func (t *Trial) notNeeded() bool { return t.ended() && t.Reason == v1alpha1.ReasonStoppedEarly }

// Trials are those of one run, in any order.
type Trials []Trial

// inOrder are the trials in the order of the plan.
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

// LastEnd is when the last trial that has ended did so; zero before one has.
func (l Trials) LastEnd() (last time.Time) {
	for i := range l {
		if l[i].Ended.After(last) {
			last = l[i].Ended
		}
	}
	return last
}

// follow reports whether trials have begun that follow the blocks.
func (l Trials) follow() bool {
	return slices.ContainsFunc(l, func(t Trial) bool { return t.Follows() })
}

// lastBlock is the highest block of which there is a trial; 0 if there is none.
func (l Trials) lastBlock() int32 {
	var last int32
	for i := range l {
		last = max(last, l[i].Block)
	}
	return last
}

// before is the first trial that comes before another and has not ended; nil if there is none.
func (l Trials) before(t Trial) *Trial {
	sorted := l.inOrder()
	for i := range sorted {
		if sorted[i].Index < t.Index && !sorted[i].ended() {
			return &sorted[i]
		}
	}
	return nil
}
