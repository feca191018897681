package validity

import (
	"cmp"
	"fmt"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	// MinDuration: a tool that stopped before nine tenths of its time did not run the plan. wrk ends within 0.1 s.
	MinDuration = 0.9
	// minSeconds: within a second, garbage collection, timers and drift have not occurred twice. A run of 22 ms once
	// made a winner by 16 %.
	minSeconds = 1
	// minRequests is the least number with a known 90th percentile: a mean of fewer is a mean of a few queues.
	minRequests = 10 * inference.SamplesBeyond
)

// checkTool: without a generator's measurement, the rest is another load.
func checkTool(f *facts) []Reason {
	var out []Reason
	for i, r := range f.Runs {
		switch {
		case r == nil:
			out = append(out, Reason{Code: GeneratorLost, Weight: Void, Scope: ScopeCell, Subject: record.MemberGenerator(i)})
		case r.Late:
			out = append(out, Reason{Code: GeneratorLate, Weight: Void, Scope: ScopeCell, Subject: record.MemberGenerator(i), Detail: r.Error})
		case r.Measurement == nil || r.Error != "":
			out = append(out, Reason{Code: ToolFailed, Weight: Void, Scope: ScopeCell, Subject: record.MemberGenerator(i), Detail: r.Error})
		}
	}
	if len(out) == 0 && f.Requests <= 0 {
		out = append(out, Reason{Code: NoRequests, Weight: Void, Scope: ScopeCell})
	}
	return out
}

func checkLabel(f *facts) []Reason {
	level := f.Level.Cell()
	var out []Reason
	for i, r := range f.Runs {
		if r == nil || r.Measurement == nil {
			continue
		}
		m := r.Measurement
		if m.Threads == f.Level.Threads && m.Connections == timetable.Share(level, int32(i)).Connections {
			continue
		}
		out = append(out, Reason{
			Code: WrongLabel, Weight: Void, Scope: ScopeCell, Subject: record.MemberGenerator(i),
			Detail: fmt.Sprintf("%d/%d", m.Threads, m.Connections),
		})
	}
	return out
}

// checkDuration looks at the generator that stopped first: after it, the rest was another load.
func checkDuration(f *facts) []Reason {
	if !f.Complete() || f.Level.DurationSeconds <= 0 {
		return nil
	}
	shortest := f.LoadSeconds
	for _, m := range f.Measurements() {
		shortest = min(shortest, float64(m.DurationMicros)/1e6)
	}
	if share := shortest / float64(f.Level.DurationSeconds); share < MinDuration {
		return []Reason{{Code: CutShort, Weight: Void, Scope: ScopeCell, Value: share, Limit: MinDuration}}
	}
	if shortest < minSeconds {
		return []Reason{{Code: TooShort, Weight: Suspect, Scope: ScopeCell, Value: shortest, Limit: minSeconds}}
	}
	return nil
}

func checkRequests(f *facts) []Reason {
	if f.Requests <= 0 || f.Requests >= minRequests {
		return nil
	}
	return []Reason{{Code: TooFewRequests, Weight: Suspect, Scope: ScopeCell, Value: float64(f.Requests), Limit: minRequests}}
}

// rateVoid: a tenth less is another load, as with time.
const rateVoid = 0.1

// checkRate compares an arrival rate with the requests started, since completions lag behind. A request that was not
// counted as dropped was started if it ended somehow or was in flight at the end. Steps of a search are meant to
// miss.
func checkRate(f *facts) []Reason {
	asked := float64(f.Asked)
	if asked <= 0 || f.Level.Step > 0 || !f.Complete() {
		return nil
	}
	e := f.Errors
	started := f.Requests + e.Connect + e.Read + e.Write + e.Timeout + f.Level.InFlight()
	missed := float64(max(f.Dropped, f.Asked-started))
	if missed <= max(record.MissedShare*asked, record.MissedStarts) {
		return nil
	}
	r := Reason{Code: RateMissed, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Value: missed / asked, Limit: record.MissedShare}
	if f.Busiest() >= generatorBusy || f.heldBack() {
		r.Subject = measured.SubjectGenerator
	}
	if r.Value > rateVoid {
		r.Weight, r.Limit = Void, rateVoid
	}
	return []Reason{r}
}

// checkExceeded looks for more answers than requested, which is impossible: the tool did not sustain the rate or
// misreports it. A tenth more is another load. A script may make several requests per arrival.
func checkExceeded(f *facts) []Reason {
	if f.Level.Scripted || !f.Complete() {
		return nil
	}
	asked := float64(f.Asked)
	if first := float64(f.Level.RequestsPerSecond); first > 0 && f.Level.Step == 0 {
		last := cmp.Or(float64(f.Level.RampToRequestsPerSecond), first)
		planned := (first + last) / 2 * f.LoadSeconds
		asked = min(cmp.Or(asked, planned), planned)
	}
	more := float64(f.Requests) - asked
	if asked <= 0 || more <= max(record.MissedShare*asked, record.MissedStarts*float64(len(f.Runs))) {
		return nil
	}
	r := Reason{Code: RateExceeded, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectGenerator, Value: float64(f.Requests) / asked, Limit: 1 + record.MissedShare}
	if more > rateVoid*asked {
		r.Weight, r.Limit = Void, 1+rateVoid
	}
	return []Reason{r}
}

const (
	// LittleSuspect and littleVoid: no more requests can be in flight than connections have streams; 2 % are the
	// tool's start and end. The check is one-sided: a rule of 10 % to both sides trips on 75 % of good cells, since
	// no latency contains a connection's time in the generator.
	LittleSuspect, littleVoid = 1.02, 1.1
	// littleQueue: if a tenth of the requests of a busy generator is unaccounted for, they wait in the generator.
	littleQueue = 0.9
)

func obeysLittle(f *facts) bool {
	return f.InFlight > 0 && f.Level.RequestsPerSecond <= 0 && f.Level.Step <= 0 && f.Level.Connections > 0
}

func checkLittle(f *facts) []Reason {
	if !obeysLittle(f) {
		return nil
	}
	share := f.InFlight / float64(f.Level.InFlight())
	if share < littleQueue && f.Busiest() >= generatorBusy {
		return []Reason{{Code: QueueInGenerator, Weight: Suspect, Scope: ScopeLatency, Value: 1 - share, Limit: 1 - littleQueue}}
	}
	return graded(LittlesLaw, share, LittleSuspect, littleVoid)
}

// checkInFlight looks for streams that carry no requests. The server may allow fewer streams, leave requests
// unanswered, or close connections, which h2load does not reopen. The sockets do not show this while other streams of
// the connection are busy. A busy generator explains the gap by itself.
func checkInFlight(f *facts) []Reason {
	if !obeysLittle(f) || f.Level.StreamsPerConnection <= 1 || f.Busiest() >= generatorBusy {
		return nil
	}
	asked := float64(f.Level.InFlight())
	if seen := f.InFlight * (1 + asked/float64(f.Requests)); seen < littleQueue*asked {
		return []Reason{{Code: FewerInFlight, Weight: Suspect, Scope: ScopeCell, Value: seen, Limit: asked}}
	}
	return nil
}

const (
	// skewMillis and skewShare: generators that start within 10 ms, or 1 % of the cell, overlap in all but that.
	skewMillis, skewShare = 10, 0.01
)

// checkSkew counts the clocks' error.
func checkSkew(f *facts) []Reason {
	skew, ok := f.Observed(measured.StartSkew)
	if !ok {
		return nil
	}
	millis := (skew + f.Observations[measured.StartSkewError]) / 1e3
	limit := max(skewMillis, skewShare*1e3*f.LoadSeconds)
	if millis <= limit {
		return nil
	}
	return []Reason{{Code: StartsApart, Weight: Suspect, Scope: ScopeLoad, Value: millis, Limit: limit}}
}
