package analysis_test

import (
	"cmp"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// standStill stops the server for the first intervals of every so many.
func standStill(s *record.Series, still, every int) {
	for i := range s.SegmentsOut {
		if i%every >= every-still {
			s.SegmentsOut[i], s.CPUNanos[i] = 0, 0
		}
	}
}

// TestPlantedFaultsAreNamed plants a fault in every cell of a contender that would win by 1.2.
func TestPlantedFaultsAreNamed(t *testing.T) {
	response := func(change func(*record.Response)) func(*record.TrialData, *record.CellRun, *record.CellObservation) {
		return func(t *record.TrialData, _ *record.CellRun, _ *record.CellObservation) {
			change(&t.Generators[0].Responses[0])
		}
	}
	for name, tc := range map[string]struct {
		change   func(*record.TrialData, *record.CellRun, *record.CellObservation)
		code     validity.Code
		validity validity.Validity
		detail   string
		// latencyOnly: the throughput still wins.
		latencyOnly bool
	}{
		"no fault": {
			change: func(*record.TrialData, *record.CellRun, *record.CellObservation) {}, validity: validity.Valid,
		},
		"half of the bytes an answer": {
			change: func(_ *record.TrialData, r *record.CellRun, _ *record.CellObservation) { r.Measurement.Bytes /= 2 },
			code:   "AnswerSize", validity: validity.Void,
		},
		"no bytes at all": {
			change: func(_ *record.TrialData, r *record.CellRun, _ *record.CellObservation) { r.Measurement.Bytes = 0 },
			code:   "AnswerSize", validity: validity.Void,
		},
		"a tenth of the connections left": {
			change: func(_ *record.TrialData, _ *record.CellRun, o *record.CellObservation) { o.Sockets.Established /= 10 },
			code:   "MissingConnections", validity: validity.Void,
		},
		"half of the connections refused": {
			change: func(_ *record.TrialData, r *record.CellRun, o *record.CellObservation) {
				r.Measurement.Errors.Connect = 50
				o.Sockets = nil
			},
			code: "MissingConnections", validity: validity.Void,
		},
		"a body of a tenth of the size": {
			change: func(t *record.TrialData, r *record.CellRun, _ *record.CellObservation) {
				t.Generators[0].Responses[0].BodyBytes, t.Generators[0].Responses[0].BodySHA256 = 1, "00"
				r.Measurement.Bytes = r.Measurement.Requests * 118
			},
			code: "NotEquivalent", validity: validity.Void,
		},
		"another body of the same size": {
			change: response(func(r *record.Response) { r.BodySHA256 = "00" }),
			code:   "NotEquivalent", validity: validity.Suspect,
		},
		"a head that the cell's bytes do not show": {
			change: response(func(r *record.Response) { r.HeaderBytes = 1170 }),
			code:   "AnswerSize", validity: validity.Void,
		},
		"stalls of 400 ms every 2 s": {
			change: func(_ *record.TrialData, _ *record.CellRun, o *record.CellObservation) { standStill(o.Series, 4, 20) },
			code:   "StoodStill", validity: validity.Suspect,
		},
		"a pause of 190 ms in each second": {
			change: func(_ *record.TrialData, _ *record.CellRun, o *record.CellObservation) {
				o.Pauses = &record.Pauses{LeastMillis: 40, AtMillis: []int64{800, 1800, 2800, 3800}, Millis: []int64{185, 180, 185, 188}}
			},
			code: "StoodStill", validity: validity.Suspect, latencyOnly: true,
		},
		"a generator on the server's core": {
			change: func(t *record.TrialData, _ *record.CellRun, _ *record.CellObservation) {
				t.Servers[0].Environment.SMTSiblings, t.Generators[0].Environment.Node = "0,1", "server"
			},
			code: "SharedCore", validity: validity.Void,
		},
		"a wrong answer on the load's own connections, right ones on the audit's": {
			change: func(_ *record.TrialData, r *record.CellRun, _ *record.CellObservation) {
				r.LoadAudit = &record.Audit{Requests: 90, WrongBody: 1, Connections: 40, Example: "GET / answered"}
			},
			code: "WrongAnswers", validity: validity.Void, detail: "of 90 sampled on the load's own connections: GET / answered",
		},
		"right answers on the load's own connections": {
			change: func(_ *record.TrialData, r *record.CellRun, _ *record.CellObservation) {
				r.LoadAudit = &record.Audit{Requests: 90, Connections: 40}
			},
			validity: validity.Valid,
		},
		"no audit": {
			change: func(_ *record.TrialData, r *record.CellRun, _ *record.CellObservation) { r.Audit = nil },
			code:   "NotChecked", validity: validity.Suspect, detail: "answers during the warm-up",
		},
		"an audit of no request": {
			change: func(_ *record.TrialData, r *record.CellRun, _ *record.CellObservation) { r.Audit = &record.Audit{} },
			code:   "NotChecked", validity: validity.Suspect, detail: "answers during the warm-up",
		},
		"no answer before the load": {
			change: func(t *record.TrialData, _ *record.CellRun, _ *record.CellObservation) {
				t.Generators[0].Responses = nil
			},
			code: "NotChecked", validity: validity.Suspect, detail: "the answer before the load",
		},
		"sockets, traffic and course that were not read": {
			change: func(_ *record.TrialData, r *record.CellRun, o *record.CellObservation) {
				o.Sockets, o.Series, o.Network, r.Network = nil, nil, record.Network{}, record.Network{}
			},
			code: "NotChecked", validity: validity.Suspect,
			detail: "the server's connections, the server's traffic, the generator's traffic, the course of the cell",
		},
		"CPU times that were not read": {
			change: func(_ *record.TrialData, r *record.CellRun, o *record.CellObservation) {
				o.CoreNanos, o.BusyNanos, r.CPUNanos = 0, 0, 0
			},
			code: "NotChecked", validity: validity.Suspect, detail: "other use of the server's CPUs, the generator's CPU time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := recordtest.Duel(10)
			o.Levels, o.Servers = []int32{100}, o.Servers[:2]
			o.Servers[1].CPUMicros = o.Servers[0].CPUMicros / 1.2
			d := recordtest.Run(o)
			for i := range d.Trials {
				if tr := &d.Trials[i]; tr.Manifest.Servers[0] == o.Servers[1].Name {
					tc.change(tr, &tr.Generators[0].Cells[0], &tr.Servers[0].Cells[0])
				}
			}
			table := analyse(t, d)
			for _, c := range table.Group(record.Point{Load: "sweep", Connections: 100}, o.Servers[1].Name).Cells {
				named := tc.code == "" || slices.ContainsFunc(c.Reasons, func(r validity.Reason) bool { return r.Code == tc.code && r.Detail == cmp.Or(tc.detail, r.Detail) })
				if c.Validity != tc.validity || !named {
					t.Errorf("block %d is %s for %+v, want %s for %s %s", c.Block, c.Validity, c.Reasons, tc.validity, tc.code, tc.detail)
				}
			}
			for _, c := range table.Group(record.Point{Load: "sweep", Connections: 100}, o.Servers[0].Name).Cells {
				if c.Validity != validity.Valid {
					t.Errorf("the baseline's block %d is %s for %+v", c.Block, c.Validity, c.Reasons)
				}
			}
			// A side of suspect cells alone wins nothing. Stalls also look like a warm-up.
			want := tc.validity == validity.Valid || tc.latencyOnly
			if c := table.Comparisons[0]; (c.Verdict == verdict.Better) != want {
				t.Errorf("the verdict is %s %s by %s, want Better: %v", c.Verdict, c.Reason, c.Metric, want)
			}
		})
	}
}

// A server that answers wrongly one time in a thousand shows it in few of its cells.
func TestOneWrongAnswerToTheLoadCostsTheVictory(t *testing.T) {
	for name, tc := range map[string]struct {
		wrong int64
		want  verdict.Verdict
	}{"none": {0, verdict.Better}, "one of a thousand": {1, verdict.Inconclusive}} {
		t.Run(name, func(t *testing.T) {
			o := recordtest.Duel(12)
			o.Levels, o.Servers = []int32{100}, o.Servers[:2]
			o.Servers[1].CPUMicros = o.Servers[0].CPUMicros / 1.2
			d := recordtest.Run(o)
			for block := range o.Blocks {
				r, _ := recordtest.Cell(&d, block+1, o.Servers[1].Name, 100)
				r.LoadAudit = &record.Audit{Requests: 84, Connections: 40}
				if block == 5 {
					r.LoadAudit.WrongBody = tc.wrong
				}
			}
			c := analyse(t, d).Comparisons[0]
			if c.Verdict != tc.want || (c.Reason == verdict.ImplementationFailures) != (tc.want == verdict.Inconclusive) {
				t.Errorf("the verdict is %s for %q, want %s", c.Verdict, c.Reason, tc.want)
			}
		})
	}
}
