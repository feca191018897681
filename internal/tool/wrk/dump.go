package wrk

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

const prefix = "loadstone "

var counters = []string{"duration", "requests", "bytes", "connect", "read", "write", "timeout", "status", "bins"}

type dump struct {
	summary map[string]int64
	bins    []tool.Bin
	seen    map[int64]bool
	made    []int64
	begun   bool
	ended   bool
}

func parseDump(raw []byte) (dump, error) {
	d := dump{summary: map[string]int64{}, seen: map[int64]bool{}}
	for line := range bytes.Lines(raw) {
		rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(prefix))
		if !ok {
			continue
		}
		if err := d.add(strings.Fields(string(rest))); err != nil {
			return d, fmt.Errorf("reading wrk's line %q: %w", printed.Clip(string(bytes.TrimSpace(line)), 80), err)
		}
	}
	if !d.begun || !d.ended {
		return d, errors.New("wrk's output is incomplete: it did not reach the end of its histogram")
	}
	for _, name := range counters {
		if _, ok := d.summary[name]; !ok {
			return d, fmt.Errorf("wrk's output is incomplete: %s is missing", name)
		}
	}
	if int64(len(d.bins)) != d.summary["bins"] {
		return d, fmt.Errorf("wrk's output is incomplete: it has %d of %d latencies", len(d.bins), d.summary["bins"])
	}
	return d, nil
}

var errLine = errors.New("the line is not one that the script writes here")

func (d *dump) add(words []string) error {
	switch {
	case d.ended:
		return errLine
	case len(words) == 1 && words[0] == "begin" && !d.begun:
		d.begun = true
		return nil
	case len(words) == 3 && words[0] == "request" && !d.begun:
		return d.addMade(words[1], words[2])
	case !d.begun:
		return errLine
	case len(words) == 1 && words[0] == "end":
		d.ended = true
		return nil
	case len(words) == 3 && words[0] == "summary":
		return d.addSummary(words[1], words[2])
	case len(words) == 3 && words[0] == "latency":
		return d.addLatency(words[1], words[2])
	}
	return errLine
}

func (d *dump) addMade(place, count string) error {
	n, err := tool.Count(count)
	if err != nil {
		return err
	}
	if place != strconv.Itoa(len(d.made)+1) {
		return errLine
	}
	d.made = append(d.made, n)
	return nil
}

func (d *dump) addSummary(name, value string) error {
	n, err := tool.Count(value)
	if err != nil {
		return err
	}
	if _, twice := d.summary[name]; twice {
		return errors.New("the counter is there twice")
	}
	d.summary[name] = n
	return nil
}

func (d *dump) addLatency(micros, count string) error {
	m, err := tool.Count(micros)
	if err != nil {
		return err
	}
	n, err := tool.Count(count)
	if err != nil {
		return err
	}
	if m > histogram.HighestMicros || d.seen[m] { // wrk's timeout is far below.
		return errors.New("the latency is there twice, or longer than any")
	}
	d.seen[m] = true
	d.bins = append(d.bins, tool.Bin{Micros: m, Count: n})
	return nil
}
