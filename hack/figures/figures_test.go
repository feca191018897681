package figures

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestAFigureIsALineWithItsVerdict(t *testing.T) {
	around := func(name string, aim Aim) Figure {
		return Figure{Name: name, Value: 1, Interval: Interval{1, 0.96, 1.04}, Unit: "ratio", Aim: aim}
	}
	tests := map[string]struct {
		figure Figure
		want   string
	}{
		"at its upper limit a figure has met its aim":      {Of("a", 4, "s", AtMost(4), "n=5"), "a|4|s|<=4|met|n=5"},
		"above it, it falls short":                         {Of("a", 4.2, "s", AtMost(4), ""), "a|4.2|s|<=4|short|"},
		"at its lower limit a figure has met its aim":      {Of("b", 0.98, "ratio", AtLeast(0.98), ""), "b|0.98|ratio|>=0.98|met|"},
		"an interval between two limits has met its aim":   {around("b", Within(0.95, 1.05).Bound(0)), "b|1|ratio|0.95..1.05 (bound)|met|"},
		"one that leaves them falls short":                 {around("b", Within(0.98, 1.02).Bound(0)), "b|1|ratio|0.98..1.02 (bound)|short|"},
		"between two limits a figure has met its aim":      {Of("b", 99.5, "%", Within(98.5, 99.5), ""), "b|99.5|%|98.5..99.5|met|"},
		"beyond either it falls short":                     {Of("b", 98.4, "%", Within(98.5, 99.5), ""), "b|98.4|%|98.5..99.5|short|"},
		"what is judged is not what is rounded":            {Of("b", 0.979999, "ratio", AtLeast(0.98), ""), "b|0.98|ratio|>=0.98|short|"},
		"nothing is expected of a figure without an aim":   {Of("c", 7, "ns", Aim{}, ""), "c|7|ns|-|-|"},
		"what is missing has a reason and no value":        {Figure{Name: "d", Unit: "ns", Aim: AtMost(1), Missing: "no program"}, "d|-|ns|<=1|not measured|no program"},
		"an interval is for the reader by default":         {around("e", AtMost(1)), "e|1|ratio|<=1|met|"},
		"a bound must keep an upper limit":                 {around("f", AtMost(1).Bound(0)), "f|1|ratio|<=1 (bound)|short|"},
		"a bound must keep a lower limit":                  {around("f", AtLeast(0.95).Bound(0)), "f|1|ratio|>=0.95 (bound)|met|"},
		"at parity the bound may miss the limit by little": {around("g", AtMost(1).Bound(0.05)), "g|1|ratio|<=1 (bound within 5 %)|met|"},
		"and not by more":                                  {around("g", AtMost(1).Bound(0.03)), "g|1|ratio|<=1 (bound within 3 %)|short|"},
		"from below alike":                                 {around("h", AtLeast(1).Bound(0.05)), "h|1|ratio|>=1 (bound within 5 %)|met|"},
		"and not by more from below":                       {around("h", AtLeast(1).Bound(0.03)), "h|1|ratio|>=1 (bound within 3 %)|short|"},
		"an interval that holds the value has met its aim": {around("k", Around(1)), "k|1|ratio|~1 (within its interval)|met|"},
		"one that does not falls short":                    {around("k", Around(1.05)), "k|1|ratio|~1.05 (within its interval)|short|"},
		"without an interval the value is its own bound":   {Of("j", 1.04, "ratio", AtMost(1).Bound(0.05), ""), "j|1.04|ratio|<=1 (bound within 5 %)|met|"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := strings.ReplaceAll(tc.figure.Line(), "\t", "|"); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	tests := map[string]struct {
		values []time.Duration
		want   time.Duration
	}{
		"of nothing it is nothing":                  {nil, 0},
		"of an odd number it is the middle":         {[]time.Duration{9, 1, 4}, 4},
		"of an even number it is the middle's mean": {[]time.Duration{9, 1, 4, 6}, 5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Median(tc.values); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

func TestGeometricMeanAndItsInterval(t *testing.T) {
	// Logs 0.1, 0.2 and 0.3: mean 0.2, standard deviation 0.1, t(0.995, 2) = 9.9248.
	got, err := Geometric([]float64{math.Exp(0.1), math.Exp(0.3), math.Exp(0.2)})
	if err != nil {
		t.Fatal(err)
	}
	half := 9.92484 * 0.1 / math.Sqrt(3)
	for name, tc := range map[string]struct{ got, want float64 }{
		"mean": {got.Mean, math.Exp(0.2)}, "low": {got.Low, math.Exp(0.2 - half)}, "high": {got.High, math.Exp(0.2 + half)},
	} {
		if math.Abs(tc.got-tc.want) > 1e-5 {
			t.Errorf("%s: got %f, want %f", name, tc.got, tc.want)
		}
	}
}

func TestOnePairOrMissingValuesHaveNoInterval(t *testing.T) {
	for name, ratios := range map[string][]float64{"one pair": {1}, "a zero": {1, 0}, "not a number": {1, math.NaN()}, "infinite": {1, math.Inf(1)}} {
		if got, err := Geometric(ratios); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
