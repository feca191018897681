package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/phrase"
	"loadstone.dev/loadstone/internal/report/view"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// columns head the CSV. Columns may be added at the end; existing ones keep name, unit and meaning.
var columns = []string{
	"run", "ended", "kind", "name", "implementation", "baseline", "load", "connections", "requestsPerSecond", "case", "metric", "unit",
	"value", "low", "high", "confidence", "n", "min", "max", "outcome", "reason", "decides", "adjustedP",
}

// streamsColumn is the last column if a load has several streams per connection; otherwise it is absent.
const streamsColumn = "streamsPerConnection"

type csvKind string

const (
	// csvObjective has outcome Met, Missed or Undecided.
	csvObjective csvKind = "objective"
	// csvComparison is a contender's ratio to the baseline. outcome is the verdict; decides marks the ratio that
	// counts.
	csvComparison csvKind = "comparison"
	// csvMean is an implementation's mean over the blocks.
	csvMean csvKind = "mean"
)

// csvRow is one number. A nil end is open or unknown.
type csvRow struct {
	kind                           csvKind
	name, implementation, baseline string
	at                             record.Point
	caseName, metric, unit         string
	value, low, high               *float64
	n                              int
	min, max                       *float64
	outcome, reason, decides       string
	adjustedP                      *float64
}

// CSV prints objectives, comparisons and means as rows for spreadsheets.
func CSV(t analysis.Table) ([]byte, error) {
	v := run{view.New(t, phrase.English)}
	streams := slices.ContainsFunc(t.Levels, func(l planned.Level) bool { return l.StreamsPerConnection > 1 })
	head := slices.Clone(columns)
	if streams {
		head = append(head, streamsColumn)
	}
	rows := [][]string{head}
	for _, kind := range [][]csvRow{v.csvObjectives(), v.csvComparisons(), v.csvMeans()} {
		for _, r := range kind {
			fields := r.fields(t)
			if streams {
				fields = append(fields, v.streamsAt(r.at))
			}
			rows = append(rows, fields)
		}
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		return nil, fmt.Errorf("printing the rows of run %s: %w", t.Run.Name, err)
	}
	return out.Bytes(), nil
}

func (v run) streamsAt(at record.Point) string {
	l := v.Level(at)
	if l.Connections == 0 {
		return ""
	}
	return positive(max(l.StreamsPerConnection, 1))
}

func (v run) csvObjectives() []csvRow {
	var out []csvRow
	for _, o := range v.Table.Objectives {
		metric := string(o.Metric)
		switch {
		case o.Of != "":
			metric += " of " + string(verdict.MetricOf(o.Of, o.Percentile))
		case o.Percentile != "":
			metric = string(verdict.LatencyAt(o.Percentile))
		}
		out = append(out, csvRow{
			kind: csvObjective, name: o.Name, implementation: o.Implementation, at: o.Point, caseName: o.Case, metric: metric, unit: format.ASCII(o.Unit),
			value: o.Value, low: o.Low, high: o.High, n: o.N, min: o.Min, max: o.Max, outcome: string(o.Outcome), reason: string(o.Reason),
		})
	}
	return out
}

func (v run) csvComparisons() []csvRow {
	var out []csvRow
	add := func(row csvRow, r verdict.Result, outcome verdict.Verdict, reason verdict.Reason) {
		row.kind, row.metric, row.unit = csvComparison, string(r.Metric), "ratio"
		row.value, row.n, row.adjustedP, row.decides = r.Ratio, r.Blocks, r.AdjustedP, strconv.FormatBool(r.Decides)
		row.outcome, row.reason = string(outcome), string(reason)
		if low, high, ok := phrase.Ends(r); ok {
			row.low, row.high = closed(low), closed(high)
		}
		out = append(out, row)
	}
	for _, c := range v.Table.Comparisons {
		for _, e := range v.Effects(c) {
			for _, r := range e.Results {
				outcome, reason := e.Said(r)
				add(csvRow{implementation: c.Implementation, baseline: c.Baseline, at: e.Point}, r, outcome, reason)
			}
		}
	}
	for _, c := range v.Table.Capacities {
		if r := c.ToBaseline; r != nil {
			add(csvRow{implementation: c.Implementation, baseline: v.Table.Run.Baseline, at: c.Point()}, *r, r.Verdict, r.Reason)
		}
	}
	for _, r := range v.Table.Rows {
		add(csvRow{implementation: r.Implementation, baseline: r.Baseline, caseName: r.Case}, *r.Result, r.Verdict, r.Reason)
	}
	return out
}

func closed(end float64) *float64 {
	if end <= 0 || math.IsInf(end, 1) {
		return nil
	}
	return &end
}

func (v run) csvMeans() []csvRow {
	var out []csvRow
	add := func(row csvRow, s *inference.Summary, isBound bool) {
		if s == nil {
			return
		}
		row.kind, row.value, row.low, row.high, row.n = csvMean, &s.Mean, s.Low, s.High, s.N
		if isBound {
			row.high, row.reason = nil, string(objectives.LowerBound)
		}
		out = append(out, row)
	}
	for _, g := range v.Table.Groups {
		for _, m := range groupMeans(g) {
			add(csvRow{implementation: g.Implementation, at: g.Point, metric: m.metric, unit: m.unit}, m.of, m.isBound)
		}
	}
	for _, c := range v.Table.Capacities {
		add(csvRow{implementation: c.Implementation, at: c.Point(), metric: string(verdict.Capacity), unit: "requests/s"}, c.Rate, c.IsBound)
	}
	for _, c := range v.Table.Cases {
		add(csvRow{implementation: c.Implementation, caseName: c.Case, metric: c.Metric, unit: c.Unit}, c.Summary, false)
	}
	return out
}

type groupMean struct {
	metric, unit string
	of           *inference.Summary
	isBound      bool
}

// groupMeans omits latencies, which have several kinds and come from histograms.
func groupMeans(g validity.Group) []groupMean {
	return []groupMean{
		{string(verdict.Throughput), "requests/s", g.Throughput, g.ThroughputIsBound},
		{string(verdict.CPUPerRequest), "us", g.CPUPerRequest, false},
		{string(v1alpha1.ObjectiveServerCPUs), "CPUs", g.ServerCPUs, false},
		{string(v1alpha1.ObjectivePeakMemory), "bytes", g.ServerPeakMemory, false},
	}
}

func (r csvRow) fields(t analysis.Table) []string {
	ended, confidence := "", ""
	if !t.Run.Ended.IsZero() {
		ended = t.Run.Ended.UTC().Format(time.RFC3339)
	}
	if r.low != nil || r.high != nil {
		confidence = decimal(&t.Rules.Confidence)
	}
	return []string{
		harmless(t.Run.Name), ended, string(r.kind), harmless(r.name), harmless(r.implementation), harmless(r.baseline), harmless(r.at.Load), positive(r.at.Connections),
		positive(r.at.RequestsPerSecond), harmless(r.caseName), harmless(r.metric), harmless(r.unit), decimal(r.value), decimal(r.low), decimal(r.high), confidence,
		strconv.Itoa(r.n), decimal(r.min), decimal(r.max), r.outcome, r.reason, r.decides, decimal(r.adjustedP),
	}
}

// harmless guards a field from outside: a spreadsheet would compute one that begins like a formula, unless an
// apostrophe precedes it.
func harmless(s string) string {
	if strings.IndexAny(strings.TrimLeft(s, " "), "=+-@\t\r\n＝＋－＠") == 0 {
		return "'" + s
	}
	return s
}

func positive(n int32) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}
