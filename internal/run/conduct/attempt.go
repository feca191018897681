package conduct

import (
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Attempt is one try at a trial at one instant.
type Attempt struct {
	// Number counts tries from 1, Renewed the earlier ones that only waited too long to start.
	Number, Renewed int32
	Work            kind.Work
	// follows: the trial follows the blocks.
	follows bool
	Begun   time.Time
	// Started is when the agents got the start of the first cell; zero before.
	Started time.Time
	// Ended is when work that ends by itself was seen to end; zero before, and for other work.
	Ended time.Time
	// Patience is how long the run waits for unavailable resources, and at least for its store.
	Patience time.Duration
	Now      time.Time
}

// Attempt returns a try that begins now.
func (t Trial) Attempt(number int32, now time.Time) Attempt {
	return Attempt{Number: number, Work: t.Work, follows: t.Follows(), Begun: now, Started: t.Started, Now: now}
}

// Slots returns the trial's timetable.
func (a Attempt) Slots() []timetable.Slot { return a.Work.Slots() }

// End returns when the last cell ends or ended; zero before the start is set.
func (a Attempt) End() time.Time {
	switch {
	case a.Started.IsZero():
		return time.Time{}
	case !a.Ended.IsZero():
		return a.Ended
	}
	return a.Started.Add(timetable.End(a.Slots()))
}

// Measuring reports whether the first measured time has begun.
func (a Attempt) Measuring() bool {
	slots := a.Slots()
	return !a.Started.IsZero() && len(slots) > 0 && !a.Now.Before(a.Started.Add(slots[0].Measure))
}

// Start returns the start command of every agent: the timetable, its start by the agent's clock, the servers' addresses, and
// the CPU that a duet's servers share.
func (a Attempt) Start(at time.Time, targets []string, shared *int32) *protocol.Start {
	return &protocol.Start{At: at, Targets: targets, TLS: kind.TLS(a.Work.Servers()), ServerCPU: shared, Slots: a.Slots()}
}

// Quiet reports whether agents must not be asked: during measured times an answer would cost the generator's CPU. The
// agent of work that ends by itself has other CPUs and may always be asked.
func (a Attempt) Quiet() bool {
	return !a.Work.EndsItself() && a.Measuring() && a.Now.Before(a.End())
}

// CellsDone counts the cells whose time is over.
func (a Attempt) CellsDone() int {
	if a.Started.IsZero() {
		return 0
	}
	return cellsDone(a.Slots(), a.Started, a.Now)
}

func cellsDone(slots []timetable.Slot, start, now time.Time) int {
	return len(slices.DeleteFunc(slots, func(slot timetable.Slot) bool { return start.Add(slot.End).After(now) }))
}

// tellEvery limits how often a status counts ended cells anew: each count costs the API server two writes.
const tellEvery = 30 * time.Second

// Tells reports whether a status with this count must be rewritten for a new count alone.
func (a Attempt) Tells(told int) bool { return tells(a.Slots(), told, a.CellsDone()) }

func tells(slots []timetable.Slot, told, done int) bool {
	if told < 0 || done <= told {
		return done != told // A trial has ended or was lost.
	}
	var before time.Duration
	if told > 0 {
		before = slots[told-1].End
	}
	return slots[done-1].End-before >= tellEvery
}

// NextEnd returns the time until the next cell of a started attempt ends.
func (a Attempt) NextEnd() time.Duration {
	slots := a.Slots()
	if len(slots) == 0 {
		return a.End().Sub(a.Now)
	}
	n := min(a.CellsDone(), len(slots)-1)
	return a.Started.Add(slots[n].End).Sub(a.Now)
}

// Retried reports whether another attempt follows a failure. Infrastructure failures are retried a few times, but not
// once measuring began: then the whole block is repeated, if there is one. An attempt that only waited too long is
// always renewed.
func (a Attempt) Retried(f *Failure) bool {
	return f.Waited || f.Kind == Transient && a.lost() < plan.Attempts-1 && (f.Unstarted || a.follows || !a.Measuring())
}

func (a Attempt) lost() int32 { return a.Number - 1 - a.Renewed }

// Needs returns how long members must live if they start now, until their files are stored. Patience comes on top,
// for their waits.
func (a Attempt) Needs() time.Duration { return timetable.End(a.Slots()) + AgentGrace + StoreDeadline }

// Outwaited is the failure of an attempt if a member waited so long for its start that its remaining life is too
// short. Nothing is lost.
func Outwaited(member string) *Failure {
	f := TransientFailure(v1alpha1.ReasonPodLost, "%s waited too long for its start: its deadline would end it before the trial ends", member)
	f.Waited = true
	return f
}

// mostNames is how often a member's name may be taken.
const mostNames = 10

// NameTaken is the failure of an attempt that cannot create a member because its name is taken; nil if the object may
// be its own, not yet observed. The next attempt uses another name. If that is taken too, again and again, something
// changes the created objects.
func (a Attempt) NameTaken(member string, byAnother bool) *Failure {
	switch {
	case byAnother && a.Renewed < mostNames:
		f := TransientFailure(v1alpha1.ReasonPodRejected, "another object has the name of %s; Loadstone leaves it alone", member)
		f.Waited = true
		return f
	case byAnother:
		return PermanentFailure(v1alpha1.ReasonPodRejected, "another object has the name of %s, like %d names before: check whether a webhook changes the owners of pods", member, mostNames)
	case a.PrepareLeft() < 0:
		return TransientFailure(v1alpha1.ReasonPodRejected, "%s exists, but the operator does not see it: check whether its labels were changed", member)
	}
	return nil
}

// Note says why the attempt was given up.
func (a Attempt) Note(f *Failure) string {
	return fmt.Sprintf("attempt %d: %s: %s", a.Number, f.Reason, f.Message)
}
