package validity

import (
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

// grow adds memory, in bytes, in each half of a cell.
func grow(o *record.CellObservation, first, second int64) {
	o.RSSMiddleBytes = o.RSSStartBytes + first
	o.RSSBytes = o.RSSMiddleBytes + second
}

// slow reduces the second half of a cell to a share of its speed.
func slow(counts []int64, share float64) {
	for k := len(counts) / 2; k < len(counts); k++ {
		counts[k] = int64(float64(counts[k]) * share)
	}
}

// still stops the server in the last intervals of every so many.
func still(s *record.Series, intervals, every int) {
	for k := range s.SegmentsOut {
		if k%every >= every-intervals {
			s.SegmentsOut[k] = 0
		}
	}
}

func meanLatency(r *record.CellRun, mean int64) {
	r.Measurement.Latency[0] = recordtest.Equal(record.Observed, mean, r.Measurement.Requests)
}

// inFlight sets latencies so that Little's law gives n.
func inFlight(r *record.CellRun, n float64) {
	m := r.Measurement
	meanLatency(r, int64(n*float64(m.DurationMicros)/float64(m.Requests)))
}

func TestChecks(t *testing.T) {
	for name, tc := range map[string]cellCase{
		"one wrong body": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Errors.Body = 1 },
			want:     []finding{{WrongBody, Void}},
			validity: Void,
		},
		"a wrong answer beside the tool": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Audit.WrongBody = 1 },
			want:     []finding{{WrongAnswers, Void}},
			validity: Void,
		},
		"an audit that got no answer once": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Audit.Failed = 1 },
			want:     []finding{{AuditFailed, Suspect}},
			validity: Suspect,
		},
		"an audit that hardly got an answer": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Audit.Failed = 30 },
			want:     []finding{{AuditFailed, Void}},
			validity: Void,
		},
		"99 requests": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				recordtest.SetRequests(r.Measurement, 99)
				o.RSSStartBytes = 0
			},
			want:     []finding{{TooFewRequests, Suspect}},
			validity: Suspect,
		},
		"100 requests": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				recordtest.SetRequests(r.Measurement, 100)
				o.RSSStartBytes = 0
			},
			validity: Valid,
		},
		"more requests in flight than connections": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 105) },
			want:     []finding{{LittlesLaw, Suspect}},
			validity: Suspect,
		},
		"many more requests in flight than connections": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 150) },
			want:     []finding{{LittlesLaw, Void}},
			validity: Void,
		},
		"as many requests in flight as streams": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 1005) },
			streams:  10,
			validity: Valid,
		},
		"many more requests in flight than streams": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 1500) },
			streams:  10,
			want:     []finding{{LittlesLaw, Void}},
			validity: Void,
		},
		"streams that wait in a busy generator": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 100); r.CPUNanos = 4_500_000_000 },
			streams:  10,
			want:     []finding{{GeneratorBusy, Suspect}, {QueueInGenerator, Suspect}},
			validity: Suspect,
		},
		"fewer requests in flight than streams, beside an idle generator": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 890) },
			streams:  10,
			want:     []finding{{FewerInFlight, Suspect}},
			validity: Suspect,
		},
		"nearly as many requests in flight as streams": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 910) },
			streams:  10,
			validity: Valid,
		},
		"streams whose last requests the end of the load cuts off": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				recordtest.SetRequests(r.Measurement, 4000)
				o.RSSStartBytes = 0
				inFlight(r, 800)
			},
			streams:  10,
			validity: Valid,
		},
		"as many requests in flight as connections": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 101) },
			validity: Valid,
		},
		"connections that are nowhere, beside an idle generator": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 60) },
			validity: Valid,
		},
		"connections that are nowhere, beside a busy generator": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { inFlight(r, 60); r.CPUNanos = 4_500_000_000 },
			want:     []finding{{GeneratorBusy, Suspect}, {QueueInGenerator, Suspect}},
			validity: Suspect,
		},
		"a server with more CPU time than its CPU was busy": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.BusyNanos = o.CPUNanos * 7 / 10 },
			want:     []finding{{UtilisationLaw, Suspect}},
			validity: Suspect,
		},
		"a server with a tick more CPU time than its CPU was busy": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.BusyNanos = o.CPUNanos - 10_000_000 },
			validity: Valid,
		},
		"an agent that uses a tenth of a CPU": {
			change: func(r *record.CellRun, _ *record.CellObservation) {
				r.AgentCPUNanos = int64(r.Ended.Sub(r.Started)) / 10
			},
			want:     []finding{{AgentBusy, Suspect}},
			validity: Suspect,
		},
		"one of a hundred connections unanswered": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Sockets.Unanswered = 1 },
			want:     []finding{{Unanswered, Suspect}},
			validity: Suspect,
		},
		"two of a hundred connections unanswered": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Sockets.Unanswered = 2 },
			want:     []finding{{Unanswered, Void}},
			validity: Void,
		},
		"connections of very different shares": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Sockets.Jain = 0.7 },
			want:     []finding{{Unfair, Suspect}},
			validity: Suspect,
		},
		"connections of somewhat different shares": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Sockets.Jain = 0.85 },
			validity: Valid,
		},
		"half of the bytes an answer": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Bytes /= 2 },
			want:     []finding{{AnswerSize, Void}},
			validity: Void,
		},
		"a fifth fewer bytes an answer": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Bytes -= r.Measurement.Bytes / 5 },
			want:     []finding{{AnswerSize, Suspect}},
			validity: Suspect,
		},
		"some bytes fewer an answer": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Bytes -= 12 * r.Measurement.Requests },
			validity: Valid,
		},
		"a third more bytes an answer": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Bytes += r.Measurement.Bytes / 3 },
			want:     []finding{{AnswerSize, Suspect}},
			validity: Suspect,
		},
		"three times as many bytes an answer": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Bytes *= 3 },
			want:     []finding{{AnswerSize, Void}},
			validity: Void,
		},
		"other bytes of error pages are no news": {
			change: func(r *record.CellRun, _ *record.CellObservation) {
				r.Measurement.Errors.Status, r.Measurement.Bytes = 1, 1
			},
			want:     []finding{{WrongStatus, Void}},
			validity: Void,
		},
		"answers that were cut off at the end of a few requests": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				recordtest.SetRequests(r.Measurement, 150)
				r.Measurement.Bytes, o.RSSStartBytes = r.Measurement.Bytes+99*128, 0
			},
			validity: Valid,
		},
		"nine of a hundred connections missing": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Sockets.Established = 91 },
			want:     []finding{{MissingConnections, Suspect}},
			validity: Suspect,
		},
		"half of the connections missing": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Sockets.Established = 50 },
			want:     []finding{{MissingConnections, Void}},
			validity: Void,
		},
		"half of the connections refused": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Measurement.Errors.Connect = 50 },
			want:     []finding{{Errors, Suspect}, {MissingConnections, Void}},
			validity: Void,
		},
		"connections that are on their way": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				o.Network.PassiveOpens, o.Sockets.Established = r.Measurement.Requests/10, 85
			},
			want:     []finding{{KeepAliveLost, Suspect}},
			validity: Suspect,
		},
		"stalls of 400 ms every 2 s": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { still(o.Series, 4, 20) },
			want:     []finding{{StoodStill, Suspect}},
			validity: Suspect,
		},
		"a stall of 400 ms": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { still(o.Series, 4, 30) },
			validity: Valid,
		},
		"a stall of a second and a half": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { still(o.Series, 15, 40) },
			want:     []finding{{StoodStill, Suspect}},
			validity: Suspect,
		},
		"two stalls of 200 ms": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { still(o.Series, 2, 20) },
			want:     []finding{{StoodStill, Suspect}},
			validity: Suspect,
		},
		"a pause of 190 ms in each second": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Pauses = pausing(190, 3) },
			want:     []finding{{StoodStill, Suspect}},
			validity: Suspect,
		},
		"two pauses of 190 ms": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Pauses = pausing(190, 2) },
			validity: Valid,
		},
		"pauses of 40 ms in each second": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Pauses = pausing(40, 3) },
			validity: Valid,
		},
		"stalls of less than two intervals": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { still(o.Series, 1, 10) },
			validity: Valid,
		},
		"stalls that steal can explain": {
			change: func(_ *record.CellRun, o *record.CellObservation) {
				still(o.Series, 3, 40)
				o.StealNanos = o.CoreNanos * 4 / 100
			},
			want:     []finding{{Steal, Suspect}},
			validity: Suspect,
		},
		"stalls that the generator's lost time can explain": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				still(o.Series, 4, 20)
				r.CoreNanos, r.BusyNanos, r.StealNanos = 5_000_000_000, r.CPUNanos, 500_000_000
			},
			validity: Valid,
		},
		"an observer that was held up": {
			change: func(_ *record.CellRun, o *record.CellObservation) {
				still(o.Series, 4, 20)
				for i := range o.Series.SegmentsOut {
					if i%20 == 15 {
						o.Series.SegmentsOut[i] *= 5
					}
				}
			},
			validity: Valid,
		},
		"connections that wait together for slow answers": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				meanLatency(r, 500_000)
				still(o.Series, 4, 5)
				recordtest.SetRequests(r.Measurement, 1000)
				meanLatency(r, 500_000)
				o.RSSStartBytes = 0
			},
			validity: Valid,
		},
		"a course of few requests": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				recordtest.SetRequests(r.Measurement, 900)
				meanLatency(r, 1000)
				still(o.Series, 4, 20)
				o.RSSStartBytes = 0
			},
			validity: Valid,
		},
		"three of a hundred connections missing": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Sockets.Established = 97 },
			want:     []finding{{MissingConnections, Suspect}},
			validity: Suspect,
		},
		"sockets that were not read": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Sockets = nil },
			want:     []finding{{NotChecked, Suspect}},
			validity: Suspect,
		},
		"a connection for every tenth request": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				o.Network.PassiveOpens, o.Sockets.Unanswered = r.Measurement.Requests/10, 10
			},
			want:     []finding{{KeepAliveLost, Suspect}},
			validity: Suspect,
		},
		"a connection for every request": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				o.Network.PassiveOpens = r.Measurement.Requests
			},
			want:     []finding{{KeepAliveLost, Void}},
			validity: Void,
		},
		"a connection for every thousandth request": {
			change: func(r *record.CellRun, o *record.CellObservation) {
				o.Network.PassiveOpens = r.Measurement.Requests / 1000
			},
			validity: Valid,
		},
		"two segments of a hundred sent again": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { o.Network.Retransmits = o.Network.SegmentsOut / 20 },
			want:     []finding{{Retransmits, Suspect}},
			validity: Suspect,
		},
		"a generator without ports": {
			change:   func(r *record.CellRun, _ *record.CellObservation) { r.Network.TimeWait = 27_000 },
			want:     []finding{{PortsExhausted, Suspect}},
			validity: Suspect,
		},
		"memory that grows with each request": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { grow(o, 10<<20, 10<<20) },
			want:     []finding{{MemoryGrows, Suspect}},
			validity: Suspect,
		},
		"memory that grows at first": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { grow(o, 18<<20, 2<<20) },
			validity: Valid,
		},
		"memory that grows slowly": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { grow(o, 1<<20, 1<<20) },
			validity: Valid,
		},
		"a server that slows down half-way": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { slow(o.Series.SegmentsOut, 0.4) },
			want:     []finding{{SlowedDown, Suspect}},
			validity: Suspect,
		},
		"a server that slows down a little": {
			change:   func(_ *record.CellRun, o *record.CellObservation) { slow(o.Series.SegmentsOut, 0.7) },
			validity: Valid,
		},
		"a server that slows down half-way, by its CPU time": {
			change: func(_ *record.CellRun, o *record.CellObservation) {
				o.Series.SegmentsOut = nil
				slow(o.Series.CPUNanos, 0.4)
			},
			want:     []finding{{SlowedDown, Suspect}},
			validity: Suspect,
		},
	} {
		t.Run(name, tc.run)
	}
}

// pausing stands still so many times, once a second.
func pausing(millis int64, times int) *record.Pauses {
	p := record.Pauses{LeastMillis: 40}
	for i := range times {
		p.AtMillis, p.Millis = append(p.AtMillis, int64(i)*1000+500), append(p.Millis, millis)
	}
	return &p
}
