package timetable_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func TestATimetableLeavesGapsAndNothingElse(t *testing.T) {
	cells := []record.Cell{
		{Load: "a", Tool: record.ToolWrk, Connections: 1, WarmupSeconds: 2, DurationSeconds: 10},
		{Load: "a", Tool: record.ToolWrk, Connections: 2, DurationSeconds: 1},
		{Load: "a", Tool: record.ToolWrk, Connections: 3, DurationSeconds: 1},
	}
	first := 2*time.Second + timetable.WarmupGap + 10*time.Second + tool.LeastGap
	second := first + time.Second + tool.LeastGap
	want := []timetable.Slot{
		{Cell: cells[0], Warmup: 0, Measure: 2*time.Second + timetable.WarmupGap, Measured: first - tool.LeastGap, End: first},
		{Cell: cells[1], Warmup: first, Measure: first, Measured: first + time.Second, End: first + time.Second + tool.LeastGap},
		{
			Cell: cells[2], Warmup: second, Measure: second, Measured: second + time.Second, End: second + time.Second + tool.LeastGap,
		},
	}
	if diff := cmp.Diff(want, timetable.Of(cells)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if dead := timetable.WarmupGap + tool.LeastGap; dead > 300*time.Millisecond {
		t.Errorf("%s are lost between cells, the aim is at most 0.3 s", dead)
	}
}

func TestShareGivesAwayEverythingOnce(t *testing.T) {
	tests := map[string]struct {
		cell record.Cell
		want []int32
	}{
		"one generator of three":         {record.Cell{Connections: 10, Generators: 1}, []int32{10, 0, 0}},
		"all of three":                   {record.Cell{Connections: 10, Generators: 3}, []int32{4, 3, 3}},
		"fewer connections than for all": {record.Cell{Connections: 2, Generators: 3}, []int32{1, 1, 0}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.cell.RequestsPerSecond, tc.cell.RampToRequestsPerSecond = tc.cell.Connections, tc.cell.Connections
			for i, want := range tc.want {
				got := timetable.Share(tc.cell, int32(i))
				if got.Connections != want || got.RequestsPerSecond != want || got.RampToRequestsPerSecond != want {
					t.Errorf("generator %d makes %+v, want %d of each", i, got, want)
				}
			}
		})
	}
}

func TestADuetTakesTwiceTheTime(t *testing.T) {
	c := record.Cell{Load: "a", Tool: record.ToolWrk, Connections: 1, WarmupSeconds: 2, DurationSeconds: 10, Order: record.OrderSlicedDuet}
	measure := 4*time.Second + timetable.WarmupGap
	want := []timetable.Slot{{Cell: c, Measure: measure, Measured: measure + 20*time.Second, End: measure + 20*time.Second + 2*tool.LeastGap}}
	if diff := cmp.Diff(want, timetable.Of([]record.Cell{c})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if one, other := timetable.RawFile(c, 0), timetable.RawFile(c, 1); one != "a-1.wrk.txt" || other != "a-1.server-1.wrk.txt" {
		t.Errorf("the raw outputs are %s and %s", one, other)
	}
	if time.Second%timetable.DuetSlice != 0 {
		t.Errorf("a slice of %s does not divide a second: cells would not hold whole pairs", timetable.DuetSlice)
	}
}
