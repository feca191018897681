package verdict

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// BlockRow is a value of an implementation in a block.
type BlockRow struct {
	record.Row
	Implementation string
	Block          int32
}

// RowComparison is a contender's value of a metric in a case, compared with the baseline's block by block.
type RowComparison struct {
	Implementation string `json:"implementation"`
	Baseline       string `json:"baseline"`
	Case           string `json:"case"`
	// Unit is that of the values, whose ratio Result is, and Better says which way is better.
	Unit   string           `json:"unit"`
	Better record.Direction `json:"better"`
	// VoidBlocks is the number of blocks in which a side has a value that does not count.
	VoidBlocks int `json:"voidBlocks,omitempty"`
	*Result
}

// Failures are what implementations lost by failures of their own: whole trials, and single cases of processes that went on.
type Failures struct {
	Trials map[string]int
	// Cases are by implementation and case; their metric is empty.
	Cases map[Place]int
}

func (f Failures) of(implementation, name string) int {
	return f.Trials[implementation] + f.Cases[Place{Implementation: implementation, Case: name}]
}

// CompareRows compares the contenders' values with the baseline's, metric by metric and case by case: the ratios, which have no verdict yet,
// and the family with them. The first metric of a case that both sides have decides; a case that a side never has is left out. Failures counts
// what each implementation lost by failures of its own.
func CompareRows(p planned.Run, rows []BlockRow, failures Failures, others Searches) ([]RowComparison, Searches) {
	var out []RowComparison
	all, values := cases(rows), placesOf(rows)
	for _, i := range p.Contenders() {
		decided := map[string]bool{}
		for _, one := range all {
			if !values.both(one, i.Name, p.Baseline) {
				continue // No number of blocks would make them comparable: the report lists the case as missing.
			}
			r := RowComparison{Implementation: i.Name, Baseline: p.Baseline, Case: one.Case, Unit: one.Unit, Better: one.Better}
			common, void := values.pairs(one, i.Name, p.Baseline)
			ratio := NewResult(Metric(one.Metric), logs(common))
			ratio.Decides, ratio.better = !decided[one.Case], one.Better
			decided[one.Case] = true
			r.Result, r.VoidBlocks = &ratio, void
			if !r.zeros(common, failures.of(i.Name, one.Case)+failures.of(p.Baseline, one.Case)) {
				others.Add(r.Result, failures.of(i.Name, one.Case), failures.of(p.Baseline, one.Case))
			}
			out = append(out, r)
		}
	}
	return out, others
}

// RowsByBlock compares two implementations in a metric of a case, block by block.
func RowsByBlock(rows []BlockRow, name, metric, own, base string) Result {
	common, _ := placesOf(rows).pairs(record.Row{Case: name, Metric: metric}, own, base)
	return NewResult(Metric(metric), logs(common))
}

// zeros decides a comparison of values that are 0, which have no ratio; false if there are none.
func (r *RowComparison) zeros(pairs []pair, failures int) bool {
	own, base := 0, 0
	for _, p := range pairs {
		own, base = own+asInt(p.own.Value == 0), base+asInt(p.base.Value == 0)
	}
	if own+base == 0 {
		return false
	}
	r.Verdict, r.Reason = Inconclusive, ZeroHasNoRatio
	if failures > 0 {
		r.Reason = ImplementationFailures
		return true
	}
	if own == len(pairs) && base == len(pairs) && own >= MinBlocks {
		r.Verdict, r.Reason = NoDifference, BothZero
	}
	return true
}

// cases are the distinct metrics and cases, in the order in which they were first printed.
func cases(rows []BlockRow) []record.Row {
	var names []string
	metrics := map[string][]record.Row{}
	for _, r := range rows {
		known := metrics[r.Case]
		if known == nil {
			names = append(names, r.Case)
		}
		if !slices.ContainsFunc(known, func(o record.Row) bool { return o.Metric == r.Metric }) {
			metrics[r.Case] = append(known, r.Row)
		}
	}
	var out []record.Row
	for _, name := range names {
		out = append(out, metrics[name]...)
	}
	return out
}

// Place is where a value stands: a metric of a case of an implementation.
type Place struct{ Implementation, Case, Metric string }

// places are all values, by where they stand.
type places map[Place][]BlockRow

func placesOf(rows []BlockRow) places {
	out := places{}
	for _, r := range rows {
		at := Place{r.Implementation, r.Case, r.Metric}
		out[at] = append(out[at], r)
	}
	return out
}

// both reports whether both sides have a value of a case, whether it counts or not.
func (v places) both(of record.Row, own, base string) bool {
	return len(v[Place{own, of.Case, of.Metric}]) > 0 && len(v[Place{base, of.Case, of.Metric}]) > 0
}

// pair are the values of both sides in one block.
type pair struct{ own, base BlockRow }

// pairs are the blocks in which both sides have a value that counts, and void is the number of those in which a side has one that does not.
func (v places) pairs(of record.Row, own, base string) (pairs []pair, void int) {
	var disturbed []int32
	at := map[int32]BlockRow{}
	for _, b := range v[Place{base, of.Case, of.Metric}] {
		if b.Void != "" {
			disturbed = append(disturbed, b.Block)
			continue
		}
		at[b.Block] = b
	}
	for _, a := range v[Place{own, of.Case, of.Metric}] {
		b, ok := at[a.Block]
		switch {
		case a.Void != "":
			disturbed = append(disturbed, a.Block)
		case ok:
			pairs = append(pairs, pair{a, b})
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int { return cmp.Compare(x.own.Block, y.own.Block) })
	return pairs, len(util.Distinct(disturbed))
}

// logs are the logs of the ratios of pairs that have one.
func logs(pairs []pair) []inference.Sample {
	var out []inference.Sample
	for _, p := range pairs {
		if p.own.Low > 0 && p.base.Low > 0 {
			out = append(out, inference.Sample{Block: p.own.Block, Span: inference.LogRatio(spanOfRow(p.own.Row), spanOfRow(p.base.Row))})
		}
	}
	return out
}

func spanOfRow(r record.Row) inference.Span {
	return inference.Span{Low: r.Low, Mid: r.Value, High: r.High}
}
