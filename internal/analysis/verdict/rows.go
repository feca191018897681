package verdict

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// BlockRow is a value of an implementation in a block.
type BlockRow struct {
	record.Row
	Implementation string
	Block          int32
	// Doubts are the codes that make its process suspect.
	Doubts []validity.Code
}

// RowComparison compares a metric in a case by block.
type RowComparison struct {
	Implementation string           `json:"implementation"`
	Baseline       string           `json:"baseline"`
	Case           string           `json:"case"`
	Unit           string           `json:"unit"`
	Better         record.Direction `json:"better"`
	VoidBlocks     int              `json:"voidBlocks,omitempty"`
	// Main is the verdict that Against turned into Mixed; otherwise empty. Against are the case's winners in other
	// metrics that the deciding one would hide, the largest first.
	Main    Verdict  `json:"main,omitempty"`
	Against []Winner `json:"against,omitempty"`
	*Result
}

// WeighCases makes each case Mixed whose deciding metric hides a winner in another one, as Compare does for loads.
func WeighCases(rows []RowComparison) {
	for k := range rows {
		r := &rows[k]
		if !r.Decides || r.Verdict == Inconclusive || r.Verdict == Differs {
			continue
		}
		for _, o := range rows {
			if o.Implementation == r.Implementation && o.Case == r.Case && !o.Decides && o.Decided() && o.Verdict != r.Verdict {
				r.Against = append(r.Against, WinnerAt(record.Point{}, *o.Result))
			}
		}
		if len(r.Against) > 0 {
			slices.SortStableFunc(r.Against, func(a, b Winner) int { return cmp.Compare(b.Size(), a.Size()) })
			r.Main, r.Verdict = r.Verdict, Mixed
		}
	}
}

// Failures are the implementations' own: whole trials, and single cases.
type Failures struct {
	Trials map[string]int
	// Cases are by implementation and case, with an empty metric.
	Cases map[Place]int
}

func (f Failures) of(implementation, name string) int {
	return f.Trials[implementation] + f.Cases[Place{Implementation: implementation, Case: name}]
}

// CompareRows compares the contenders' values with the baseline's by metric and case. It returns ratios without
// verdicts, and the family with them. The first metric of a case that both sides have decides; a case that one side
// never has is left out.
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
			for _, p := range common {
				ratio.AddPair(p.own.Doubts, p.base.Doubts)
			}
			ratio.Decides, ratio.better = !decided[one.Case], one.Better
			decided[one.Case] = true
			r.Result, r.VoidBlocks = &ratio, void
			if !r.mixesUnits(values, i.Name) && !r.zeros(common, failures.of(i.Name, one.Case)+failures.of(p.Baseline, one.Case)) {
				others.Add(r.Result, failures.of(i.Name, one.Case), failures.of(p.Baseline, one.Case))
			}
			out = append(out, r)
		}
	}
	return out, others
}

// RowsByBlock compares two implementations in one case and metric, pairing the rows of the same block.
func RowsByBlock(rows []BlockRow, name, metric, own, base string) Result {
	common, _ := placesOf(rows).pairs(record.Row{Case: name, Metric: metric}, own, base)
	return NewResult(Metric(metric), logs(common))
}

// mixesUnits withholds the verdict of a metric that SeparateUnits excluded.
func (r *RowComparison) mixesUnits(values places, own string) bool {
	if values[Place{own, r.Case, string(r.Metric)}][0].Void != string(UnitsDiffer) {
		return false
	}
	r.Verdict, r.Reason, r.VoidBlocks = Inconclusive, UnitsDiffer, 0
	return true
}

// SeparateUnits excludes each metric of a case that has several units or directions. Other metrics keep their values.
func SeparateUnits(rows []BlockRow) {
	type key struct{ name, metric string }
	first, mixed := map[key]record.Row{}, map[key]bool{}
	for _, r := range rows {
		at := key{r.Case, r.Metric}
		if own, known := first[at]; !known {
			first[at] = r.Row
		} else if own.Unit != r.Unit || own.Better != r.Better {
			mixed[at] = true
		}
	}
	for k := range rows {
		if mixed[key{rows[k].Case, rows[k].Metric}] {
			rows[k].Void = string(UnitsDiffer)
		}
	}
}

// zeros decides comparisons with 0, which has no ratio.
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

// Place identifies the rows of one value over all blocks.
type Place struct{ Implementation, Case, Metric string }

type places map[Place][]BlockRow

func placesOf(rows []BlockRow) places {
	out := places{}
	for _, r := range rows {
		at := Place{r.Implementation, r.Case, r.Metric}
		out[at] = append(out[at], r)
	}
	return out
}

func (v places) both(of record.Row, own, base string) bool {
	return len(v[Place{own, of.Case, of.Metric}]) > 0 && len(v[Place{base, of.Case, of.Metric}]) > 0
}

type pair struct{ own, base BlockRow }

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
