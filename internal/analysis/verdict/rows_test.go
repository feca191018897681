package verdict

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
)

// printed are times of a case by block; a contender's noise alternates.
func printed(implementation, name string, blocks int, nanos float64) []BlockRow {
	var out []BlockRow
	for b := range blocks {
		value := nanos
		if implementation != "base" {
			value *= 1 + 0.005*float64(b%3-1)
		}
		out = append(out, BlockRow{Row: record.Exactly("Time", name, "ns", record.LessIsBetter, value), Implementation: implementation, Block: int32(b + 1)})
	}
	return out
}

func judged(p planned.Run, rows []BlockRow, failures Failures) []RowComparison {
	out, searches := CompareRows(p, rows, failures, Searches{})
	Compare(p, nil, nil, searches)
	return out
}

func judgedOf(rows ...[]BlockRow) []RowComparison {
	return judged(duel(1, 0), slices.Concat(rows...), Failures{})
}

func only(t *testing.T, all []RowComparison) RowComparison {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("%d comparisons, want one: %+v", len(all), all)
	}
	return all[0]
}

func base(nanos float64) []BlockRow { return printed("base", "copy", 10, nanos) }
func own(nanos float64) []BlockRow  { return printed("c0", "copy", 10, nanos) }

func TestWhichWayIsBetterIsWhatTheValueSays(t *testing.T) {
	more := func(rows []BlockRow) []BlockRow {
		for k := range rows {
			rows[k].Better = record.MoreIsBetter
		}
		return rows
	}
	for name, tc := range map[string]struct {
		rows []RowComparison
		want Verdict
	}{
		"less, and it has less":        {judgedOf(base(10), own(8)), Better},
		"less, and it has more":        {judgedOf(base(10), own(12)), Worse},
		"more, and it has less":        {judgedOf(more(base(10)), more(own(8))), Worse},
		"more, and it has more":        {judgedOf(more(base(10)), more(own(12))), Better},
		"hardly a difference":          {judgedOf(base(10), own(10)), NoDifference},
		"six blocks are too few":       {judgedOf(base(10), own(20)[:6]), Inconclusive},
		"seven blocks of ten are some": {judgedOf(base(10), own(20)[:7]), Worse},
	} {
		t.Run(name, func(t *testing.T) {
			if got := only(t, tc.rows); got.Verdict != tc.want || !got.Decides {
				t.Errorf("got %s, %s, deciding %v; want %s", got.Verdict, got.Reason, got.Decides, tc.want)
			}
		})
	}
}

func TestARatioIsOfTheContenderToTheBaselineBlockByBlock(t *testing.T) {
	rows := append(base(10), own(20)...)
	slices.Reverse(rows) // Values are unordered.
	got := only(t, judgedOf(rows))
	if got.Implementation != "c0" || got.Baseline != "base" || got.Case != "copy" || got.Unit != "ns" || got.Better != record.LessIsBetter {
		t.Errorf("it is named %+v", got)
	}
	if math.Abs(*got.Ratio-2) > 0.01 || got.Blocks != 10 {
		t.Errorf("ratio %g of %d blocks", *got.Ratio, got.Blocks)
	}
	var blocks []int32
	for _, p := range got.Pairs {
		blocks = append(blocks, p.Block)
	}
	if diff := cmp.Diff([]int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, blocks); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

func TestAValueThatDoesNotCountTakesItsBlockAway(t *testing.T) {
	a, b := base(10), own(20)
	a[0].Void, b[0].Void, b[4].Void = "Steal", "Steal", "NotPinned"
	got := only(t, judgedOf(a, b[:9])) // Block 10 has one side only, and was not voided.
	if got.Blocks != 7 || got.VoidBlocks != 2 || got.Verdict != Worse {
		t.Errorf("%d blocks, %d void, %s", got.Blocks, got.VoidBlocks, got.Verdict)
	}
	for k := range a {
		a[k].Void = "Steal"
	}
	if got := only(t, judgedOf(a, b)); got.Blocks != 0 || got.VoidBlocks != 10 || got.Verdict != Inconclusive || got.Reason != TooFewBlocks {
		t.Errorf("of void values alone: %d blocks, %d void, %s, %s", got.Blocks, got.VoidBlocks, got.Verdict, got.Reason)
	}
}

func TestValuesOfZeroHaveNoRatio(t *testing.T) {
	zero := func(rows []BlockRow, in ...int) []BlockRow {
		for _, k := range in {
			rows[k].Value, rows[k].Low, rows[k].High = 0, 0, 0
		}
		return rows
	}
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for name, tc := range map[string]struct {
		base, own []BlockRow
		verdict   Verdict
		reason    Reason
	}{
		"both in every block":        {zero(base(1), all...), zero(own(1), all...), NoDifference, BothZero},
		"both in seven blocks":       {zero(base(1), all...), zero(own(1), all...)[:7], NoDifference, BothZero},
		"both in six blocks":         {zero(base(1), all...), zero(own(1), all...)[:6], Inconclusive, ZeroHasNoRatio},
		"the contender everywhere":   {base(1), zero(own(1), all...), Inconclusive, ZeroHasNoRatio},
		"the baseline everywhere":    {zero(base(1), all...), own(1), Inconclusive, ZeroHasNoRatio},
		"the contender in one block": {base(10), zero(own(5), 3), Inconclusive, ZeroHasNoRatio},
		"both in one block":          {zero(base(10), 3), zero(own(5), 3), Inconclusive, ZeroHasNoRatio},
	} {
		t.Run(name, func(t *testing.T) {
			got := only(t, judgedOf(tc.base, tc.own))
			if got.Verdict != tc.verdict || got.Reason != tc.reason || got.AdjustedP != nil {
				t.Errorf("got %s, %s, want %s, %s", got.Verdict, got.Reason, tc.verdict, tc.reason)
			}
		})
	}
	void := zero(own(1), 3)
	void[3].Void = "Steal"
	if got := only(t, judgedOf(base(2), void)); got.Verdict != Better {
		t.Errorf("a value of 0 that does not count decides: %s, %s", got.Verdict, got.Reason)
	}
}

func TestOnlyCasesThatBothSidesHaveAreCompared(t *testing.T) {
	second := func(rows []BlockRow) []BlockRow {
		out := slices.Clone(rows)
		for k := range out {
			out[k].Metric = "CPU time"
		}
		return out
	}
	got := judged(duel(2, 0), slices.Concat(
		printed("base", "a", 10, 1), printed("c0", "a", 10, 2), printed("base", "b", 10, 1), printed("c1", "b", 10, 1),
		second(printed("base", "a", 10, 1)), second(printed("c0", "a", 10, 1)), second(printed("c1", "a", 10, 1)), printed("c0", "of its own", 10, 1),
		printed("stranger", "a", 10, 9),
	), Failures{})
	type named struct {
		Implementation, Case, Metric string
		Decides                      bool
	}
	var names []named
	for _, r := range got {
		names = append(names, named{r.Implementation, r.Case, string(r.Metric), r.Decides})
	}
	// The first metric of a case that both sides have decides: c1 never prints the time of case a.
	want := []named{{"c0", "a", "Time", true}, {"c0", "a", "CPU time", false}, {"c1", "a", "CPU time", true}, {"c1", "b", "Time", true}}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhoFailsDoesNotWinByWhatRemains(t *testing.T) {
	of := func(name string) map[Place]int { return map[Place]int{{Implementation: name, Case: "copy"}: 1} }
	for name, tc := range map[string]struct {
		nanos    float64
		failures Failures
		want     Verdict
	}{
		"the winner lost a trial":             {8, Failures{Trials: map[string]int{"c0": 1}}, Inconclusive},
		"the winner lost the case in one":     {8, Failures{Cases: of("c0")}, Inconclusive},
		"the winner lost another case":        {8, Failures{Cases: map[Place]int{{Implementation: "c0", Case: "move"}: 3}}, Better},
		"the loser lost a trial":              {8, Failures{Trials: map[string]int{"base": 1}}, Better},
		"the loser lost the case in one":      {8, Failures{Cases: of("base")}, Better},
		"the baseline wins, and lost it":      {12, Failures{Cases: of("base")}, Inconclusive},
		"the baseline wins, the other failed": {12, Failures{Cases: of("c0")}, Worse},
		"nobody wins, and one failed":         {10, Failures{Cases: of("c0")}, Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			got := only(t, judged(duel(1, 0), slices.Concat(base(10), own(tc.nanos)), tc.failures))
			if got.Verdict != tc.want || (got.Reason == ImplementationFailures) != (tc.want == Inconclusive) {
				t.Errorf("got %s, %s, want %s", got.Verdict, got.Reason, tc.want)
			}
		})
	}
}

func TestWhatIsKnownBetweenEndsHasAWiderInterval(t *testing.T) {
	widened := own(12)
	for k := range widened {
		widened[k].Low, widened[k].High = widened[k].Value/1.5, widened[k].Value*1.5
	}
	exact, wide := only(t, judgedOf(base(10), own(12))), only(t, judgedOf(base(10), widened))
	if *wide.Low >= *exact.Low || *wide.High <= *exact.High || *wide.Ratio != *exact.Ratio {
		t.Errorf("exactly %g to %g, between ends %g to %g", *exact.Low, *exact.High, *wide.Low, *wide.High)
	}
	if exact.Verdict != Worse || wide.Verdict != Inconclusive {
		t.Errorf("exactly %s, between ends %s", exact.Verdict, wide.Verdict)
	}
}

func TestManyCasesShareOneCorrection(t *testing.T) {
	rows := slices.Concat(base(10), own(12))
	alone := only(t, judgedOf(rows))
	for _, name := range []string{"b", "c", "d", "e"} {
		rows = slices.Concat(rows, printed("base", name, 10, 1), printed("c0", name, 10, 1))
	}
	if among := judgedOf(rows); len(among) != 5 || *among[0].P != *alone.P || *among[0].AdjustedP <= *alone.AdjustedP {
		t.Errorf("alone %g, among %d cases %g", *alone.AdjustedP, len(among), *among[0].AdjustedP)
	}
}

func TestZerosOnBothSidesDoNotExcuseAFailure(t *testing.T) {
	a, b := base(1), own(1)
	for k := range a {
		a[k].Value, a[k].Low, a[k].High = 0, 0, 0
		b[k].Value, b[k].Low, b[k].High = 0, 0, 0
	}
	f := Failures{Cases: map[Place]int{{Implementation: "c0", Case: "copy"}: 2}}
	got := only(t, judged(duel(1, 0), slices.Concat(a, b[:8]), f))
	if got.Verdict != Inconclusive || got.Reason != ImplementationFailures {
		t.Errorf("got %s, %s", got.Verdict, got.Reason)
	}
}

func TestCasesInsideTheMarginAreEquivalentHoweverExact(t *testing.T) {
	r := only(t, judgedOf(base(12), own(12.0001)))
	if r.Verdict != NoDifference || *r.Ratio == 1 {
		t.Errorf("12.0001 ns against 12 ns are %s at a ratio of %v", r.Verdict, *r.Ratio)
	}
}

func TestSuspectProcessesAloneGiveNoVerdict(t *testing.T) {
	suspect := func(rows []BlockRow) []BlockRow {
		for k := range rows {
			rows[k].Doubts = []validity.Code{validity.NoisyNeighbours}
		}
		return rows
	}
	if r := only(t, judgedOf(suspect(base(10)), suspect(own(20)))); r.Verdict != Inconclusive || r.Reason != SuspectCells {
		t.Errorf("suspect processes alone give %s %s", r.Verdict, r.Reason)
	}
	if r := only(t, judgedOf(base(10), suspect(own(20)))); r.Verdict != Inconclusive || r.Reason != SuspectCells {
		t.Errorf("suspect processes against valid ones give %s %s", r.Verdict, r.Reason)
	}
	if r := only(t, judgedOf(base(10), append(suspect(own(20))[:9], own(20)[9]))); r.Verdict != Worse {
		t.Errorf("nine suspect processes of ten give %s %s, want Worse", r.Verdict, r.Reason)
	}
}

func TestACounterWithoutADirectionDiffers(t *testing.T) {
	unknown := func(rows []BlockRow) []BlockRow {
		for k := range rows {
			rows[k].Better = record.UnknownDirection
		}
		return rows
	}
	for name, tc := range map[string]struct {
		own      []BlockRow
		failures Failures
		want     Verdict
	}{
		"more":                 {own(20), Failures{}, Differs},
		"less":                 {own(5), Failures{}, Differs},
		"equal":                {own(10), Failures{}, NoDifference},
		"a side that failed":   {own(20), Failures{Trials: map[string]int{"base": 1}}, Inconclusive},
		"too few blocks of it": {own(20)[:6], Failures{}, Inconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			got := only(t, judged(duel(1, 0), slices.Concat(unknown(base(10)), unknown(tc.own)), tc.failures))
			if got.Verdict != tc.want || got.Decided() {
				t.Errorf("got %s %s, want %s", got.Verdict, got.Reason, tc.want)
			}
		})
	}
}

func TestACaseIsMixedIfItsMetricsDisagree(t *testing.T) {
	in := func(metric string, better record.Direction, rows []BlockRow) []BlockRow {
		for k := range rows {
			rows[k].Metric, rows[k].Better = metric, better
		}
		return rows
	}
	allocations := func(better record.Direction, of float64) []BlockRow {
		return slices.Concat(in("Allocations", better, base(10)), in("Allocations", better, own(of)))
	}
	for name, tc := range map[string]struct {
		time, allocations []BlockRow
		want, main        Verdict
	}{
		"faster with more allocations":         {own(5), allocations(record.LessIsBetter, 20), Mixed, Better},
		"slower with fewer allocations":        {own(20), allocations(record.LessIsBetter, 5), Mixed, Worse},
		"equally fast with more allocations":   {own(10), allocations(record.LessIsBetter, 20), Mixed, NoDifference},
		"faster with fewer allocations":        {own(5), allocations(record.LessIsBetter, 5), Better, ""},
		"faster with a counter that is larger": {own(5), allocations(record.UnknownDirection, 20), Better, ""},
		"an open time":                         {own(20)[:6], allocations(record.LessIsBetter, 20), Inconclusive, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rows := judgedOf(base(10), tc.time, tc.allocations)
			WeighCases(rows)
			got := rows[0]
			if got.Verdict != tc.want || got.Main != tc.main || (len(got.Against) == 1) != (tc.want == Mixed) || !got.Decides {
				t.Errorf("got %s (main %q) against %+v, want %s (main %q)", got.Verdict, got.Main, got.Against, tc.want, tc.main)
			}
		})
	}
}
