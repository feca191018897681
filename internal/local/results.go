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

// quietEnough is how long before a measured time a process on a generator's CPUs must stop reading.
const quietEnough = 500 * time.Millisecond

// tellFinished reports the results of cells that ended since the last call, from the tools' output. Unreadable ones are reported with the
// trial.
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

// mayRead reports whether reading costs no generator measured time: this process has its own CPUs, or the next cell is warming up.
func (a *attempt) mayRead(next timetable.Slot) bool {
	return a.seats.Apart() || a.Now.Add(quietEnough).Before(a.Started.Add(next.Measure))
}

// readCell reads all generators' output of a cell; false if it is incomplete.
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
