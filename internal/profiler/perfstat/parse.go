package perfstat

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/profiler/lines"
)

// Counter is one event of a program.
type Counter struct {
	// Event is perf's name, such as "instructions" or "task-clock".
	Event string `json:"event"`
	// Value is nil if not counted, for perf's reason Why.
	Value *float64 `json:"value,omitempty"`
	Why   string   `json:"why,omitempty"`
	// Unit is empty for counts; task-clock is in "msec".
	Unit string `json:"unit,omitempty"`
	// Share is the counted share of time. Below 1, perf has extrapolated.
	Share float64 `json:"share"`
}

// Extrapolated reports whether the event shared its counter, so that its value is an estimate.
func (c Counter) Extrapolated() bool { return c.Value != nil && c.Share < 1 }

const (
	// TaskClock is the program's CPU time in milliseconds.
	TaskClock = "task-clock"
	// Instructions counts instructions.
	Instructions = "instructions"
	// UserOnly is perf's suffix of an event counted in user mode only.
	UserOnly    = ":u"
	MaxCounters = 1000
	maxName     = 256
	fewest      = 5
)

// Parse parses perf's lines. If one is wrong, those before it are returned with the error.
func Parse(r io.Reader) ([]Counter, error) {
	counters, err := read(lines.NewReader(r))
	if err != nil {
		return counters, fmt.Errorf("reading perf's counters: %w", err)
	}
	return counters, nil
}

func read(r *lines.Reader) ([]Counter, error) {
	var counters []Counter
	for r.Next() {
		if r.Line() == "" || strings.HasPrefix(r.Line(), "#") {
			continue
		}
		if len(counters) == MaxCounters {
			return counters, fmt.Errorf("%w: more than %d counters", lines.ErrLarge, MaxCounters)
		}
		c, err := readCounter(r)
		if err != nil {
			return counters, err
		}
		counters = append(counters, c)
	}
	switch {
	case r.Err() != nil:
		return counters, r.Err()
	case r.Empty():
		return nil, lines.ErrEmpty
	case len(counters) == 0:
		return nil, fmt.Errorf("%w: perf began, and no counter is there", lines.ErrCut)
	}
	return counters, nil
}

// readCounter reads "VALUE,UNIT,EVENT,TIME,PERCENT,...".
func readCounter(r *lines.Reader) (Counter, error) {
	const want = "a value, a unit, an event, a time and a share"
	fields := strings.Split(r.Line(), ",")
	if len(fields) < fewest || fields[2] == "" {
		return Counter{}, r.Wrong(want)
	}
	share, err := printed.Share(fields[4])
	if err != nil {
		return Counter{}, r.Wrong(want)
	}
	c := Counter{Event: printed.Clip(fields[2], maxName), Unit: printed.Clip(fields[1], maxName), Share: share}
	if why, found := strings.CutPrefix(fields[0], "<"); found {
		c.Why = printed.Clip(strings.TrimSuffix(why, ">"), maxName)
		return c, nil
	}
	value, err := printed.Number(fields[0])
	if err != nil {
		return Counter{}, r.Wrong(want)
	}
	c.Value = &value
	return c, nil
}

// Write writes counters like perf stat -x,, with the reason in place of a missing value.
func Write(w io.Writer, counters []Counter) error {
	for _, c := range counters {
		value := "<" + strings.NewReplacer(",", ";", "\n", " ", "<", "", ">", "").Replace(c.Why) + ">"
		if c.Value != nil {
			value = strconv.FormatFloat(*c.Value, 'f', -1, 64)
		}
		if _, err := fmt.Fprintf(w, "%s,%s,%s,0,%.2f,,\n", value, c.Unit, c.Event, 100*c.Share); err != nil {
			return fmt.Errorf("writing counters: %w", err)
		}
	}
	return nil
}
