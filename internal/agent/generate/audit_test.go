package generate

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

func TestHowManyAnswersAreAudited(t *testing.T) {
	for name, tc := range map[string]struct {
		cell     record.Cell
		searched int32
		want     int
	}{
		"one a second":                      {cell: record.Cell{DurationSeconds: 10}, want: 10},
		"two at least":                      {cell: record.Cell{DurationSeconds: 1}, want: 2},
		"a thousandth of a low rate":        {cell: record.Cell{DurationSeconds: 10, RequestsPerSecond: 300}, want: 3},
		"one of a very low rate":            {cell: record.Cell{DurationSeconds: 10, RequestsPerSecond: 5}, want: 1},
		"one a second at a high rate":       {cell: record.Cell{DurationSeconds: 10, RequestsPerSecond: 50_000}, want: 10},
		"a thousandth of the rate searched": {cell: record.Cell{DurationSeconds: 10}, searched: 200, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := audits(tc.cell, tc.searched); got != tc.want {
				t.Errorf("audits() = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestWhenAnswersAreAudited(t *testing.T) {
	from := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	cell := record.Cell{Load: "sweep", Connections: 10}
	draw := func(trial string) []time.Time { return instants(chance(trial, cell), 5, from, from.Add(5*time.Second)) }
	got := draw("a")
	for i, at := range got {
		if begin := from.Add(time.Duration(i) * time.Second); at.Before(begin) || !at.Before(begin.Add(time.Second)) {
			t.Errorf("instant %d is %v, outside of its second", i, at)
		}
	}
	if diff := cmp.Diff(got, draw("a")); diff != "" || len(got) != 5 {
		t.Errorf("the same trial has others the second time (-first +second):\n%s", diff)
	}
	if cmp.Equal(got, draw("b")) {
		t.Error("another trial has the same instants")
	}
	if late := instants(chance("a", cell), 5, from, from.Add(-time.Second)); late != nil {
		t.Errorf("a time that is over has the instants %v", late)
	}
}

func TestOpening(t *testing.T) {
	proc := kernel.Proc(kerneltest.Proc(t, nil))
	n, err := kernel.OpenNetwork(proc.Path(7, "net"))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if at := probeConnections(t.Context(), n, 5).end(); at != nil {
		t.Errorf("a connection was seen at %v where none was opened", at)
	}
	began := time.Now()
	kerneltest.Rewrite(t, string(proc), map[string]string{"7/net/snmp": kerneltest.SNMP(6, 0, 0, 0)})
	at := probeConnections(t.Context(), n, 5).end()
	if at == nil || at.Before(began) || time.Since(*at) < 0 {
		t.Errorf("the first connection was seen at %v", at)
	}
	kerneltest.Rewrite(t, string(proc), map[string]string{"7/net/snmp": fmt.Sprintln("Tcp:")})
	if at := probeConnections(t.Context(), n, 5).end(); at != nil {
		t.Errorf("a connection was seen at %v where nothing can be read", at)
	}
}
