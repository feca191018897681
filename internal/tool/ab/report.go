package ab

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/tool"
)

type report struct {
	connections, complete, failed, bytes int64
	writes, otherStatus                  int64
	connects, receives                   int64
	lengths, exceptions                  int64
	// kept counts requests after which the connection was kept; keepAlive is whether ab asked for that.
	kept      int64
	keepAlive bool
	anyLength bool
	micros    int64
}

func newReport(t Text) (report, error) {
	if len(t.Doubts) > 0 {
		return report{}, fmt.Errorf("reading ab's line %s", t.Doubts[0])
	}
	r := report{writes: t.Writes, otherStatus: t.OtherStatus, anyLength: t.AnyLength}
	for _, c := range []struct {
		name     string
		from, to *int64
	}{
		{"Concurrency Level", t.Connections, &r.connections},
		{"Complete requests", t.Complete, &r.complete},
		{"Failed requests", t.Failed, &r.failed},
		{"Total transferred", t.Bytes, &r.bytes},
	} {
		if c.from == nil {
			return report{}, fmt.Errorf("ab's output is incomplete: %q is missing", c.name)
		}
		*c.to = *c.from
	}
	if t.Kept != nil {
		r.kept, r.keepAlive = *t.Kept, true
	}
	if f := t.Failures; f != nil {
		r.connects, r.receives, r.lengths, r.exceptions = f.Connect, f.Receive, f.Length, f.Exceptions
	}
	return r, r.check()
}

// check reports contradictions. More requests may have failed than are explained, for example with a head too large for ab.
func (r *report) check() error {
	switch explained := r.connects + r.receives + r.lengths + r.exceptions; {
	case r.failed < explained:
		return fmt.Errorf("ab contradicts itself: %d failed requests, of which it explains %d", r.failed, explained)
	case r.kept > r.complete:
		return fmt.Errorf("ab contradicts itself: %d requests kept their connection, of %d", r.kept, r.complete)
	case max(r.complete, r.failed, r.bytes, r.writes, r.otherStatus, explained) > tool.MaxCount:
		return errors.New("ab's counters are out of range")
	case r.connections < 1 || r.connections > 1<<31-1:
		return fmt.Errorf("ab contradicts itself: a concurrency level of %d", r.connections)
	}
	return nil
}

// addDuration takes the duration, printed in milliseconds, refined by the rate.
func (r *report) addDuration(t Text) error {
	if t.Seconds == nil || t.Throughput == nil {
		return errors.New("ab's output is incomplete: the time taken or the rate is missing")
	}
	millis, hundredths := math.Round(t.Seconds.Value*1000), math.Round(t.Throughput.Value*100)
	if max(millis, hundredths) > tool.MaxCount {
		return errors.New("ab contradicts itself: the time taken or the rate is out of range")
	}
	// Both are rounded: the time to half a millisecond, the rate to half a hundredth.
	const hundredthMicros = 100 * 1_000_000
	fast := float64(r.complete) * hundredthMicros / (hundredths + 0.5)
	slow := float64(r.complete) * hundredthMicros / max(hundredths-0.5, 0.5)
	from, to := max(fast, millis*1000-500), min(slow, millis*1000+500)
	if from > to+1 {
		return fmt.Errorf("ab contradicts itself: %d requests in %.3f s at %.2f a second", r.complete, t.Seconds.Value, t.Throughput.Value)
	}
	r.micros = max(int64((from+to)/2), 1)
	return nil
}

// answered counts answered requests; lost counts those that ended otherwise, which ab also calls complete.
func (r *report) answered() int64 { return r.complete - r.lost() }

func (r *report) lost() int64 { return r.receives + r.writes }

var banner = regexp.MustCompile(`^(This is ApacheBench, Version .*|Copyright 1996 .*|Licensed to .*|Benchmarking .* \(be patient\)(\.\.\.)?(\.\.done)?)`)

// sentence returns why ab has no result, in its own words if possible.
func sentence(raw string) error {
	var words []string
	for line := range strings.Lines(raw) {
		line = strings.TrimSpace(banner.ReplaceAllString(strings.TrimSpace(line), ""))
		if strings.HasPrefix(line, "Usage:") {
			break
		}
		if line != "" {
			words = append(words, line)
		}
	}
	if len(words) == 0 {
		return errors.New("ab ended without a result and without a word")
	}
	why := printed.Clip(strings.Join(words, "; "), 300)
	if strings.Contains(why, "apr_pollset_poll") {
		return fmt.Errorf("ab ended without a result: %s: no connection got a byte for %s s; a server that keeps connections must say so to an HTTP/1.0 client, by \"Connection: keep-alive\"", why, timeout)
	}
	return fmt.Errorf("ab ended without a result: %s", why)
}
