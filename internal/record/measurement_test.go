package record_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

func TestThePointOfACellIsWhatTellsItFromTheOthers(t *testing.T) {
	for name, tc := range map[string]struct {
		cell record.Cell
		want record.Point
		name string
	}{
		"a closed level":      {record.Cell{Load: "sweep", Connections: 100, Threads: 2}, record.Point{Load: "sweep", Connections: 100}, "sweep-100"},
		"an imposed rate":     {record.Cell{Load: "open", Connections: 50, RequestsPerSecond: 2000}, record.Point{Load: "open", Connections: 50, RequestsPerSecond: 2000}, "open-50-r2000"},
		"a ramp by its start": {record.Cell{Load: "open", Connections: 50, RequestsPerSecond: 10, RampToRequestsPerSecond: 90}, record.Point{Load: "open", Connections: 50, RequestsPerSecond: 10}, "open-50-r10"},
		"a step of a search":  {record.Cell{Load: "find", Connections: 8, Step: 3}, record.Point{Load: "find", Connections: 8, Step: 3}, "find-8-s3"},
		"a step at its rate":  {record.Cell{Load: "find", Connections: 8, RequestsPerSecond: 400, Step: 12}, record.Point{Load: "find", Connections: 8, RequestsPerSecond: 400, Step: 12}, "find-8-r400-s12"},
		"a load with a dash":  {record.Cell{Load: "a-1", Connections: 2}, record.Point{Load: "a-1", Connections: 2}, "a-1-2"},
	} {
		t.Run(name, func(t *testing.T) {
			got := record.PointOf(tc.cell)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Name() != tc.name {
				t.Errorf("it is named %s, want %s", got.Name(), tc.name)
			}
		})
	}
}

// Names become file names, so they must be unique in a run.
func TestTwoPointsOfOneLoadHaveTwoNames(t *testing.T) {
	seen := map[string]record.Point{}
	for _, connections := range []int32{1, 11, 111} {
		for _, rate := range []int32{0, 1, 11, 111} {
			for _, step := range []int32{0, 1, 11} {
				p := record.Point{Load: "sweep", Connections: connections, RequestsPerSecond: rate, Step: step}
				if other, ok := seen[p.Name()]; ok {
					t.Errorf("%+v and %+v are both %s", other, p, p.Name())
				}
				seen[p.Name()] = p
			}
		}
	}
}

// A kind that the sum forgets would let a cell with errors pass.
func TestTheSumOfErrorsCountsEveryKind(t *testing.T) {
	var all record.Errors
	v := reflect.ValueOf(&all).Elem()
	var want int64
	for i := range v.NumField() {
		n := int64(1) << i
		v.Field(i).SetInt(n)
		want += n
	}
	if got := all.Sum(); got != want {
		t.Errorf("%+v add up to %b, want %b", all, got, want)
	}
	if got := (record.Errors{}).Sum(); got != 0 {
		t.Errorf("no errors add up to %d", got)
	}
}

// Another version reads a record years later: a meaningful zero must be written.
func TestWhatWasReadAsZeroIsNotWhatWasNotRead(t *testing.T) {
	zero := int64(0)
	for name, tc := range map[string]struct {
		sockets record.Sockets
		want    *int64
	}{
		"no connection hung":       {record.Sockets{Hung: &zero}, &zero},
		"hanging ones not counted": {record.Sockets{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(tc.sockets)
			if err != nil {
				t.Fatal(err)
			}
			var got record.Sockets
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Hung); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		})
	}
}
