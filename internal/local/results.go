package local

import (
	"os"
	"path/filepath"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// quietEnough is how long before a measured time nothing may be read any more by a process that shares its CPUs with a generator.
const quietEnough = 500 * time.Millisecond

// tellFinished tells what the cells have found that have ended since it was called last, as the tools have printed it. What cannot be read yet
// is told with the trial.
func (a *attempt) tellFinished() {
	slots, done := a.Slots(), a.CellsDone()
	if len(a.Work.Servers()) > 1 || done < len(slots) && !a.mayRead(slots[done]) {
		return
	}
	var found []progress.Result
	for ; a.told < done; a.told++ {
		if r, ok := a.readCell(slots[a.told].Cell); ok {
			found = append(found, r)
		}
	}
	if len(found) > 0 {
		a.tell(progress.Event{Kind: progress.EventFinished, Trial: &a.trial.PlannedTrial, Results: found})
	}
}

// mayRead reports whether reading costs no generator a part of a measured time: this process has CPUs of its own, or the next cell warms up.
func (a *attempt) mayRead(next timetable.Slot) bool {
	return a.seats.Apart() || a.Now.Add(quietEnough).Before(a.Started.Add(next.Measure))
}

// readCell reads what the tools of all generators have printed of a cell. It is false if that is not whole.
func (a *attempt) readCell(c record.Cell) (progress.Result, bool) {
	t := tools.All("")[c.Tool]
	var runs []record.CellRun
	for _, g := range a.team.generators() {
		raw, err := os.ReadFile(filepath.Join(g.dir, timetable.RawFile(c, 0)))
		if err != nil || t == nil {
			return progress.Result{}, false
		}
		m, err := t.Parse(raw)
		if err != nil {
			return progress.Result{}, false
		}
		runs = append(runs, record.CellRun{Point: record.PointOf(c), Measurement: &m})
	}
	return progress.ResultOf(timetable.CellName(c), runs), len(runs) > 0
}
