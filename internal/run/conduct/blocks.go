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

// Scan is the result of a scan for disturbed cells.
type Scan struct {
	// Blocks counts the measured blocks, with repeats; 0 before the first scan.
	Blocks int32
	// Disturbed blocks have a cell that outside causes voided.
	Disturbed []int32
}

// Scanned returns the scan made now, with its result.
func (r Run) Scanned(disturbed []int32) Scan {
	return Scan{Blocks: r.Plan.Blocks + r.Repeated(), Disturbed: disturbed}
}

// Needed returns the trials that the run is known to need: planned ones, repeat blocks begun or due, and, once no
// block is left, those after the blocks.
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

func (r Run) hasTime(takes time.Duration) bool {
	return !r.Started.IsZero() && r.Now.Add(takes).Before(r.Deadline())
}

// Part returns the part of the run in progress.
func (r Run) Part() plan.Part {
	if r.Trials.follow() {
		return plan.Part{Following: true}
	}
	return plan.Part{Repeat: r.Repeated()}
}

func (r Run) repeatDue() bool {
	return r.Trials.allEnded() && int32(len(r.Disturbed())) > r.Repeated() && r.mayRepeat()
}

// mayRepeat reports whether a disturbed block can still be repeated. A run that ended early has enough; one out of
// time reports its partial results.
func (r Run) mayRepeat() bool {
	return r.Interim.Stopped == 0 && r.Repeated() < plan.RepeatBlocks(r.Plan.Blocks) && !r.Now.After(r.Deadline())
}

// Repeated counts the repeat blocks begun.
func (r Run) Repeated() int32 { return Repeats(r.Plan.Blocks, r.Trials.lastBlock()) }

// Repeats counts the repeat blocks up to block last.
func Repeats(planned, last int32) int32 { return max(last-planned, 0) }

// Disturbed returns, in order, the blocks with a trial or cell lost to the infrastructure.
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

// scanDue reports whether cells must be scanned now: all needed trials have ended, and a disturbed block can still be
// repeated.
func (r Run) scanDue() bool {
	repeated := r.Repeated()
	return r.mayRepeat() && r.Scan.Blocks < r.Plan.Blocks+repeated && int32(len(r.Disturbed())) <= repeated && r.Trials.allEnded()
}

// Failed returns, in order, the trials of blocks without a manifest. Lost ones are left out if enough blocks have
// none.
func (r Run) Failed() Trials {
	enough := r.enough()
	return slices.DeleteFunc(slices.Clone(r.Trials.inOrder()), func(t Trial) bool {
		return t.Follows() || !t.failed() || v1alpha1.OriginOf(t.Reason) == v1alpha1.OriginNone || enough && t.lost()
	})
}

// enough reports whether as many blocks lost no trial as a verdict needs, or as the run had, if fewer.
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

// SharedCPU returns the CPU for both servers of a duet: the highest that both may use, since the first does most machines' housekeeping. It avoids
// CPUs of generators on the same machine if possible. Nil if there is none. Arguments are the kernel's CPU lists.
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

func common(first, second string) []int {
	other := util.ParseCPUs(second)
	return slices.DeleteFunc(util.ParseCPUs(first), func(cpu int) bool { return !slices.Contains(other, cpu) })
}
