package lint

import (
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
)

// beginsH2load finds h2load's output, whose first lines may be missing.
func beginsH2load(line string, current *run) bool {
	switch {
	case line == "starting benchmark...":
		return true
	case strings.HasPrefix(line, "spawning thread #0"):
		return !current.in(H2load) || current.has("spawning thread #0")
	case strings.HasPrefix(line, "finished in ") && strings.Contains(line, " req/s, "):
		return !current.in(H2load) || current.has("finished in ")
	}
	return false
}

var h2loadPatterns = []pattern{
	line(`^spawning thread #\d+: (\d+) total client\(s\)`, func(r *reading, m []string) error {
		n, err := printed.Count(m[1])
		r.Connections += n
		r.Threads++
		return err
	}),
	line(`^finished in (\S+), (\S+) req/s,`, func(r *reading, m []string) error {
		took, err := printed.Parse(m[1], printed.Micros)
		if err != nil {
			return err
		}
		r.Seconds = printed.Quantity{Value: took.Value / 1e6, Rounding: took.Rounding / 1e6}
		return r.Throughput.Set(m[2], printed.Plain)
	}),
	line(`^requests: \d+ total, \d+ started, (\d+) done, \d+ succeeded, \d+ failed, (\d+) errored, (\d+) timeout$`,
		counts(func(r *reading) []*int64 { return []*int64{&r.Requests, &r.Errors.Unsorted, &r.Errors.Timeout} })),
	line(`^status codes: \d+ 2xx, \d+ 3xx, (\d+) 4xx, (\d+) 5xx$`, func(r *reading, m []string) error {
		var client, server int64
		err := printed.Counts(m[1:], &client, &server)
		r.Errors.Status = client + server
		return err
	}),
	line(`^traffic: \S+ \((\d+)\) total,`, quantity(func(r *reading) **printed.Quantity { return &r.Bytes }, printed.Plain)),
	line(`^traffic: (\d+) bytes total,`, quantity(func(r *reading) **printed.Quantity { return &r.Bytes }, printed.Plain)),
	line(`^(min +max +.*)$`, func(r *reading, m []string) error { r.columns = strings.Fields(m[1]); return nil }),
	line(`^(?:time for request|request +): +(.+)$`, func(r *reading, m []string) error {
		for i, cell := range strings.Fields(m[1]) {
			if i >= len(r.columns) || r.columns[i] == "+/-" {
				break
			}
			q, err := printed.Parse(cell, printed.Micros)
			if err != nil {
				return err
			}
			stat(&r.latency, r.columns[i], q)
		}
		return nil
	}),
}

func readH2load(lines []string, s *Sample) error {
	readTable(lines, s, h2loadPatterns)
	if s.Throughput.Value == 0 && s.Requests == 0 {
		return errEnds("the totals")
	}
	s.Unknown = append(s.Unknown, "h2load does not print how many streams each connection has (-m).")
	return nil
}
