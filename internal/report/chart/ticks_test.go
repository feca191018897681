package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/report/format"
)

func TestTicksCoverWhatTheyMeasure(t *testing.T) {
	for _, largest := range []float64{0.7, 1, 13.4, 99, 201_000, 1e6} {
		ticks := NiceTicks(largest)
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
			for _, tick := range RatioTicks(tc.low, tc.high) {
				got = append(got, format.TickChange(tick))
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
		checkTicks(t, "ratios", RatioTicks(low, high), low, high, 2, 8)
		checkTicks(t, "shares", ShareTicks(low, high), low, high, 2, 4)
		from := math.Exp(14 * random.Float64())
		checkTicks(t, "values", ValueTicks(from, from*high*1.01, 232), from, from*high, 2, 14)
	}
}

func checkTicks(t *testing.T, what string, ticks []float64, low, high float64, fewest, most int) {
	t.Helper()
	labels := map[string]bool{}
	for _, tick := range ticks {
		labels[format.TickChange(tick)] = true
	}
	if len(ticks) < fewest || len(ticks) > most || ticks[0] > low*(1+1e-6) || ticks[len(ticks)-1] < high*(1-1e-6) || len(labels) < len(ticks) {
		t.Fatalf("%s from %v to %v: %v", what, low, high, ticks)
	}
}
