package generate

import (
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func TestSocketsAreOpenedForAToolOnlyIfThatIsCheap(t *testing.T) {
	const warmup = 2 * time.Second
	for name, tc := range map[string]struct {
		sockets, connections int64
		own                  time.Duration
		want                 string
	}{
		"few connections":            {65, 64, 1300 * time.Microsecond, ""},
		"many connections":           {1001, 1000, 20 * time.Millisecond, "opening 1005 for the tool costs 0.2% of the CPU time"},
		"connections that are short": {1064, 64, 20 * time.Millisecond, "opening 5064 for the tool costs 0.95% of the CPU time"},
		"a tool that never connects": {0, 64, 0, "the tool opened none in the warm-up"},
	} {
		t.Run(name, func(t *testing.T) {
			o, got := opening{sockets: tc.sockets, own: tc.own, cell: warmup}, ""
			if err := o.affordable(tc.connections, 5, openingShare); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
		})
	}
}

func TestALoadWhoseSocketsAreNotOpenedForItIsNamed(t *testing.T) {
	warm, short := cell(1, 1), cell(1, 1)
	warm.Connection, short.Connection = record.KeepAlive, ""
	cold := warm
	cold.WarmupSeconds = 0
	for name, tc := range map[string]struct {
		cell   record.Cell
		warmed opening
		want   string
	}{
		"one request per connection": {short, opening{}, "opening them for the tool costs too much, since each serves one request"},
		"no warm-up":                 {cold, opening{}, "without a warm-up, it is unknown what opening them for the tool costs"},
		"too many connections":       {warm, opening{sockets: 1, own: time.Second, cell: time.Second}, "opening 1 for the tool costs 1e+02% of the CPU time"},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(Config{Trial: testTrial, Dir: t.TempDir()}, nil, nil)
			g.duplicates = false
			r := &cellRun{slot: timetable.Slot{Cell: tc.cell}, share: tc.cell, tool: wrk.Tool{}, server: httpcheck.Server{Address: "127.0.0.1:1"}, warmed: tc.warmed}
			p, err := g.launch(t.Context(), r, []string{"true"}, tool.Measure, nil, nil, time.Now().Add(patience))
			if err != nil {
				t.Fatal(err)
			}
			found := g.beginSampling(p, r)()
			if err := p.wait(); err != nil || found != nil || p.handover != nil {
				t.Errorf("it is %+v, error %v", found, err)
			}
			want := "The answers on the load's own connections are unknown: this container may not duplicate the tool's connections (pidfd_getfd): " + tc.want + "."
			if got := strings.Join(r.unknown, "|"); got != want {
				t.Errorf("it says %q, want %q", got, want)
			}
		})
	}
}

func TestADuetWithHandedOverSocketsSamplesBothServers(t *testing.T) {
	testbed.Programs(t, "wrk")
	b := newBench(t, withTool(wrk.Tool{}))
	b.generator.duplicates, b.generator.openingShare = false, 0
	good, _ := cheating(t, 1<<40)
	bad, _ := cheating(t, 50)
	targets := []string{good, bad}
	c := duetCell(2, 1)
	c.Connection = record.KeepAlive
	if checked := b.generator.Check(t.Context(), protocol.Check{Targets: targets, Requests: []record.Request{c.Request}}); !checked.OK() {
		t.Fatalf("the check says %q", checked.Message)
	}
	result := b.again(protocol.Start{Targets: targets, Slots: timetable.Of([]record.Cell{c})}, func(o outcome) bool {
		return len(o.Cells) == 2 && o.Cells[0].LoadAudit != nil && o.Cells[1].LoadAudit != nil && o.Cells[1].LoadAudit.WrongBody > 0
	})
	for i, got := range result.Cells {
		if got.Error != "" || got.Measurement == nil {
			t.Fatalf("the cell was not measured: %q", got.Error)
		}
		if a := got.LoadAudit; a == nil || a.Requests == 0 || (a.WrongBody > 0) != (i == 1) {
			t.Errorf("of server %d it was sampled that %+v, unknown %q", i, a, got.Measurement.Unknown)
		}
	}
}
