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

// Attempt is one try at a trial, as it is at one instant.
type Attempt struct {
	// Number counts the tries, from 1, and Renewed those before this one that had only waited for too long to be started.
	Number, Renewed int32
	// Work is what the trial does.
	Work kind.Work
	// follows is true of a trial that follows the blocks and belongs to none.
	follows bool
	// Begun is when the attempt began.
	Begun time.Time
	// Started is the instant at which the agents were told to start the first cell; zero before.
	Started time.Time
	// Ended is when work that ends by itself was seen to have ended; zero before, and of all other work.
	Ended time.Time
	// Patience is how long the run waits for what is away: its store is waited for at least as long.
	Patience time.Duration
	// Now is the instant of the question.
	Now time.Time
}

// Attempt is a try at the trial that begins now.
func (t Trial) Attempt(number int32, now time.Time) Attempt {
	return Attempt{Number: number, Work: t.Work, follows: t.Follows(), Begun: now, Started: t.Started, Now: now}
}

// Slots are the trial's timetable.
func (a Attempt) Slots() []timetable.Slot { return a.Work.Slots() }

// End is when the last cell ends, or has ended; zero before a start is set.
func (a Attempt) End() time.Time {
	switch {
	case a.Started.IsZero():
		return time.Time{}
	case !a.Ended.IsZero():
		return a.Ended
	}
	return a.Started.Add(timetable.End(a.Slots()))
}

// Measuring is true once the first measured time has begun.
func (a Attempt) Measuring() bool {
	slots := a.Slots()
	return !a.Started.IsZero() && len(slots) > 0 && !a.Now.Before(a.Started.Add(slots[0].Measure))
}

// Start is what every agent is told: the timetable and the instant of its clock at which it begins, the servers' addresses, and the CPU that the
// servers of a duet share, if they do.
func (a Attempt) Start(at time.Time, targets []string, shared *int32) *protocol.Start {
	return &protocol.Start{At: at, Targets: targets, TLS: kind.TLS(a.Work.Servers()), ServerCPU: shared, Slots: a.Slots()}
}

// Quiet is true while nobody may be asked anything: from the first measured time to the end of the last, an answer would cost the
// generator's CPU. Work that ends by itself is watched by an agent on other CPUs, which may be asked at any time.
func (a Attempt) Quiet() bool {
	return !a.Work.EndsItself() && a.Measuring() && a.Now.Before(a.End())
}

// CellsDone is the number of cells whose time is over.
func (a Attempt) CellsDone() int {
	if a.Started.IsZero() {
		return 0
	}
	return cellsDone(a.Slots(), a.Started, a.Now)
}

func cellsDone(slots []timetable.Slot, start, now time.Time) int {
	return len(slices.DeleteFunc(slots, func(slot timetable.Slot) bool { return start.Add(slot.End).After(now) }))
}

// tellEvery is how much of a timetable passes before a status counts anew the cells that have ended: each count is a write of the API server's, twice.
const tellEvery = 30 * time.Second

// Tells reports whether a status that counts so many cells is to be written anew, though nothing but that number has changed.
func (a Attempt) Tells(told int) bool { return tells(a.Slots(), told, a.CellsDone()) }

func tells(slots []timetable.Slot, told, done int) bool {
	if told < 0 || done <= told {
		return done != told // A trial has ended, or was lost.
	}
	var before time.Duration
	if told > 0 {
		before = slots[told-1].End
	}
	return slots[done-1].End-before >= tellEvery
}

// NextEnd is how long it is until the next cell ends, of an attempt that was started.
func (a Attempt) NextEnd() time.Duration {
	slots := a.Slots()
	if len(slots) == 0 {
		return a.End().Sub(a.Now)
	}
	n := min(a.CellsDone(), len(slots)-1)
	return a.Started.Add(slots[n].End).Sub(a.Now)
}

// Retried reports whether a failure is followed by another attempt: one of the infrastructure is, a few times. What has begun to measure is not
// measured again alone: its block is repeated as a whole, if it belongs to one. What has only waited for too long is always made anew.
func (a Attempt) Retried(f *Failure) bool {
	return f.Waited || f.Kind == Transient && a.lost() < plan.Attempts-1 && (f.Unstarted || a.follows || !a.Measuring())
}

// lost is how many attempts before this one have failed.
func (a Attempt) lost() int32 { return a.Number - 1 - a.Renewed }

// Needs is how long the members of an attempt have to live that starts now, until its files are stored where the store is there. They live longer by the
// patience of the run, which what they wait for may use up.
func (a Attempt) Needs() time.Duration { return timetable.End(a.Slots()) + AgentGrace + StoreDeadline }

// Outwaited is the failure of an attempt of which a member has waited for its start for longer than it lives, with what it needs. Nothing is lost with it.
func Outwaited(member string) *Failure {
	f := TransientFailure(v1alpha1.ReasonPodLost, "%s has waited so long for its start that it would not live until the end of the trial", member)
	f.Waited = true
	return f
}

// mostNames is how many names of a member may be taken by others.
const mostNames = 10

// NameTaken is the failure of an attempt of which a member cannot be made, because another has its name; nil if that may be its own, of which nothing has
// been heard yet. The member has another name in the next attempt; where that is taken again and again, something changes what is made.
func (a Attempt) NameTaken(member string, byAnother bool) *Failure {
	switch {
	case byAnother && a.Renewed < mostNames:
		f := TransientFailure(v1alpha1.ReasonPodRejected, "the name of %s is that of another, which is left alone", member)
		f.Waited = true
		return f
	case byAnother:
		return PermanentFailure(v1alpha1.ReasonPodRejected, "the name of %s is that of another, as %d before it were: see whether a webhook changes the owners of pods", member, mostNames)
	case a.PrepareLeft() < 0:
		return TransientFailure(v1alpha1.ReasonPodRejected, "%s is there, and the operator does not hear of it: see whether its labels were changed", member)
	}
	return nil
}

// Note returns a sentence about why the attempt was given up.
func (a Attempt) Note(f *Failure) string {
	return fmt.Sprintf("attempt %d: %s: %s", a.Number, f.Reason, f.Message)
}
