package verdict

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/inference"
	"loadstone.dev/loadstone/internal/pick"
	"loadstone.dev/loadstone/internal/planned"
	"loadstone.dev/loadstone/internal/record"
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
	*Result
}

// CompareRows compares the contenders' values with the baseline's, metric by metric and case by case: the ratios, which have no verdict yet,
// and the family with them. A case that a side lacks in every block is compared with nothing, and is Inconclusive for want of blocks.
// Failures counts what each implementation lost by failures of its own.
func CompareRows(p planned.Run, rows []BlockRow, failures map[string]int, others Searches) ([]RowComparison, Searches) {
	var out []RowComparison
	for _, i := range p.Contenders() {
		for _, one := range cases(rows) {
			r := RowComparison{Implementation: i.Name, Baseline: p.Baseline, Case: one.Case, Unit: one.Unit, Better: one.Better}
			ratio := NewResult(Metric(one.Metric), pairs(one, rows, i.Name, p.Baseline))
			ratio.Decides, ratio.better = true, one.Better
			r.Result = &ratio
			others.Add(r.Result, failures[i.Name], failures[p.Baseline])
			out = append(out, r)
		}
	}
	return out, others
}

// cases are the distinct metrics and cases, in order.
func cases(rows []BlockRow) []record.Row {
	var out []record.Row
	for _, r := range rows {
		if !slices.ContainsFunc(out, func(o record.Row) bool { return o.Metric == r.Metric && o.Case == r.Case }) {
			out = append(out, r.Row)
		}
	}
	slices.SortStableFunc(out, func(a, b record.Row) int { return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Metric, b.Metric)) })
	return out
}

// pairs are the logs of the ratios of two implementations, of the blocks in which both have a value that counts.
func pairs(of record.Row, rows []BlockRow, own, base string) []inference.Sample {
	at := func(block int32, name string) *BlockRow {
		return pick.First(rows, func(r *BlockRow) bool {
			return r.Block == block && r.Implementation == name && r.Metric == of.Metric && r.Case == of.Case && r.Void == "" && r.Low > 0
		})
	}
	var blocks []int32
	for _, r := range rows {
		blocks = append(blocks, r.Block)
	}
	var out []inference.Sample
	for _, block := range pick.Distinct(blocks) {
		if a, b := at(block, own), at(block, base); a != nil && b != nil {
			out = append(out, inference.Sample{Block: block, Span: inference.LogRatio(spanOfRow(a.Row), spanOfRow(b.Row))})
		}
	}
	return out
}

func spanOfRow(r record.Row) inference.Span {
	return inference.Span{Low: r.Low, Mid: r.Value, High: r.High}
}
