package ladder

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"time"
)

// line is one line of docs/reference/cases.md.
type line struct {
	Schema     string            `json:"schema"`
	Case       string            `json:"case,omitempty"`
	Metric     string            `json:"metric,omitempty"`
	Unit       string            `json:"unit,omitempty"`
	Better     string            `json:"better,omitempty"`
	Value      *float64          `json:"value,omitempty"`
	Iterations uint64            `json:"iterations,omitempty"`
	Failure    string            `json:"failure,omitempty"`
	Context    map[string]string `json:"context,omitempty"`
}

const schema = "loadstone.case/v1"

// Print holds every conversation over a rung, for so long each, and prints a line for each value. A case that fails costs itself alone.
func Print(w io.Writer, rung Rung, least time.Duration) error {
	out := json.NewEncoder(w)
	context := map[string]string{"rung": rung.Name, "go": runtime.Version(), "GOMAXPROCS": strconv.Itoa(runtime.GOMAXPROCS(0))}
	if err := out.Encode(line{Schema: schema, Context: context}); err != nil {
		return fmt.Errorf("printing what the program is: %w", err)
	}
	for _, c := range Cases() {
		lines := []line{{Case: c.Name}}
		if r, err := c.Do(rung, least); err != nil {
			lines[0].Failure = err.Error()
		} else {
			lines = r.lines(c)
		}
		for _, l := range lines {
			l.Schema = schema
			if err := out.Encode(l); err != nil {
				return fmt.Errorf("printing the case %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// lines are the values of a case. What is allocated is in whole numbers, as go test prints it: the runtime allocates, too, now and then.
func (r Result) lines(c Case) []line {
	n := float64(r.Operations)
	value := func(metric, unit, better string, v float64) line {
		return line{Case: c.Name, Metric: metric, Unit: unit, Better: better, Value: &v}
	}
	all := []line{
		value("Time", "ns", "Less", float64(r.Wall)/n),
		value("CPU time", "ns", "Less", float64(r.CPU)/n),
		value("Bytes allocated", "B/op", "Less", float64(r.Allocated/r.Operations)),
		value("Allocations", "allocs/op", "Less", float64(r.Allocations/r.Operations)),
	}
	all[0].Iterations = r.Operations
	if !c.hello.answers {
		all = append(all, value("Throughput", "MB/s", "More", float64(r.Bytes)/1e6/r.Wall.Seconds()))
	}
	return all
}
