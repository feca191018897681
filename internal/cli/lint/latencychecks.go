package lint

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
)

// checkThroughput recomputes the throughput. Both numbers are rounded, so they agree if any pair within the roundings does.
func checkThroughput(s Sample) []Finding {
	if !s.Counted() || s.DerivedSeconds || s.Seconds.Value <= 0 || s.Throughput.Value <= 0 {
		return nil
	}
	n := float64(s.Requests)
	low := n / s.Seconds.High()
	if s.Throughput.High() >= low*(1-arithmetic) && (s.Seconds.Low() <= 0 || s.Throughput.Low() <= n/s.Seconds.Low()*(1+arithmetic)) {
		return nil
	}
	return one(ThroughputMismatch, validity.Void, ScopeSample,
		fmt.Sprintf("It prints %s requests per second, but %s requests in %s give %s.", hundredths(s.Throughput.Value), format.Integer(s.Requests), spell(s.Seconds.Value*1e6), hundredths(s.Recomputed)),
		"Use the original output of the tool: this text was edited or merged from two runs.")
}

// arithmetic is what tools' own float arithmetic may lose.
const arithmetic = 1e-6

// checkLittle compares requests in flight (throughput times mean latency) with the connections.
func checkLittle(s Sample) []Finding {
	if !s.Counted() || s.Connections == 0 {
		return nil
	}
	if s.Tool == K6 {
		return checkLoop(s)
	}
	mean := s.Mean()
	if s.paced() || mean == nil || s.PerSecond() == 0 {
		return nil
	}
	n := float64(s.Connections)
	low, high := s.PerSecond()*mean.Low()/1e6/n, s.PerSecond()*mean.High()/1e6/n
	switch depth := float64(s.depth()); {
	case low > littleLimit:
		return tooMany(s, low, depth)
	case high < unanswered && s.Tool == AB && s.Requests >= unansweredTurns*s.Connections:
		return one(validity.Unanswered, validity.Suspect, ScopeSample,
			fmt.Sprintf("The latencies explain at most %s of the time of %s, and ab lists only answered requests. Most likely, the server or its machine left the other requests unanswered. Otherwise, ab lacked CPU to send more.",
				percent(high), plural(s.Connections, "connection")), confirmUnanswered).with(high, unanswered)
	case high < unaccounted:
		causes := "in the generator, waiting for missing responses, or reconnecting"
		if s.Tool == Wrk && depth != 1 {
			causes = "in the generator, in pauses of a script, waiting for missing responses, or reconnecting"
		}
		return one(UnaccountedTime, Note, validity.ScopeLatency,
			fmt.Sprintf("The latencies explain %s of the connections' time. The rest was spent %s.", percent(high), causes),
			"Check that the generator had idle CPU, and count errors. A server that gets no requests is not fast.").with(high, unaccounted)
	}
	return nil
}

// tooMany explains more requests in flight than connections, as far as causes can be excluded. depth is the number of requests per connection; 0 if
// unknown.
func tooMany(s Sample, low, depth float64) []Finding {
	seen := fmt.Sprintf("%s requests per second of %s each are %s at once, on %s", number(s.PerSecond()), spell(s.Mean().Value),
		number(low*float64(s.Connections)), plural(s.Connections, "connection"))
	corrected := s.Latency[0].Kind == record.Corrected
	switch {
	case depth > 1 && low <= depth*littleLimit:
		return one(Pipelined, Note, validity.ScopeLatency,
			fmt.Sprintf("%s: each connection has up to %s requests open (pipelining). A latency includes waiting for the requests before it.", seen, number(depth)),
			"Report the depth with the latencies. Do not compare them with those of another depth.").with(low, depth)
	case depth > 1:
		rest := "a deeper pipeline"
		if corrected {
			rest += ", or wrk's correction for coordinated omission, which adds latencies"
		}
		return one(Pipelined, validity.Suspect, validity.ScopeLatency,
			fmt.Sprintf("%s. Pipelining explains up to %s of them (%s per connection). The rest fits %s. The throughput is valid.", seen, number(depth*float64(s.Connections)), number(depth), rest),
			"Report the depth with the throughput. Measure latency without pipelining.").with(low, depth)
	case corrected && len(wrkStall(s)) > 0:
		// The stall explains it better, and its fix says that no latency counts.
		return nil
	case corrected && depth > 0:
		return one(Inflated, validity.Suspect, validity.ScopeLatency,
			seen+": some printed latencies were never measured. wrk adds them after each request that takes twice the average time or more (correction for coordinated omission). Most likely, the server or its machine made requests slow. The throughput is valid.",
			"Do not report the mean or the tail of this run. Remove the correction from wrk's histogram, or measure latency at a fixed rate.").with(low, littleLimit)
	case corrected:
		return one(Inflated, validity.Suspect, validity.ScopeLatency,
			seen+". Either a script pipelines requests (wrk -s), or wrk added latencies that it never measured (correction for coordinated omission). The throughput is valid.",
			"Put the command line above the output to exclude one of them. With pipelining, report its depth. Otherwise, do not report the mean or the tail: measure latency at a fixed rate.").with(low, littleLimit)
	case s.Tool == AB:
		return impossible(low, seen+": one of these numbers is wrong.")
	case s.Tool == H2load || s.Tool == Bombardier:
		return one(Pipelined, Note, validity.ScopeLatency, seen+": HTTP/2 streams or pipelining carry several requests on a connection at once.",
			"Report the number of streams with the latencies.").with(low, littleLimit)
	}
	return one(Inflated, validity.Suspect, validity.ScopeLatency,
		seen+". Either a connection carries several requests at once (HTTP/2, pipelining), or the text was edited or merged from two runs.",
		"Use the original output of the tool, and report how many requests a connection carries.").with(low, littleLimit)
}

// checkLoop compares virtual users with their iterations, which may send requests in parallel.
func checkLoop(s Sample) []Finding {
	if s.Loop == nil || s.Loop.PerSecond == 0 {
		return nil
	}
	users := s.Loop.PerSecond * s.Loop.MeanMicros.Low() / 1e6
	if users <= littleLimit*float64(s.Connections) {
		return nil
	}
	return impossible(users/float64(s.Connections), fmt.Sprintf("%s iterations per second of %s each need %s virtual users, but there were %s: one of these numbers is wrong.",
		number(s.Loop.PerSecond), spell(s.Loop.MeanMicros.Value), number(users), format.Integer(s.Connections)))
}

func impossible(value float64, sentence string) []Finding {
	return one(Impossible, validity.Void, ScopeSample, sentence, "Use the original output of the tool: this text was edited or merged from two runs.").with(value, littleLimit)
}

// point is a statistic that must not be below the previous one; nil if not printed.
type point struct {
	name string
	q    *printed.Quantity
}

// checkOrder voids impossible latencies: a quantile above the next one, or a mean out of range.
func checkOrder(s Sample) []Finding {
	for _, l := range s.Latency {
		least, most := point{"the minimum", l.Min}, point{"the maximum", l.Max}
		rising := []point{least}
		for i := range l.Quantiles {
			q := &l.Quantiles[i]
			rising = append(rising, point{"p" + number(q.Q*100), &q.Micros})
		}
		for _, points := range [][]point{append(rising, most), {least, {"the mean", l.Mean}, most}, {least, {"the median", l.Median}, most}} {
			if f := descends(points); f != nil {
				return f
			}
		}
	}
	return nil
}

func descends(points []point) []Finding {
	points = slices.DeleteFunc(points, func(p point) bool { return p.q == nil })
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		if a.q.Low() > b.q.High() {
			return one(OutOfOrder, validity.Void, ScopeSample, fmt.Sprintf("Impossible latencies: %s is %s, but %s is %s.", a.name, spell(a.q.Value), b.name, spell(b.q.Value)),
				"Use the original output of the tool: this text was edited or merged from two runs.")
		}
	}
	return nil
}

// checkSamples looks for quantiles that rest on too few samples.
func checkSamples(s Sample) []Finding {
	if !s.Counted() || len(s.Latency) == 0 {
		return nil
	}
	n := float64(s.Requests - min(s.Errors.Timeout, s.Requests))
	for _, q := range s.Latency[0].Quantiles {
		beyond := n * (1 - q.Q)
		if q.Q >= 1 || beyond >= samplesBeyond-1e-6 {
			continue
		}
		return one(TooFewSamples, validity.Suspect, validity.ScopeLatency, fmt.Sprintf("p%s and higher percentiles rest on only %s of %s samples.", number(q.Q*100), number(beyond), number(n)),
			fmt.Sprintf("Omit them, or make at least %s requests.", number(samplesBeyond/(1-q.Q)))).with(beyond, samplesBeyond)
	}
	return nil
}

func checkResolution(s Sample) []Finding {
	if !s.Counted() || len(s.Latency) == 0 {
		return nil
	}
	l := s.Latency[0]
	if l.ResolutionMicros == 0 || l.Mean == nil || l.Mean.Value >= coarse*l.ResolutionMicros {
		return nil
	}
	return one(CoarseLatency, Note, validity.ScopeLatency, fmt.Sprintf("%s prints latencies in steps of %s, but the mean is between %s and %s.",
		s.Tool, spell(l.ResolutionMicros), spell(l.Mean.Low()), spell(l.Mean.High())),
		"Do not compare latencies of this run. ab -e writes finer ones to a file; wrk and k6 print finer ones.")
}
