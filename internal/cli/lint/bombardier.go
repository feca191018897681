package lint

import (
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
)

var bombardierPatterns = []pattern{
	line(`^Bombarding (\S+) (?:for (\S+)|with \d+ request\(s\)) using (\d+) connection`, func(r *reading, m []string) error {
		r.URL = printed.Clip(m[1], quotedLine)
		if asked, err := printed.ParseSpan(m[2]); err == nil {
			r.AskedSeconds = asked.Value / 1e6
		}
		return printed.Counts(m[3:], &r.Connections)
	}),
	line(`^Reqs/sec +(\S+)`, func(r *reading, m []string) error { return r.Throughput.Set(m[1], printed.Plain) }),
	line(`^Latency +(\S+) +(\S+) +(\S+)$`, func(r *reading, m []string) error {
		for i, name := range []string{"avg", "stdev", "max"} {
			q, err := printed.Parse(m[i+1], printed.Micros)
			if err != nil {
				return err
			}
			stat(&r.latency, name, q)
		}
		return nil
	}),
	line(`^([0-9.]+)% +(\S+)$`, quantile),
	line(`^1xx - (\d+), 2xx - (\d+), 3xx - (\d+), 4xx - (\d+), 5xx - (\d+)$`, func(r *reading, m []string) error {
		for i, text := range m[1:] {
			n, err := printed.Count(text)
			if err != nil {
				return err
			}
			r.answered(int64(i+1)*100, n)
		}
		return nil
	}),
	line(`^others - (\d+)$`, func(r *reading, m []string) error {
		n, err := printed.Count(m[1])
		r.Requests += n
		r.Errors.Unsorted += n
		return err
	}),
	line(`^Errors:$`, func(r *reading, _ []string) error { r.columns = []string{"errors"}; return nil }),
	line(`^(.+) - (\d+)$`, func(r *reading, m []string) error {
		n, err := printed.Count(m[2])
		if r.columns != nil {
			r.say(n, strings.TrimSpace(m[1]))
		}
		return err
	}),
}

func readBombardier(lines []string, s *Sample) error {
	if at := slices.IndexFunc(lines, opens); at >= 0 {
		found, err := readDocument([]byte(strings.Join(lines[at:], "\n")))
		if err == nil && len(found) == 1 {
			found[0].File, found[0].Line, found[0].Stream = s.File, s.Line, s.Stream
			*s = found[0]
		}
		return err
	}
	readTable(lines, s, bombardierPatterns)
	if s.Requests == 0 && s.Throughput.Value == 0 {
		return errEnds("the totals")
	}
	// Its throughput is a mean of rates over short times.
	s.Unknown = append(s.Unknown, "bombardier does not print how long it ran: the time follows from its requests and its mean rate.")
	return nil
}
