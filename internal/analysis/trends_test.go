package analysis_test

import (
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record/recordtest"
)

func TestACellHasTheAgeOfItsProcess(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(5))
	for _, trial := range d.Trials {
		for k := range trial.Servers[0].Cells {
			seen := &trial.Servers[0].Cells[k]
			seen.Started, seen.Ended = seen.Started.Add(time.Duration(7*k)*time.Second), seen.Ended.Add(time.Duration(7*k)*time.Second)
		}
	}
	got := analyse(t, d)
	ages := map[int32]float64{}
	for _, g := range got.Groups {
		for _, c := range g.Cells {
			ages[g.Connections] = c.AgeSeconds
		}
	}
	if ages[10] != 0 || ages[100] != 7 || ages[500] != 14 || ages[1000] != 21 {
		t.Errorf("the ages by level are %v: want 7 s from one to the next", ages)
	}
	if r := got.Trends; r.LevelOrders != 1 || r.Mirrored || r.OverRun == nil || len(r.WithAge) != 0 {
		t.Errorf("an older run with one order has the trends %+v", r)
	}
	for _, trial := range d.Trials {
		if trial.Manifest.Block > 2 {
			continue
		}
		cells, seen := trial.Manifest.Cells, trial.Servers[0].Cells
		cells[0], cells[1] = cells[1], cells[0]
		seen[0].Started, seen[1].Started = seen[1].Started, seen[0].Started
	}
	if r := analyse(t, d).Trends; r.LevelOrders != 2 || len(r.WithAge) != 3 {
		t.Errorf("a run with two orders has the trends %+v", r)
	}
}
