package lint

import (
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
)

// beginsHey finds the summary of hey or oha, which look alike.
func beginsHey(line string, _ *run) bool { return line == "Summary:" }

func latencyOf(stat func(*reading) **printed.Quantity) func(*reading, []string) error {
	return func(r *reading, m []string) error {
		return quantity(stat, printed.Micros)(r, []string{"", m[1], shortUnit(m[2])})
	}
}

func shortUnit(unit string) string {
	if strings.HasPrefix(unit, "sec") {
		return "s"
	}
	return unit
}

const timeUnit = `(secs?|ms|us|µs|ns|m|h)$`

var heyPatterns = []pattern{
	line(`^Success rate:`, func(r *reading, _ []string) error { r.Tool = Oha; return nil }),
	line(`^Total:\s+(\S+) `+timeUnit, func(r *reading, m []string) error {
		var q *printed.Quantity
		err := latencyOf(func(*reading) **printed.Quantity { return &q })(r, m)
		if err == nil {
			r.Seconds = printed.Quantity{Value: q.Value / 1e6, Rounding: q.Rounding / 1e6}
		}
		return err
	}),
	line(`^Slowest:\s+(\S+) `+timeUnit, latencyOf(func(r *reading) **printed.Quantity { return &r.latency.Max })),
	line(`^Fastest:\s+(\S+) `+timeUnit, latencyOf(func(r *reading) **printed.Quantity { return &r.latency.Min })),
	line(`^Average:\s+(\S+) `+timeUnit, latencyOf(func(r *reading) **printed.Quantity { return &r.latency.Mean })),
	line(`^Requests/sec:\s+(\S+)$`, func(r *reading, m []string) error { return r.Throughput.Set(m[1], printed.Plain) }),
	line(`^Total data:\s+(\S+) bytes$`, quantity(func(r *reading) **printed.Quantity { return &r.BodyBytes }, printed.Plain)),
	line(`^([0-9.]+)%{1,2} in (\S+) `+timeUnit, func(r *reading, m []string) error { return quantile(r, []string{"", m[1], m[2], shortUnit(m[3])}) }),
	line(`^\[(\d+)\]\s+(\d+) responses$`, func(r *reading, m []string) error {
		var status, n int64
		err := printed.Counts(m[1:], &status, &n)
		r.answered(status, n)
		return err
	}),
	line(`^(Response time histogram|Details .*|Status code distribution|Error distribution):$`, func(r *reading, m []string) error {
		r.columns = m[1:]
		return nil
	}),
	line(`^\[(\d+)\]\s+(.+)$`, heyError),
}

// heyError counts a kind of error. oha stops at its end without waiting for answers, which is no error.
func heyError(r *reading, m []string) error {
	if len(r.columns) == 0 || r.columns[0] != "Error distribution" {
		return nil
	}
	n, err := printed.Count(m[1])
	r.failedWith(n, m[2])
	return err
}

// failedWith counts requests that got no answer, in the tool's words.
func (s *Sample) failedWith(n int64, text string) {
	if strings.Contains(text, "aborted due to deadline") {
		s.Unknown = append(s.Unknown, "oha dropped the requests that were still open at its end.")
		return
	}
	s.Requests += n
	s.Errors.Unsorted += n
	s.say(n, text)
}

func readHey(lines []string, s *Sample) error {
	readTable(lines, s, heyPatterns)
	if s.Requests == 0 && s.Throughput.Value == 0 {
		return errEnds("the totals")
	}
	if s.Requests == 0 {
		return errEnds("the status code distribution")
	}
	if s.Tool == Oha && s.Seconds.Value > 0 {
		s.Throughput = printed.Quantity{} // It counts requests that oha dropped at its end.
	}
	s.Unknown = append(s.Unknown, s.Tool+" does not print its number of connections.")
	return nil
}
