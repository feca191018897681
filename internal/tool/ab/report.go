package ab

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxCount bounds every number that is read, so that sums stay far from overflow.
const maxCount = 1 << 42

var (
	counter  = regexp.MustCompile(`(?m)^([A-Z][-A-Za-z0-9 ]*): +(\d+)(?: bytes)?$`)
	taken    = regexp.MustCompile(`(?m)^Time taken for tests: +(\d+)\.(\d{3}) seconds$`)
	rate     = regexp.MustCompile(`(?m)^Requests per second: +(\d+)\.(\d{2}) \[#/sec\] \(mean\)$`)
	failures = regexp.MustCompile(`(?m)^ +\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)$`)
)

// report is what ab prints for people.
type report struct {
	connections, complete, failed, bytes int64
	writes, otherStatus                  int64
	connects, receives                   int64
	lengths, exceptions                  int64
	// kept is the number of requests after which their connection was kept; keepAlive says whether ab asked for that.
	kept      int64
	keepAlive bool
	// micros is the time taken.
	micros int64
}

func parseReport(text string) (report, error) {
	counters := map[string]int64{}
	for _, found := range counter.FindAllStringSubmatch(text, -1) {
		n, err := count(found[2])
		if err != nil {
			return report{}, fmt.Errorf("reading ab's line %q: %w", found[0], err)
		}
		if _, twice := counters[found[1]]; twice {
			return report{}, fmt.Errorf("reading ab's line %q: the counter is there twice", found[0])
		}
		counters[found[1]] = n
	}
	for _, name := range []string{"Concurrency Level", "Complete requests", "Failed requests", "Total transferred"} {
		if _, ok := counters[name]; !ok {
			return report{}, fmt.Errorf("ab's output is incomplete: %q is missing", name)
		}
	}
	r := report{
		connections: counters["Concurrency Level"], complete: counters["Complete requests"], failed: counters["Failed requests"],
		bytes: counters["Total transferred"], writes: counters["Write errors"], otherStatus: counters["Non-2xx responses"],
	}
	r.kept, r.keepAlive = counters["Keep-Alive requests"]
	if err := r.addFailures(text); err != nil {
		return report{}, err
	}
	return r, r.check()
}

func (r *report) addFailures(text string) error {
	found := failures.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	for i, to := range []*int64{&r.connects, &r.receives, &r.lengths, &r.exceptions} {
		n, err := count(found[i+1])
		if err != nil {
			return fmt.Errorf("reading ab's failures: %w", err)
		}
		*to = n
	}
	return nil
}

// check says where ab contradicts itself. More requests may have failed than are explained: a head that is too large for ab is one.
func (r *report) check() error {
	switch explained := r.connects + r.receives + r.lengths + r.exceptions; {
	case r.failed < explained:
		return fmt.Errorf("ab contradicts itself: %d failed requests, of which it explains %d", r.failed, explained)
	case r.kept > r.complete:
		return fmt.Errorf("ab contradicts itself: %d requests kept their connection, of %d", r.kept, r.complete)
	case r.connections < 1 || r.connections > 1<<31-1:
		return fmt.Errorf("ab contradicts itself: a concurrency level of %d", r.connections)
	}
	return nil
}

// addDuration reads the time taken, which ab prints in milliseconds, and the rate, by which it is known better.
func (r *report) addDuration(text string) error {
	time, mean := taken.FindStringSubmatch(text), rate.FindStringSubmatch(text)
	if time == nil || mean == nil {
		return errors.New("ab's output is incomplete: the time taken or the rate is missing")
	}
	millis, err := count(time[1] + time[2])
	if err != nil {
		return fmt.Errorf("reading ab's time taken: %w", err)
	}
	hundredths, err := count(mean[1] + mean[2])
	if err != nil {
		return fmt.Errorf("reading ab's rate: %w", err)
	}
	// Both are rounded: the time to half a millisecond, the rate to half a hundredth.
	const hundredthMicros = 100 * 1_000_000
	fast := float64(r.complete) * hundredthMicros / (float64(hundredths) + 0.5)
	slow := float64(r.complete) * hundredthMicros / max(float64(hundredths)-0.5, 0.5)
	from, to := max(fast, float64(millis*1000-500)), min(slow, float64(millis*1000+500))
	if from > to+1 {
		return fmt.Errorf("ab contradicts itself: %d requests in %s.%s s at %s.%s a second", r.complete, time[1], time[2], mean[1], mean[2])
	}
	r.micros = max(int64((from+to)/2), 1)
	return nil
}

// answered is the number of requests that were answered; lost is how many ended otherwise, which ab completes too.
func (r *report) answered() int64 { return r.complete - r.lost() }

func (r *report) lost() int64 { return r.receives + r.writes }

func count(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading a number: %w", err)
	}
	if n > maxCount {
		return 0, fmt.Errorf("%d is out of range", n)
	}
	return n, nil
}

var banner = regexp.MustCompile(`^(This is ApacheBench, Version .*|Copyright 1996 .*|Licensed to .*|Benchmarking .* \(be patient\)(\.\.\.)?(\.\.done)?)`)

// sentence says why ab has no result, in its own words where it has any.
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
	why := clip(strings.Join(words, "; "), 300)
	if strings.Contains(why, "apr_pollset_poll") {
		return fmt.Errorf("ab ended without a result: %s: no connection got a byte for %s s; a server that keeps connections must say so to an HTTP/1.0 client, by \"Connection: keep-alive\"", why, timeout)
	}
	return fmt.Errorf("ab ended without a result: %s", why)
}

func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}
