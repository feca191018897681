package conduct

import (
	"slices"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

// Scan is what a scan for disturbed cells has found.
type Scan struct {
	// Blocks is how many blocks, the repeat blocks included, had been measured; 0 before the first scan.
	Blocks int32
	// Disturbed are those in which it found a cell that a cause outside the implementation has voided.
	Disturbed []int32
}

// Scanned is the scan that is made now, with what it has found.
func (r Run) Scanned(disturbed []int32) Scan {
	return Scan{Blocks: r.Plan.Blocks + r.Repeated(), Disturbed: disturbed}
}

// Needed are the trials that the run is known to need: the planned ones, those of the repeat blocks that have been begun, those of another repeat
// block if one is due, and, when no block is left to be measured, those that follow the blocks.
func (r Run) Needed() []record.PlannedTrial {
	needed := slices.Clone(r.Plan.Trials)
	begun := r.Repeated()
	for repeat := range begun {
		needed = append(needed, r.Plan.Repeat(r.Name, repeat+1)...)
	}
	switch {
	case r.Trials.follow():
		return append(needed, r.Plan.Following...)
	case len(r.Trials) < len(needed):
		return needed
	case r.repeatDue():
		if next := r.Plan.Repeat(r.Name, begun+1); r.hasTime(r.Plan.Estimate(len(next)) + time.Duration(len(r.Plan.Following))*plan.FollowingEstimate) {
			return append(needed, next...)
		}
	}
	if r.Trials.allEnded() && !r.scanDue() && r.hasTime(0) {
		return append(needed, r.Plan.Following...)
	}
	return needed
}

// hasTime reports whether something that takes so long would end before the run's time is over.
func (r Run) hasTime(takes time.Duration) bool {
	return !r.Started.IsZero() && r.Now.Add(takes).Before(r.Deadline())
}

// Part is the part of the run that is being led.
func (r Run) Part() plan.Part {
	if r.Trials.follow() {
		return plan.Part{Following: true}
	}
	return plan.Part{Repeat: r.Repeated()}
}

// repeatDue reports whether everything has ended, more blocks were disturbed than were repeated, and another may be.
func (r Run) repeatDue() bool {
	return r.Trials.allEnded() && int32(len(r.Disturbed())) > r.Repeated() && r.mayRepeat()
}

// mayRepeat is true while a disturbed block can still be repeated. A run that ended early has enough, and one whose time is over reports what
// it has.
func (r Run) mayRepeat() bool {
	return r.Interim.Stopped == 0 && r.Repeated() < plan.RepeatBlocks(r.Plan.Blocks) && !r.Now.After(r.Deadline())
}

// Repeated is the number of repeat blocks that have been begun.
func (r Run) Repeated() int32 { return Repeats(r.Plan.Blocks, r.Trials.lastBlock()) }

// Repeats is how many repeat blocks there are up to a block of a run with so many planned ones.
func Repeats(planned, last int32) int32 { return max(last-planned, 0) }

// Disturbed are the blocks in which the infrastructure failed a trial or voided a cell, in order.
func (r Run) Disturbed() []int32 {
	blocks := slices.Clone(r.Scan.Disturbed)
	for i := range r.Trials {
		if r.Trials[i].lost() && !r.Trials[i].Follows() {
			blocks = append(blocks, r.Trials[i].Block)
		}
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}

// scanDue reports whether cells have to be scanned for disturbance now: everything that is known to be needed has ended, and a disturbed block
// can still be repeated.
func (r Run) scanDue() bool {
	repeated := r.Repeated()
	return r.mayRepeat() && r.Scan.Blocks < r.Plan.Blocks+repeated && int32(len(r.Disturbed())) <= repeated && r.Trials.allEnded()
}

// Failed are the trials of blocks that ended without a manifest, in order, less the lost ones where blocks enough are without any.
func (r Run) Failed() Trials {
	enough := r.enough()
	return slices.DeleteFunc(slices.Clone(r.Trials.inOrder()), func(t Trial) bool {
		return t.Follows() || !t.failed() || v1alpha1.OriginOf(t.Reason) == v1alpha1.OriginNone || enough && t.lost()
	})
}

// enough reports whether as many blocks have lost no trial as a verdict asks for, or as the run was to measure, if those are fewer.
func (r Run) enough() bool {
	wanted := r.Plan.Blocks
	if r.Interim.Stopped > 0 {
		wanted = r.Interim.Stopped
	}
	begun, lacking := map[int32]bool{}, map[int32]bool{}
	for i := range r.Trials {
		t := &r.Trials[i]
		if t.Follows() {
			continue
		}
		begun[t.Block] = true
		if t.lost() || t.notNeeded() {
			lacking[t.Block] = true
		}
	}
	return len(begun)-len(lacking) >= int(min(wanted, verdict.MinBlocks))
}

// SharedCPU is the CPU on which both servers of a duet are put: the highest on which both may run, since the first does the housekeeping of
// most machines, but none that a generator on the same machine may use if there is another. It is nil if there is none. Every argument is the
// kernel's list of the CPUs on which a process may run; generators are those on the servers' machine.
func SharedCPU(first, second string, generators []string) *int32 {
	both := common(first, second)
	if len(both) == 0 {
		return nil
	}
	free := slices.DeleteFunc(slices.Clone(both), func(cpu int) bool {
		return slices.ContainsFunc(generators, func(list string) bool { return slices.Contains(util.ParseCPUs(list), cpu) })
	})
	if len(free) > 0 {
		both = free
	}
	highest := int32(slices.Max(both))
	return &highest
}

// common are the CPUs of both lists.
func common(first, second string) []int {
	other := util.ParseCPUs(second)
	return slices.DeleteFunc(util.ParseCPUs(first), func(cpu int) bool { return !slices.Contains(other, cpu) })
}
