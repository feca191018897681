package printed_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) })

func TestParse(t *testing.T) {
	tests := map[string]struct {
		text  string
		units printed.Units
		want  printed.Quantity
	}{
		"milliseconds become microseconds":   {"1.23ms", printed.Micros, printed.Quantity{Value: 1230, Rounding: 5}},
		"a Greek letter is a micro":          {"50.67µs", printed.Micros, printed.Quantity{Value: 50.67, Rounding: 0.005}},
		"nanoseconds are thousandths":        {"512ns", printed.Micros, printed.Quantity{Value: 0.512, Rounding: 0.0005}},
		"minutes are no milliseconds":        {"2m", printed.Micros, printed.Quantity{Value: 120e6, Rounding: 30e6}},
		"wrk's kilobytes are 1024 bytes":     {"380.18KB", printed.BinaryBytes, printed.Quantity{Value: 389304.32, Rounding: 5.12}},
		"k6's kilobytes are 1000 bytes":      {"75 kB", printed.DecimalBytes, printed.Quantity{Value: 75e3, Rounding: 500}},
		"a shortened count":                  {"3.08k", printed.Thousands, printed.Quantity{Value: 3080, Rounding: 5}},
		"a count that was not shortened":     {"221", printed.Thousands, printed.Quantity{Value: 221, Rounding: 0.5}},
		"a number without a unit":            {"17157.44", printed.Plain, printed.Quantity{Value: 17157.44, Rounding: 0.005}},
		"a zero that may be almost one half": {"0ms", printed.Micros, printed.Quantity{Value: 0, Rounding: 500}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := printed.Parse(tc.text, tc.units)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, near); diff != "" {
				t.Errorf("Parse(%q) (-want +got):\n%s", tc.text, diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct {
		text  string
		units printed.Units
		want  string
	}{
		"nothing":                   {"", printed.Plain, `reading "": it is no number of a known unit`},
		"a unit alone":              {"ms", printed.Micros, `reading "ms": it is no number of a known unit`},
		"a unit that is not known":  {"10 fortnights", printed.BinaryBytes, `reading "10 fortnights": it is no number of a known unit`},
		"a negative number":         {"-5ms", printed.Micros, `reading "-5ms": it is no number of a known unit`},
		"an exponent":               {"1e3", printed.Plain, `reading "1e3": it is no number of a known unit`},
		"not a number":              {"nan", printed.Plain, `reading "nan": it is no number of a known unit`},
		"two points":                {"1.2.3", printed.Plain, `reading "1.2.3": it is no number of a known unit`},
		"a number beyond all":       {"9999999999h", printed.Micros, `reading "9999999999h": it is out of range`},
		"a text that goes on":       {strings.Repeat("x", 100), printed.Plain, `reading "` + strings.Repeat("x", 40) + `...": it is no number of a known unit`},
		"bytes that are no letters": {"\xff1", printed.Plain, `reading "?1": it is no number of a known unit`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := printed.Parse(tc.text, tc.units)
			if err == nil {
				t.Fatalf("Parse() = %+v, want an error", got)
			}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetLeavesNothingOfWhatItCannotRead(t *testing.T) {
	q := printed.Quantity{Value: 1, Rounding: 1}
	if err := q.Set("x", printed.Plain); !errors.Is(err, printed.ErrNumber) || q != (printed.Quantity{}) {
		t.Errorf("Set() = %v and %+v", err, q)
	}
}

func TestParseSpan(t *testing.T) {
	tests := map[string]struct {
		text string
		want printed.Quantity
	}{
		"one part, whose digits were cut":  {"1.62ms", printed.Quantity{Value: 1620, Rounding: 10}},
		"several parts, the last is exact": {"1m20.5s", printed.Quantity{Value: 80.5e6, Rounding: 0.1e6}},
		"hours":                            {"1h0m2s", printed.Quantity{Value: 3602e6, Rounding: 1e6}},
		"nothing at all":                   {"0s", printed.Quantity{Value: 0, Rounding: 1e6}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := printed.ParseSpan(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, near); diff != "" {
				t.Errorf("ParseSpan(%q) (-want +got):\n%s", tc.text, diff)
			}
		})
	}
	for _, text := range []string{"", "s", "5", "1m20", "1x", "-1s", "1s-2s"} {
		if got, err := printed.ParseSpan(text); !errors.Is(err, printed.ErrNumber) {
			t.Errorf("ParseSpan(%q) = %+v, %v, want ErrNumber", text, got, err)
		}
	}
}

func TestBoundsOfAQuantity(t *testing.T) {
	tests := map[string]struct {
		q         printed.Quantity
		low, high float64
	}{
		"it lies around what was printed":       {printed.Quantity{Value: 10, Rounding: 0.5}, 9.5, 10.5},
		"nothing that is printed lies below 0":  {printed.Quantity{Value: 0, Rounding: 500}, 0, 500},
		"what was not rounded is what it seems": {printed.Quantity{Value: 3}, 3, 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.q.Low() != tc.low || tc.q.High() != tc.high {
				t.Errorf("from %v to %v, want %v to %v", tc.q.Low(), tc.q.High(), tc.low, tc.high)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[string](f)
	for _, text := range []string{"1.23ms", "1m20.5s", "75 kB", "9.11MB", "3.08k", "0.", ".5", "99999999999999999999"} {
		corpus.Add(text)
	}
	corpus.Fuzz(func(t testing.TB, text string) {
		for _, units := range []printed.Units{printed.Micros, printed.BinaryBytes, printed.DecimalBytes, printed.Thousands, printed.Plain} {
			check(t, text, func() (printed.Quantity, error) { return printed.Parse(text, units) })
		}
		check(t, text, func() (printed.Quantity, error) { return printed.ParseSpan(text) })
	})
}

func check(t testing.TB, text string, read func() (printed.Quantity, error)) {
	t.Helper()
	q, err := read()
	if err != nil {
		return
	}
	if !(q.Low() >= 0 && q.Low() <= q.Value && q.Value <= q.High() && q.Value <= printed.Largest) || math.IsInf(q.High(), 0) {
		t.Errorf("%q is read as %+v", text, q)
	}
}
