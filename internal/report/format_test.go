package report

import (
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

func TestTicksCoverWhatTheyMeasure(t *testing.T) {
	for _, largest := range []float64{0.7, 1, 13.4, 99, 201_000, 1e6} {
		ticks := niceTicks(largest)
		if ticks[0] != 0 || ticks[len(ticks)-1] < largest || len(ticks) > 7 || ticks[len(ticks)-1] > 1.7*largest {
			t.Errorf("ticks up to %v: %v", largest, ticks)
		}
	}
	for _, s := range []span{{low: 0.9, high: 1.1}, {low: 0.8, high: 1.1}, {low: 0.5, high: 2}, {low: 0.05, high: 20}, {low: 0.97, high: 1.3}} {
		ticks := ratioTicks(s)
		if len(ticks) < 3 || len(ticks) > 9 || !slices.Contains(ticks, 1) {
			t.Errorf("ticks from %v to %v: %v", s.low, s.high, ticks)
		}
	}
}
