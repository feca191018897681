package conduct

import (
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

// Run is what is known of a run at one instant.
type Run struct {
	// Name is the run's, from which its trials have theirs.
	Name string
	// Plan is what its spec was compiled into.
	Plan plan.Plan
	// Interim is what it knows of its interim analyses.
	Interim Interim
	// Scan is what the last scan for disturbed cells has found.
	Scan Scan
	// Trials are those that were begun.
	Trials Trials
	// Started is when its turn came; zero before.
	Started time.Time
	// Absence is the time since then in which nobody could lead it.
	Absence Absence
	// Waiting is since when the run has waited for its store without a break; zero if it does not.
	Waiting time.Time
	// Kept is how long what was made for it is kept after its end: its store is waited for at least as long with a report.
	Kept time.Duration
	// Now is the instant of the question.
	Now time.Time
}

// Act is what a run has to do next.
type Act int

const (
	// ActMeasure means that trials go on: there is nothing to do but to wait for them.
	ActMeasure Act = iota
	// ActBegin means that trials are to be made.
	ActBegin
	// ActAnalyse means that the interim analysis is due.
	ActAnalyse
	// ActScan means that what was measured is to be scanned for disturbed cells.
	ActScan
	// ActReport means that everything that is needed has ended.
	ActReport
	// ActEnd means that the run is over without a report.
	ActEnd
)

// Step is what a run has to do next, and with what.
type Step struct {
	Act Act
	// Trials are those to begin.
	Trials []record.PlannedTrial
	// Block is that after which the interim analysis is made.
	Block int32
	// Ending is why the run ends.
	Ending *Ending
}

// Next decides what a run does next whose turn has come.
func (r Run) Next() Step {
	if end := r.TimedOut(); end != nil {
		return Step{Act: ActEnd, Ending: end}
	}
	if r.overdue() {
		return Step{Act: ActReport}
	}
	if needed := r.Needed(); len(needed) != len(r.Trials) {
		return Step{Act: ActBegin, Trials: r.missing(needed)}
	}
	if block := r.interimDue(); block > 0 {
		return Step{Act: ActAnalyse, Block: block}
	}
	switch {
	case r.scanDue():
		return Step{Act: ActScan}
	case r.Trials.allEnded():
		return Step{Act: ActReport}
	}
	return Step{Act: ActMeasure}
}

// Executed reports whether every trial that is needed has ended, and nothing is known that would ask for another. Once the time of the run is
// over, the planned ones are all that is needed.
func (r Run) Executed() bool {
	return r.overdue() || len(r.Trials) == len(r.Needed()) && r.Trials.allEnded() && !r.scanDue()
}

// Deadline is when a run whose turn has come has used up its time, of which the time in which nobody led it is no part.
func (r Run) Deadline() time.Time {
	return r.Started.Add(time.Duration(r.Plan.TimeoutSeconds)*time.Second + r.Absence.Sum)
}

// overdue reports whether the time of a run is over of which every planned trial has ended. What is open of a repeat block,
// or of what follows the blocks, is given up.
func (r Run) overdue() bool { return !r.Started.IsZero() && r.Now.After(r.Deadline()) && r.planEnded() }

// planEnded reports whether every planned trial has ended.
func (r Run) planEnded() bool {
	ended := make(map[string]bool, len(r.Trials))
	for i := range r.Trials {
		ended[r.Trials[i].Name] = r.Trials[i].ended()
	}
	return !slices.ContainsFunc(r.Plan.Trials, func(t record.PlannedTrial) bool { return !ended[t.Name] })
}

// missing are the needed trials that were not begun.
func (r Run) missing(needed []record.PlannedTrial) []record.PlannedTrial {
	begun := make(map[string]bool, len(r.Trials))
	for i := range r.Trials {
		begun[r.Trials[i].Name] = true
	}
	return slices.DeleteFunc(needed, func(t record.PlannedTrial) bool { return begun[t.Name] })
}

// Progress counts cells: those measured, and those planned.
func (r Run) Progress() (done, all int) {
	for i := range r.Trials {
		t := &r.Trials[i]
		slots := t.Work.Slots()
		all += len(slots)
		switch {
		case t.Stored != nil:
			done += len(slots)
		case !t.Started.IsZero() && !t.ended():
			done += cellsDone(slots, t.Started, r.Now)
		}
	}
	for _, line := range r.missing(r.Needed()) {
		all += len(r.Plan.Slots(line))
	}
	return done, all
}

// Tells reports whether a status that counts so many cells is to be written anew, though nothing but that number has changed: when the last of them has
// ended long enough after the last one that was told, or one was lost.
func (r Run) Tells(told int) bool {
	var began time.Time
	var ends []time.Time
	for i := range r.Trials {
		t := &r.Trials[i]
		slots := t.Work.Slots()
		if t.Stored == nil && (t.Started.IsZero() || t.ended()) {
			continue
		}
		if t.Stored == nil {
			slots = slots[:cellsDone(slots, t.Started, r.Now)]
		}
		for _, slot := range slots {
			end := t.Started.Add(slot.End)
			if t.Stored != nil && (t.Started.IsZero() || end.After(t.Ended)) {
				end = t.Ended
			}
			ends = append(ends, end)
		}
		if began.IsZero() || t.Started.Before(began) {
			began = t.Started
		}
	}
	if told < 0 || len(ends) <= told {
		return len(ends) != told
	}
	slices.SortFunc(ends, time.Time.Compare)
	if told > 0 {
		began = ends[told-1]
	}
	return ends[len(ends)-1].Sub(began) >= tellEvery
}

// Left is about how long the run will still take: what is planned for the trials that have not ended, less the time that the current one has
// been measuring. Of work that ends by itself only the longest time is planned, so that what its trials have taken counts as soon as there are any.
func (r Run) Left() time.Duration {
	open, following := 0, len(r.Plan.Following)
	for _, line := range r.Needed() {
		if !line.Follows() {
			open++
		}
	}
	var spent, taken time.Duration
	stored := 0
	for i := range r.Trials {
		switch t := &r.Trials[i]; {
		case t.Follows():
			if t.ended() {
				following--
			}
		case t.ended():
			open--
			if t.Stored != nil && t.Work.EndsItself() {
				stored, taken = stored+1, taken+t.Ended.Sub(t.Started)
			}
		case !t.Started.IsZero():
			spent = max(spent, r.Now.Sub(t.Started))
		}
	}
	left := r.Plan.Estimate(open)
	if stored > 0 {
		left = time.Duration(open) * (taken/time.Duration(stored) + r.Plan.Overhead())
	}
	if open > 0 {
		spent = min(spent, left/time.Duration(open)) // The trials after the current one take their own time.
	}
	return (max(left-spent, 0) + time.Duration(following)*plan.FollowingEstimate).Round(time.Second)
}
