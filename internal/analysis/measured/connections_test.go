package measured_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

func TestReopenedAreTheConnectionsBeyondTheLevelsOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.CellRun, *record.CellObservation)
		want   float64
	}{
		"as many as the level has":      {want: 0},
		"fewer than the level has":      {func(_ *record.CellRun, o *record.CellObservation) { o.Network.PassiveOpens = 5 }, 0},
		"one for every tenth request":   {func(_ *record.CellRun, o *record.CellObservation) { o.Network.PassiveOpens = 1010 }, 0.1},
		"a namespace that was not read": {func(_ *record.CellRun, o *record.CellObservation) { o.Network = record.Network{PassiveOpens: 1010} }, 0},
		"not one request":               {func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Requests = 0 }, 0},
		"the audit's own are not the load's": {func(r *record.CellRun, o *record.CellObservation) {
			o.Network.PassiveOpens, r.MeasuredAudit = 1010, &record.Audit{Connections: 500}
		}, 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			if tc.change != nil {
				tc.change(first(d))
			}
			if got := read(t, d).Reopened(); got != tc.want {
				t.Errorf("Reopened() = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestOpenedIsTheLargerOfWhatIsHeldAndWhatIsAccepted(t *testing.T) {
	for name, tc := range map[string]struct {
		held    int32
		accepts int64
		want    float64
	}{
		"connections that stay open":     {10, 10, 10},
		"connections that are reopened":  {10, 1000, 1000},
		"connections that nobody counts": {10, 0, 10},
		"a level without connections":    {0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(1)
			_, seen := first(d)
			seen.Network.PassiveOpens = tc.accepts
			f := read(t, d)
			f.Level.Connections = tc.held
			if got := f.Opened(); got != tc.want {
				t.Errorf("Opened() = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestHandshakesAreCountedOnTheSideThatSawMore(t *testing.T) {
	sent := func(n int64) *record.Handshakes { return &record.Handshakes{SynRetransmits: n} }
	for name, tc := range map[string]struct {
		server, one, other *record.Handshakes
		want               float64
		known              bool
	}{
		"nobody read them":             {},
		"the server saw more":          {sent(5), sent(1), sent(2), 5, true},
		"the generators together more": {sent(5), sent(4), sent(3), 7, true},
		"one generator alone was read": {nil, nil, sent(3), 3, true},
		"the server alone was read":    {sent(0), nil, nil, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := trial(2)
			d.Servers[0].Cells[0].Network.Handshakes = tc.server
			d.Generators[0].Cells[0].Network.Handshakes, d.Generators[1].Cells[0].Network.Handshakes = tc.one, tc.other
			if got, known := read(t, d).SynRetransmits(); got != tc.want || known != tc.known {
				t.Errorf("SynRetransmits() = %v, %v; want %v, %v", got, known, tc.want, tc.known)
			}
		})
	}
}

func TestConnectionsStayOpenInAClosedLoadThatKeepsThem(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*planned.Level)
		want   bool
	}{
		"keep-alive without a rate": {func(*planned.Level) {}, true},
		"one request a connection":  {func(l *planned.Level) { l.Connection = record.PerRequest }, false},
		"a rate":                    {func(l *planned.Level) { l.RequestsPerSecond = 100 }, false},
		"a step of a search":        {func(l *planned.Level) { l.Step = 1 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := read(t, trial(1))
			tc.change(&f.Level)
			if got := f.KeepsOpen(); got != tc.want {
				t.Errorf("KeepsOpen() = %v, want %v", got, tc.want)
			}
		})
	}
}
