package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFormats(t *testing.T) {
	for name, tc := range map[string]struct{ got, want string }{
		"thousands":                             {integer(1234567), "1,234,567"},
		"no separator below a thousand":         {integer(999), "999"},
		"a negative count":                      {integer(-1234), "-1,234"},
		"a rate of tens of thousands":           {rate(88123.4), "88,123"},
		"a rate of tens":                        {rate(12.345), "12.3"},
		"microseconds":                          {micros(11.24), "11.2 µs"},
		"milliseconds":                          {micros(1234), "1.23 ms"},
		"seconds":                               {micros(61_000_000), "61.0 s"},
		"less than a microsecond":               {micros(0.5), "0.500 µs"},
		"bytes":                                 {size(12), "12 B"},
		"mebibytes":                             {size(9.16 * (1 << 20)), "9.16 MiB"},
		"a share":                               {percent(0.283), "28.3 %"},
		"a small share keeps its digits":        {percent(0.000985), "0.0985 %"},
		"a constant":                            {plainPercent(0.05), "5 %"},
		"a ratio":                               {times(1.2149), "1.21×"},
		"a large ratio":                         {times(1234.5), "1,234×"},
		"a small ratio":                         {times(0.0123), "0.0123×"},
		"an axis":                               {axisNumber(250000), "250k"},
		"nothing":                               {orMissing(nil, rate), missing},
		"a probability too small to be printed": {probability(new(float64)), "< 0.0001"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestAnEffectHasOneForm(t *testing.T) {
	inf := math.Inf(1)
	for name, tc := range map[string]struct{ got, want string }{
		"less":                                {change(0.85), "−15.0 %"},
		"more":                                {change(1.17), "+17.0 %"},
		"almost twice":                        {change(1.996), "+99.6 %"},
		"twice":                               {change(2), "2.00×"},
		"many times":                          {change(123.456), "123×"},
		"a third":                             {change(1. / 3), "−66.7 %"},
		"a hundredth":                         {change(0.01), "−99.0 %"},
		"almost nothing is not nothing":       {change(0.0003), "−99.97 %"},
		"the same":                            {change(1), "0.0 %"},
		"the same from below":                 {change(1 - 1e-9), "0.0 %"},
		"a trace":                             {change(1.0004), "+0.04 %"},
		"an interval":                         {english.changeInterval(0.85, 0.83, 0.87), "−17.0 % to −13.0 %"},
		"an interval around nothing":          {english.changeInterval(1, 0.98, 1.02), "−2.0 % to +2.0 %"},
		"an interval beyond twice":            {english.changeInterval(1.9, 1.7, 2.12), "+70.0 % to +112.0 %"},
		"an interval of many":                 {english.changeInterval(2.4, 1.9, 3.03), "1.90× to 3.03×"},
		"an interval of many down to a trace": {english.changeInterval(2.4, 0.0012, 4800), "0.00120× to 4,800×"},
		"an interval without an upper end":    {english.changeInterval(1.17, 1.15, inf), "≥ +15.0 %"},
		"an interval without a lower end":     {english.changeInterval(0.85, 0, 0.87), "≤ −13.0 %"},
		"an interval without any end":         {english.changeInterval(0.85, 0, inf), missing},
		"in ASCII":                            {ascii(english.changeInterval(0.85, 0, 0.87) + " " + change(2.4)), "<= -13.0 % 2.40x"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestTicksCoverWhatTheyMeasure(t *testing.T) {
	for _, largest := range []float64{0.7, 1, 13.4, 99, 201_000, 1e6} {
		ticks := niceTicks(largest)
		if ticks[0] != 0 || ticks[len(ticks)-1] < largest || len(ticks) > 7 || ticks[len(ticks)-1] > 1.7*largest {
			t.Errorf("ticks up to %v: %v", largest, ticks)
		}
	}
}

func TestTheAxisOfRatiosCoversWhatIsDrawn(t *testing.T) {
	for name, tc := range map[string]struct {
		low, high float64
		want      []string
	}{
		"a calibration":          {0.9, 1.06, []string{"−10 %", "−5 %", "0 %", "+5 %", "+10 %"}},
		"from a third to four":   {0.3, 4, []string{"−80 %", "−50 %", "0 %", "2×", "5×"}},
		"hardly anything":        {0.997, 1.002, []string{"−0.3 %", "−0.2 %", "−0.1 %", "0 %", "+0.1 %", "+0.2 %"}},
		"worse alone":            {0.82, 0.9, []string{"−20 %", "−15 %", "−10 %", "−5 %", "0 %"}},
		"more than twice":        {1.05, 2.9, []string{"0 %", "+50 %", "2×", "2.5×", "3×"}},
		"three orders each side": {0.001, 1000, []string{"−99.9 %", "−99 %", "−90 %", "0 %", "10×", "100×", "1,000×"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, tick := range ratioTicks(tc.low, tc.high) {
				got = append(got, tickChange(tick))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestEveryAxisBeginsAndEndsWithATick(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		low, high := math.Exp(-6*math.Pow(random.Float64(), 3)), math.Exp(6*math.Pow(random.Float64(), 3))
		checkTicks(t, "ratios", ratioTicks(low, high), low, high, 2, 8)
		checkTicks(t, "shares", shareTicks(low, high), low, high, 2, 4)
		from := math.Exp(14 * random.Float64())
		checkTicks(t, "values", valueTicks(from, from*high*1.01, 232), from, from*high, 2, 14)
	}
}

func checkTicks(t *testing.T, what string, ticks []float64, low, high float64, fewest, most int) {
	t.Helper()
	labels := map[string]bool{}
	for _, tick := range ticks {
		labels[tickChange(tick)] = true
	}
	if len(ticks) < fewest || len(ticks) > most || ticks[0] > low*(1+1e-6) || ticks[len(ticks)-1] < high*(1-1e-6) || len(labels) < len(ticks) {
		t.Fatalf("%s from %v to %v: %v", what, low, high, ticks)
	}
}
