package lint

import (
	"errors"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

var (
	autocannonAmount = regexp.MustCompile(`^Running \d+ requests test @ \S+$`)
	autocannonLabel  = regexp.MustCompile(`^(\d+) connections?(?: with (\d+) pipelining factor)?$`)
)

// beginsAutocannon finds autocannon's output. Its first line may be wrk's: such a run becomes autocannon's with the next line.
func beginsAutocannon(line string, current *run) bool {
	switch {
	case autocannonAmount.MatchString(line):
		return true
	case autocannonLabel.MatchString(line):
		if current.in(Wrk) && len(current.lines) > 0 && wrk.Begins(current.lines[0]) && !current.has("Requests/sec:") && !current.has("Thread Stats") {
			current.form = &form{tool: Autocannon, read: readAutocannon}
			return false
		}
		return !current.in(Autocannon) || current.has("│ Stat")
	case strings.HasPrefix(line, "│ Stat"):
		return !current.in(Autocannon) || current.has("│ Req/Sec")
	}
	return false
}

func cells(line string) []string {
	var out []string
	for cell := range strings.SplitSeq(strings.Trim(line, "│"), "│") {
		out = append(out, strings.TrimSpace(cell))
	}
	return out
}

var autocannonPatterns = []pattern{
	line(`^Running (\S+) (?:requests )?test @ (\S+)$`, func(r *reading, m []string) error {
		r.URL = printed.Clip(m[2], quotedLine)
		if asked, err := printed.Parse(m[1], printed.Micros); err == nil {
			r.AskedSeconds = asked.Value / 1e6
		}
		return nil
	}),
	{autocannonLabel, func(r *reading, m []string) error {
		if m[2] != "" {
			r.Pipeline, _ = printed.Count(m[2]) // The shape allows digits only; 0 is unknown.
		}
		return printed.Counts(m[1:2], &r.Connections)
	}},
	line(`^│ (Stat .*)│$`, func(r *reading, m []string) error { r.columns = cells(m[1]); return nil }),
	line(`^│ (Latency .*)│$`, func(r *reading, m []string) error {
		return r.row(m[1], func(name, cell string) error {
			q, err := printed.Parse(cell, printed.Micros)
			if err == nil {
				stat(&r.latency, name, q)
			}
			return err
		})
	}),
	line(`^│ (Req/Sec .*)│$`, func(r *reading, m []string) error {
		return r.row(m[1], func(name, cell string) error {
			if name == "Avg" {
				return r.Throughput.Set(strings.ReplaceAll(cell, ",", ""), printed.Plain)
			}
			return nil
		})
	}),
	line(`^(\S+) requests in (\S+),`, func(r *reading, m []string) error {
		n, err := printed.Parse(m[1], printed.Thousands)
		r.Requests = int64(n.Value)
		return err
	}),
	line(`^(\d+) 2xx responses, (\d+) non 2xx responses$`, func(r *reading, m []string) error {
		var right int64
		err := printed.Counts(m[1:], &right, &r.Errors.Status)
		r.Requests = right + r.Errors.Status
		return err
	}),
	line(`^(\S+) errors? \((\S+) timeouts?\)$`, func(r *reading, m []string) error {
		all, err := printed.Parse(m[1], printed.Thousands)
		timeouts, other := printed.Parse(m[2], printed.Thousands)
		r.Errors.Timeout, r.Errors.Unsorted = int64(timeouts.Value), int64(max(all.Value-timeouts.Value, 0))
		if err == nil {
			err = other
		}
		return err
	}),
}

func (r *reading) row(text string, read func(name, cell string) error) error {
	var errs []error
	for i, cell := range cells(text) {
		if i > 0 && i < len(r.columns) {
			errs = append(errs, read(r.columns[i], cell))
		}
	}
	return errors.Join(errs...)
}

func readAutocannon(lines []string, s *Sample) error {
	readTable(lines, s, autocannonPatterns)
	if s.Requests == 0 {
		return errEnds("the totals")
	}
	for i := range s.Latency {
		s.Latency[i].ResolutionMicros = 1000
	}
	s.Unknown = append(s.Unknown, "autocannon's throughput is a mean of rates of one second.")
	return nil
}
