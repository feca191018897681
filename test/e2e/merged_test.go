package e2e

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

var latencyLine = regexp.MustCompile(`(?m)^loadstone latency (\d+) (\d+)\s*$`)

// checkMerged compares the report's merged percentiles with those of raw latencies, which it reads from wrk's output and sorts.
func checkMerged(t *testing.T, data record.RunData, table analysis.Table, at record.Point) {
	t.Helper()
	for _, name := range []string{"gohttp", "epoll"} {
		raw := rawLatencies(t, data, table, at, name)
		slices.Sort(raw)
		g := table.Group(at, name)
		i := slices.IndexFunc(g.Latency, func(l measured.Distribution) bool { return l.Kind == record.Corrected })
		if i < 0 || g.Latency[i].Samples != int64(len(raw)) {
			t.Errorf("%s: the report does not show the %d latencies that wrk printed: %+v", name, len(raw), g.Latency)
			continue
		}
		for _, q := range g.Latency[i].Quantiles {
			if q.Micros == nil {
				continue
			}
			want := raw[int(math.Ceil(q.Q*float64(len(raw))))-1]
			if off := math.Abs(float64(*q.Micros - want)); off > max(1, float64(want)/1000) {
				t.Errorf("%s: p%g is %d µs, of the raw latencies %d µs", name, q.Q*100, *q.Micros, want)
			}
		}
	}
}

// rawLatencies returns all latencies in raw outputs of valid cells.
func rawLatencies(t *testing.T, data record.RunData, table analysis.Table, at record.Point, name string) []int64 {
	t.Helper()
	var all []int64
	for _, trial := range data.Trials {
		m := trial.Manifest
		if m.Servers[0] != name || isVoid(table, at, name, m.Block) {
			continue
		}
		for _, a := range m.Artifacts {
			if a.Name != at.Name()+".wrk.txt" {
				continue
			}
			body, err := loadstone.Store.Get(t.Context(), a.Key, a.SHA256)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, latencies(t, body)...)
		}
	}
	return all
}

func latencies(t *testing.T, raw []byte) []int64 {
	t.Helper()
	if _, err := (wrk.Tool{}).Parse(raw); err != nil {
		t.Fatal(err)
	}
	var all []int64
	for _, found := range latencyLine.FindAllSubmatch(raw, -1) {
		micros, count := number(t, found[1]), number(t, found[2])
		all = append(all, slices.Repeat([]int64{max(micros, 1)}, int(count))...)
	}
	return all
}

func number(t *testing.T, text []byte) int64 {
	t.Helper()
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func isVoid(table analysis.Table, at record.Point, name string, block int32) bool {
	g := table.Group(at, name)
	i := slices.IndexFunc(g.Cells, func(c validity.Cell) bool { return c.Block == block })
	return i < 0 || g.Cells[i].Validity == validity.Void
}
