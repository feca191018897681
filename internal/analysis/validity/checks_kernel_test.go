package validity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// watched marks a good cell as fully observed, without findings.
func watched(r *record.CellRun, o *record.CellObservation) {
	none := int64(0)
	r.Network.Handshakes, o.Network.Handshakes = &record.Handshakes{}, &record.Handshakes{}
	o.Network.PassiveOpens++
	r.Throttled, o.Sockets.Hung = &record.Throttling{}, &none
	r.MeasuredAudit, r.LoadAudit = &record.Audit{Requests: 5, Connections: 1}, &record.Audit{Requests: 90, Connections: 40}
	o.WorkBefore, o.WorkAfter = &record.Work{CPUNanos: 800_000}, &record.Work{CPUNanos: 816_000}
	o.Series.KHz = nil
	for k := range o.Series.CPUNanos {
		o.Series.KHz = append(o.Series.KHz, 3_000_000+int64(k%3)*20_000)
	}
}

func hang(o *record.CellObservation, n int64) { o.Sockets.Hung = &n }

// clock changes the frequency in the second half of a cell.
func clock(o *record.CellObservation, kHz int64) {
	for k := len(o.Series.KHz) / 2; k < len(o.Series.KHz); k++ {
		o.Series.KHz[k] = kHz
	}
}

func TestChecksOfTheKernelAndTheAgents(t *testing.T) {
	for name, tc := range map[string]cellCase{
		"everything was looked at and nothing found": {validity: Valid},
		"one of a hundred connections found the queue full": {
			change: func(_ *record.CellRun, o *record.CellObservation) {
				o.Network.Handshakes.ListenOverflows, o.Network.Handshakes.ListenDrops = 1, 1
			},
			want:     []finding{{QueueOverflows, Suspect}},
			validity: Suspect,
		},
		"two of a hundred connections found the queue full": {
			change: func(_ *record.CellRun, o *record.CellObservation) {
				o.Network.Handshakes.ListenOverflows, o.Network.Handshakes.ListenDrops = 2, 2
			},
			want:     []finding{{QueueOverflows, Void}},
			validity: Void,
		},
		"one of a thousand connections that were opened anew found the queue full": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				o.Network.PassiveOpens = r.Measurement.Requests / 100
				o.Network.Handshakes.ListenOverflows = o.Network.PassiveOpens / 1000
				o.Network.Handshakes.ListenDrops = o.Network.Handshakes.ListenOverflows
			},
			want:     []finding{{QueueOverflows, Suspect}},
			validity: Suspect,
		},
		"handshakes dropped for another reason accuse nobody": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Network.Handshakes.ListenDrops = 70 },
			want:     []finding{{HandshakesDropped, Suspect}},
			validity: Suspect,
		},
		"a handshake of a hundred connections sent again": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Network.Handshakes.SynRetransmits = 1 },
			want:     []finding{{SlowHandshakes, Suspect}},
			validity: Suspect,
		},
		"handshakes that cost more than a tenth of the connections' time": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Network.Handshakes.SynRetransmits = 60 },
			want:     []finding{{SlowHandshakes, Void}},
			validity: Void,
		},
		"a handshake that both sides repeat is one": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				r.Network.Handshakes.SynRetransmits, o.Network.Handshakes.SynRetransmits = 40, 40
			},
			want:     []finding{{SlowHandshakes, Suspect}},
			validity: Suspect,
		},
		"a handshake of two thousand sent again": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				o.Network.PassiveOpens, r.Network.Handshakes.SynRetransmits = 2000, 1
			},
			validity: Valid,
		},
		"one of a hundred connections hangs": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { hang(o, 1) },
			want:     []finding{{Hung, Suspect}},
			validity: Suspect,
		},
		"two of a hundred connections hang": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { hang(o, 2) },
			want:     []finding{{Hung, Void}},
			validity: Void,
		},
		"connections that are quiet since each makes but a few requests": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				r.Measurement.Bytes = r.Measurement.Bytes / r.Measurement.Requests * 1900
				r.Measurement.Requests, o.RSSStartBytes = 1900, 0
				hang(o, 20)
			},
			validity: Valid,
		},
		"a generator that a quota held back for a moment": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Throttled.Nanos = 40_000_000 },
			validity: Valid,
		},
		"a generator that a quota held back for a fiftieth of the time": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Throttled.Nanos = 100_000_000 },
			want:     []finding{{GeneratorThrottled, Suspect}},
			validity: Suspect,
		},
		"a generator that a quota held back for a tenth of the time": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Throttled.Nanos = 500_000_000 },
			want:     []finding{{GeneratorThrottled, Suspect}},
			validity: Suspect, bound: true,
		},
		"a wrong body while the load was measured": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.MeasuredAudit.WrongBody = 1 },
			want:     []finding{{WrongAnswers, Void}},
			validity: Void,
		},
		"a wrong body among those sampled of the load": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.LoadAudit.WrongBody = 1 },
			want:     []finding{{WrongAnswers, Void}},
			validity: Void,
		},
		"a wrong status among those sampled of the load": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.LoadAudit.WrongStatus = 1 },
			want:     []finding{{WrongAnswers, Void}},
			validity: Void,
		},
		"a load that nothing was sampled of": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.LoadAudit = nil },
			validity: Valid,
		},
		"no answer beside the measured load": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.MeasuredAudit.Failed = 5 },
			want:     []finding{{AuditFailed, Suspect}},
			validity: Suspect,
		},
		"a CPU that is a quarter slower after the cell": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.WorkAfter.CPUNanos = 1_000_000 },
			want:     []finding{{CPUSlower, Suspect}},
			validity: Suspect,
		},
		"a CPU that had been idle before the cell": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.WorkBefore.CPUNanos = 1_600_000 },
			validity: Valid,
		},
		"a clock that falls by a sixth": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { clock(o, 2_500_000) },
			want:     []finding{{FrequencyFell, Suspect}},
			validity: Suspect,
		},
		"a clock that falls by a thirtieth": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { clock(o, 2_900_000) },
			validity: Valid,
		},
		"the clock of a CPU that has little to do": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				clock(o, 1_500_000)
				o.CPUNanos /= 4
				o.BusyNanos = o.CPUNanos
			},
			validity: Valid,
		},
		"an old record": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				r.Network.Handshakes, o.Network.Handshakes, r.Throttled, o.Sockets.Hung = nil, nil, nil, nil
				r.MeasuredAudit, o.WorkBefore, o.WorkAfter, o.Series.KHz = nil, nil, nil, nil
				o.Network.PassiveOpens--
			},
			validity: Valid,
		},
	} {
		planted := tc.change
		tc.change = func(r *record.CellRun, o *record.CellObservation) {
			watched(r, o)
			if planted != nil {
				planted(r, o)
			}
		}
		t.Run(name, tc.run)
	}
}

func watchedRun(o recordtest.Options) record.RunData {
	d := recordtest.Run(o)
	for i := range d.Trials {
		t := &d.Trials[i]
		for k := range t.Servers[0].Cells {
			watched(&t.Generators[0].Cells[k], &t.Servers[0].Cells[k])
		}
	}
	return d
}

func TestGoodCellsAreAccusedOfNothing(t *testing.T) {
	o := recordtest.Duel(20)
	o.Seconds = 10
	table, err := read(watchedRun(o))
	if err != nil {
		t.Fatal(err)
	}
	of := []Code{QueueOverflows, HandshakesDropped, SlowHandshakes, Hung, GeneratorThrottled, WrongAnswers, AuditFailed, CPUSlower, FrequencyFell}
	cells := 0
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			cells++
			for _, r := range c.Reasons {
				for _, code := range of {
					if r.Code == code {
						t.Errorf("%s at %d: %s", g.Implementation, g.Connections, r.Code)
					}
				}
			}
		}
	}
	if cells < 200 {
		t.Errorf("%d cells are too few to tell", cells)
	}
}

func TestWhoIsAtFaultForARefusedConnection(t *testing.T) {
	reason := func(code Code) Reason { return Reason{Code: code, Weight: Void, Scope: ScopeCell} }
	for name, tc := range map[string]struct {
		reasons []Code
		want    bool
	}{
		"a full queue is the server's":                               {[]Code{QueueOverflows}, true},
		"connections that hang are the server's":                     {[]Code{Hung}, true},
		"a full queue beside noisy neighbours is nobody's":           {[]Code{QueueOverflows, NoisyNeighbours}, false},
		"connections that hang beside noisy neighbours are nobody's": {[]Code{Hung, NoisyNeighbours}, false},
		"an audit without an answer under steal is nobody's":         {[]Code{AuditFailed, Steal}, false},
		"not one answer beside noisy neighbours is nobody's":         {[]Code{NoRequests, Unanswered, NoisyNeighbours}, false},
		"wrong answers are the server's, whoever else runs":          {[]Code{WrongAnswers, NoisyNeighbours}, true},
		"an error status is the server's, whoever else runs":         {[]Code{WrongStatus, NoisyNeighbours}, true},
		"handshakes that were lost are nobody's":                     {[]Code{SlowHandshakes}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var c Cell
			for _, code := range tc.reasons {
				c.mark(reason(code))
			}
			if got := c.ImplementationFailure(); got != tc.want {
				t.Errorf("implementationFailure() = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestAThrottledGeneratorDilutesTheThroughput(t *testing.T) {
	for name, nanos := range map[string]int64{"not at all": 0, "for a moment": 40_000_000, "for a fiftieth of the time": 100_000_000} {
		t.Run(name, func(t *testing.T) {
			d := oneCell()
			r, o := recordtest.Cell(&d, 1, "go", 100)
			watched(r, o)
			r.Throttled.Nanos = nanos
			table, err := read(d)
			if err != nil {
				t.Fatal(err)
			}
			if c := table.Groups[0].Cells[0]; c.ThroughputIsDiluted != (nanos == 100_000_000) || c.ThroughputIsBound {
				t.Errorf("diluted %v, bound %v", c.ThroughputIsDiluted, c.ThroughputIsBound)
			}
		})
	}
}

func TestHungConnectionsOfAScript(t *testing.T) {
	d := watchedRun(recordtest.Options{
		Name: "one", Seed: 1, Blocks: 1, Levels: []int32{100}, Seconds: 5, Servers: []recordtest.Server{{Name: "go", CPUMicros: 12, RSSBytes: 1 << 20}},
	})
	for i := range d.Manifest.Plan.Cells {
		d.Manifest.Plan.Cells[i].Script = &record.Script{ConfigMap: "scripts", Key: "pause.lua"}
	}
	_, o := recordtest.Cell(&d, 1, "go", 100)
	hang(o, 50)
	table, err := read(d)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]finding(nil), found(table.Groups[0].Cells[0])); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestTheKernelsRangeOfPortsCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		ports int32
		want  []finding
	}{
		"half of a wide range": {ports: 60_000},
		"nearly all of the usual range, which an old record does not tell": {want: []finding{{PortsExhausted, Suspect}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := oneCell()
			d.Trials[0].Generators[0].LocalPorts = tc.ports
			r, _ := recordtest.Cell(&d, 1, "go", 100)
			r.Network.TimeWait = 27_000
			table, err := read(d)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, found(table.Groups[0].Cells[0])); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheAuditIsNoPartOfTheLoad(t *testing.T) {
	d := oneCell()
	r, o := recordtest.Cell(&d, 1, "go", 100)
	watched(r, o)
	r.MeasuredAudit.Requests, o.Network.PassiveOpens = 1000, 100+r.Measurement.Requests
	r.MeasuredAudit.Connections = r.Measurement.Requests
	table, err := read(d)
	if err != nil {
		t.Fatal(err)
	}
	c := table.Groups[0].Cells[0]
	if diff := cmp.Diff([]finding(nil), found(c)); diff != "" {
		t.Errorf("the audit's connections are held against the server (-want +got):\n%s", diff)
	}
	want := float64(o.CPUNanos) / 1e3 / float64(r.Measurement.Requests+1000)
	if got := *c.CPUPerRequest; got != want {
		t.Errorf("CPU time per request = %v, want %v: that of the audit's requests is not the load's", got, want)
	}
}

func TestTheWorkOfADuetIsOfBothServers(t *testing.T) {
	work := func(nanos int64) *record.Work { return &record.Work{CPUNanos: nanos} }
	f := &facts{Facts: &measured.Facts{Seen: &record.CellObservation{}, Peer: &record.CellObservation{WorkBefore: work(800_000), WorkAfter: work(1_200_000)}}}
	if diff := cmp.Diff([]Reason{{Code: CPUSlower, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Value: 0.5, Limit: workSlower}}, checkSpeed(f)); diff != "" {
		t.Errorf("checkSpeed() (-want +got):\n%s", diff)
	}
}
