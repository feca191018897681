package protocol

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestTimetableLeavesGapsAndNothingElse(t *testing.T) {
	warm, none := int32(2), int32(0)
	cells := []v1alpha1.Cell{
		{Load: "a", Connections: 1, WarmupSeconds: &warm, DurationSeconds: 10},
		{Load: "a", Connections: 2, WarmupSeconds: &none, DurationSeconds: 1},
		{Load: "a", Connections: 3, DurationSeconds: 1},
	}
	first := 2*time.Second + WarmupGap + 10*time.Second + CellGap
	want := []Slot{
		{Cell: cells[0], Warmup: 0, Measure: 2*time.Second + WarmupGap, End: first},
		{Cell: cells[1], Warmup: first, Measure: first, End: first + time.Second + CellGap},
		{Cell: cells[2], Warmup: first + time.Second + CellGap, Measure: first + time.Second + CellGap, End: first + 2*(time.Second+CellGap)},
	}
	if diff := cmp.Diff(want, Timetable(cells)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if dead := WarmupGap + CellGap; dead > 300*time.Millisecond {
		t.Errorf("%s are lost between cells, the aim is at most 0.3 s", dead)
	}
}

func TestShareGivesAwayEverythingOnce(t *testing.T) {
	tests := map[string]struct {
		cell v1alpha1.Cell
		want []int32
	}{
		"one generator of three":         {v1alpha1.Cell{Connections: 10, Generators: 1}, []int32{10, 0, 0}},
		"all of three":                   {v1alpha1.Cell{Connections: 10, Generators: 3}, []int32{4, 3, 3}},
		"a cell that does not say":       {v1alpha1.Cell{Connections: 10}, []int32{10, 0, 0}},
		"fewer connections than for all": {v1alpha1.Cell{Connections: 2, Generators: 3}, []int32{1, 1, 0}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.cell.RequestsPerSecond, tc.cell.RampToRequestsPerSecond = tc.cell.Connections, tc.cell.Connections
			for i, want := range tc.want {
				got := Share(tc.cell, int32(i))
				if got.Connections != want || got.RequestsPerSecond != want || got.RampToRequestsPerSecond != want {
					t.Errorf("generator %d makes %+v, want %d of each", i, got, want)
				}
			}
		})
	}
}

func TestADuetTakesTwiceTheTime(t *testing.T) {
	warm := int32(2)
	c := v1alpha1.Cell{Load: "a", Tool: v1alpha1.ToolWrk, Connections: 1, WarmupSeconds: &warm, DurationSeconds: 10, Order: v1alpha1.OrderSlicedDuet}
	measure := 4*time.Second + WarmupGap
	want := []Slot{{Cell: c, Measure: measure, End: measure + 20*time.Second + 2*CellGap}}
	if diff := cmp.Diff(want, Timetable([]v1alpha1.Cell{c})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if one, other := RawFile(c), RawFileBeside(c); one != "a-1.wrk.txt" || other != "a-1.beside.wrk.txt" {
		t.Errorf("the raw outputs are %s and %s", one, other)
	}
	if time.Second%DuetSlice != 0 {
		t.Errorf("a slice of %s does not divide a second: cells would not hold whole pairs", DuetSlice)
	}
}

func TestOpenObeysTheOperatorOnly(t *testing.T) {
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	order := Order{Trial: "t", Attempt: 2, Role: RoleGenerator(0), Check: &Check{Target: "10.0.0.1:80"}}
	tests := map[string]struct {
		sign    ed25519.PrivateKey
		change  func(*Envelope)
		trial   string
		attempt int32
		role    string
		want    string
	}{
		"an order of its own":             {sign: key, trial: "t", attempt: 2, role: RoleGenerator(0)},
		"an order of somebody else":       {sign: stranger, trial: "t", attempt: 2, role: RoleGenerator(0), want: ErrSignature.Error()},
		"an order changed on its way":     {sign: key, change: func(e *Envelope) { e.Order[len(e.Order)-3] ^= 1 }, trial: "t", attempt: 2, role: RoleGenerator(0), want: ErrSignature.Error()},
		"an order for another trial":      {sign: key, trial: "u", attempt: 2, role: RoleGenerator(0), want: "the order is for t attempt 2"},
		"an order for an earlier attempt": {sign: key, trial: "t", attempt: 3, role: RoleGenerator(0), want: "this agent is t attempt 3"},
		"an order for another role":       {sign: key, trial: "t", attempt: 2, role: RoleObserver, want: "this agent is t attempt 2 as server"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := Seal(tc.sign, order)
			if err != nil {
				t.Fatal(err)
			}
			if tc.change != nil {
				tc.change(&e)
			}
			got, err := Open(pub, e, tc.trial, tc.attempt, tc.role)
			if tc.want == "" {
				if diff := cmp.Diff(order, got); err != nil || diff != "" {
					t.Errorf("error %v, (-want +got):\n%s", err, diff)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := Open(nil, Envelope{}, "", 0, ""); !errors.Is(err, ErrSignature) {
		t.Errorf("an agent without a key obeys: %v", err)
	}
}
