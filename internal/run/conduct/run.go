package conduct

import (
	"slices"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

// Run holds the facts of a run at one instant.
type Run struct {
	// Name prefixes the names of its trials.
	Name    string
	Plan    plan.Plan
	Interim Interim
	Scan    Scan
	// Trials are those that were begun.
	Trials Trials
	// Started is when its turn came; zero before.
	Started time.Time
	// Absence is the time since then without anyone to lead it.
	Absence Absence
	// Waiting is since when it has waited for its store without a break; zero if it does not.
	Waiting time.Time
	// Kept is how long its objects are kept after its end; the report waits for the store at least as long.
	Kept time.Duration
	Now  time.Time
}

// Act is the next action of a run.
type Act int

const (
	// ActMeasure means to wait for running trials.
	ActMeasure Act = iota
	// ActBegin means to create trials.
	ActBegin
	// ActAnalyse: the interim analysis is due.
	ActAnalyse
	// ActScan: a scan for disturbed cells is due.
	ActScan
	// ActReport: everything needed has ended.
	ActReport
	// ActEnd: the run is over without a report.
	ActEnd
)

// Step is the next action of a run, with its object.
type Step struct {
	Act Act
	// Trials are those to begin.
	Trials []record.PlannedTrial
	// Block is where the interim analysis is made.
	Block  int32
	Ending *Ending
}

// Next decides what a started run does next.
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

// Executed reports whether every needed trial has ended and no other can become needed. Once the time is over, only
// planned trials are needed.
func (r Run) Executed() bool {
	return r.overdue() || len(r.Trials) == len(r.Needed()) && r.Trials.allEnded() && !r.scanDue()
}

// Deadline returns when the run's time is over. Time without anyone to lead it does not count.
func (r Run) Deadline() time.Time {
	return r.Started.Add(time.Duration(r.Plan.TimeoutSeconds)*time.Second + r.Absence.Sum)
}

// overdue reports whether the time is over and every planned trial has ended. Open repeat blocks and trials after the
// blocks are given up.
func (r Run) overdue() bool { return !r.Started.IsZero() && r.Now.After(r.Deadline()) && r.planEnded() }

func (r Run) planEnded() bool {
	ended := make(map[string]bool, len(r.Trials))
	for i := range r.Trials {
		ended[r.Trials[i].Name] = r.Trials[i].ended()
	}
	return !slices.ContainsFunc(r.Plan.Trials, func(t record.PlannedTrial) bool { return !ended[t.Name] })
}

func (r Run) missing(needed []record.PlannedTrial) []record.PlannedTrial {
	begun := make(map[string]bool, len(r.Trials))
	for i := range r.Trials {
		begun[r.Trials[i].Name] = true
	}
	return slices.DeleteFunc(needed, func(t record.PlannedTrial) bool { return begun[t.Name] })
}

// Progress counts measured and planned cells.
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

// Tells reports whether a status with this count must be rewritten for a new count alone: long after the last reported cell, or when a cell was lost.
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

// Left returns about how long the run will take: the plan of open trials, minus what the current one has measured.
// For work that ends by itself, real times replace the planned maximum as soon as there are any.
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
