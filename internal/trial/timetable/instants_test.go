package timetable_test

import (
	"fmt"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func TestATimetableEndsWithItsLastSlot(t *testing.T) {
	one := record.Cell{Tool: record.ToolWrk, Connections: 1, DurationSeconds: 3}
	for name, cells := range map[string][]record.Cell{
		"no cell":    nil,
		"one cell":   {one},
		"some cells": {one, {Tool: record.ToolK6, Connections: 50, WarmupSeconds: 1, DurationSeconds: 4}, one},
	} {
		t.Run(name, func(t *testing.T) {
			slots := timetable.Of(cells)
			var want time.Duration
			if len(slots) > 0 {
				want = slots[len(slots)-1].End
			}
			if got := timetable.End(slots); got != want || len(slots) != len(cells) {
				t.Errorf("%d slots end at %s, want %d that end at %s", len(slots), got, len(cells), want)
			}
		})
	}
}

// For any cells, instants are in order and slots do not overlap.
func TestTheInstantsOfATimetableFollowEachOther(t *testing.T) {
	for _, tool := range []record.Tool{record.ToolWrk, record.ToolAb, record.ToolK6} {
		for _, order := range []record.Order{"", record.OrderBlocks, record.OrderSlicedDuet} {
			t.Run(fmt.Sprintf("%s in the order %q", tool, order), func(t *testing.T) {
				var cells []record.Cell
				for _, connections := range []int32{1, 100, 10_000} {
					for _, warmup := range []int32{0, 1, 30} {
						cells = append(cells, record.Cell{Tool: tool, Connections: connections, WarmupSeconds: warmup, DurationSeconds: 2, Order: order, Generators: 2})
					}
				}
				var at time.Duration
				for i, s := range timetable.Of(cells) {
					c, servers := cells[i], time.Duration(timetable.Servers(cells[i]))
					if s.Warmup != at || s.Measure < s.Warmup || s.Measured-s.Measure != servers*2*time.Second || s.End <= s.Measured {
						t.Errorf("slot %d after %s is %+v", i, at, s)
					}
					if warmup := s.Measure - s.Warmup; (c.WarmupSeconds > 0) != (warmup > 0) || warmup < servers*time.Duration(c.WarmupSeconds)*time.Second {
						t.Errorf("slot %d warms up for %s, want %d s of each server", i, warmup, c.WarmupSeconds)
					}
					if gap := s.End - s.Measured; gap != servers*tools.Needs(timetable.Share(c, 0)).Gap {
						t.Errorf("slot %d leaves %s at its end", i, gap)
					}
					at = s.End
				}
			})
		}
	}
}

func TestSocketsAreReadBeforeAToolClosesThem(t *testing.T) {
	for _, connections := range []int32{1, 100, 10_000} {
		slots := timetable.Of([]record.Cell{
			{Tool: record.ToolWrk, Connections: 1, DurationSeconds: 1}, {Tool: record.ToolWrk, Connections: connections, DurationSeconds: 2},
		})
		at, s := slots[1].SocketsAt(), slots[1]
		if at <= s.Measure || at > s.Measured-timetable.SocketsLead {
			t.Errorf("%d connections are read at %s, measured from %s to %s", connections, at, s.Measure, s.Measured)
		}
		// Reading one takes 1.5 µs.
		if enough := s.Measured - time.Duration(connections)*1500*time.Nanosecond; at > enough {
			t.Errorf("%d connections are read at %s, which leaves too little time before %s", connections, at, s.Measured)
		}
	}
}

func TestOnlyASlicedDuetHasTwoServers(t *testing.T) {
	for order, want := range map[record.Order]int{"": 1, record.OrderBlocks: 1, record.OrderSlicedDuet: 2} {
		c := record.Cell{Order: order}
		if timetable.Servers(c) != want || timetable.IsDuet(c) != (want == 2) {
			t.Errorf("%q has %d servers, a duet: %v; want %d", order, timetable.Servers(c), timetable.IsDuet(c), want)
		}
	}
}

// The generators' shares sum to the cell, even if it does not divide.
func TestTheSharesOfACellAddUpToIt(t *testing.T) {
	for _, generators := range []int32{1, 2, 3, 7, 16} {
		for _, whole := range []int32{0, 1, 2, 15, 16, 17, 1000} {
			c := record.Cell{Load: "a", Tool: record.ToolK6, Connections: whole, RequestsPerSecond: 3 * whole, RampToRequestsPerSecond: 5 * whole, Generators: generators, Threads: 4}
			var connections, rate, ramp int32
			for g := range int32(record.MaxGenerators) {
				s := timetable.Share(c, g)
				connections, rate, ramp = connections+s.Connections, rate+s.RequestsPerSecond, ramp+s.RampToRequestsPerSecond
				if first := timetable.Share(c, 0).Connections; s.Connections > first || g < generators && first-s.Connections > 1 {
					t.Errorf("generator %d of %d holds %d of %d connections, the first %d", g, generators, s.Connections, whole, first)
				}
				if s.Load != c.Load || s.Tool != c.Tool || s.Threads != c.Threads || s.Generators != c.Generators {
					t.Errorf("a share of %+v is %+v", c, s)
				}
			}
			if connections != c.Connections || rate != c.RequestsPerSecond || ramp != c.RampToRequestsPerSecond {
				t.Errorf("%d generators make %d connections, %d and %d requests/s of %+v", generators, connections, rate, ramp, c)
			}
		}
	}
}

func TestFilesAreNamedAfterTheirCellAndServer(t *testing.T) {
	for name, tc := range map[string]struct {
		cell   record.Cell
		server int
		want   string
	}{
		"a closed level":            {record.Cell{Load: "sweep", Tool: record.ToolWrk, Connections: 100}, 0, "sweep-100.wrk.txt"},
		"an imposed rate":           {record.Cell{Load: "open", Tool: record.ToolK6, Connections: 5, RequestsPerSecond: 20}, 0, "open-5-r20.k6.txt"},
		"a step of a search":        {record.Cell{Load: "find", Tool: record.ToolK6, Connections: 5, Step: 2}, 0, "find-5-s2.k6.txt"},
		"the second server":         {record.Cell{Load: "sweep", Tool: record.ToolWrk, Connections: 1}, 1, "sweep-1.server-1.wrk.txt"},
		"a level of another tool":   {record.Cell{Load: "sweep", Tool: record.ToolAb, Connections: 1}, 0, "sweep-1.ab.txt"},
		"a load named like another": {record.Cell{Load: "sweep-1", Tool: record.ToolAb, Connections: 1}, 0, "sweep-1-1.ab.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := timetable.RawFile(tc.cell, tc.server); got != tc.want {
				t.Errorf("the file is %s, want %s", got, tc.want)
			}
		})
	}
}
