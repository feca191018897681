package format

import (
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	for name, tc := range map[string]struct{ got, want string }{
		"thousands":                             {Integer(1234567), "1,234,567"},
		"no separator below a thousand":         {Integer(999), "999"},
		"a negative count":                      {Integer(-1234), "-1,234"},
		"a rate of tens of thousands":           {Rate(88123.4), "88,123"},
		"a rate of tens":                        {Rate(12.345), "12.3"},
		"microseconds":                          {Micros(11.24), "11.2 µs"},
		"milliseconds":                          {Micros(1234), "1.23 ms"},
		"seconds":                               {Micros(61_000_000), "61.0 s"},
		"less than a microsecond":               {Micros(0.5), "0.500 µs"},
		"bytes":                                 {Size(12), "12 B"},
		"mebibytes":                             {Size(9.16 * (1 << 20)), "9.16 MiB"},
		"a share":                               {Percent(0.283), "28.3 %"},
		"a small share keeps its digits":        {Percent(0.000985), "0.0985 %"},
		"a constant":                            {PlainPercent(0.05), "5 %"},
		"a ratio":                               {Times(1.2149), "1.21×"},
		"a large ratio":                         {Times(1234.5), "1,234×"},
		"a small ratio":                         {Times(0.0123), "0.0123×"},
		"an axis":                               {TickNumber(250000), "250k"},
		"nothing":                               {OrMissing(nil, Rate), Missing},
		"a probability too small to be printed": {Probability(new(float64)), "< 0.0001"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestAnEffectHasOneForm(t *testing.T) {
	for name, tc := range map[string]struct{ got, want string }{
		"less":                          {Change(0.85), "−15.0 %"},
		"more":                          {Change(1.17), "+17.0 %"},
		"almost twice":                  {Change(1.996), "+99.6 %"},
		"twice":                         {Change(2), "2.00×"},
		"many times":                    {Change(123.456), "123×"},
		"a third":                       {Change(1. / 3), "−66.7 %"},
		"a hundredth":                   {Change(0.01), "−99.0 %"},
		"almost nothing is not nothing": {Change(0.0003), "−99.97 %"},
		"the same":                      {Change(1), "0.0 %"},
		"the same from below":           {Change(1 - 1e-9), "0.0 %"},
		"a trace":                       {Change(1.0004), "+0.04 %"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestTheLabelsOfAxesAreShort(t *testing.T) {
	for name, tc := range map[string]struct{ got, want string }{
		"a small number":              {TickNumber(2.5), "2.5"},
		"thousands are written out":   {TickNumber(5000), "5000"},
		"tens of thousands":           {TickNumber(10_000), "10k"},
		"millions":                    {TickNumber(1.5e6), "1.5M"},
		"microseconds":                {TickMicros(300), "300 µs"},
		"milliseconds, almost":        {TickMicros(999.9999999999), "1 ms"},
		"seconds":                     {TickMicros(2e6), "2 s"},
		"no change":                   {TickChange(1), "0 %"},
		"less":                        {TickChange(0.95), "−5 %"},
		"more":                        {TickChange(1.025), "+2.5 %"},
		"twice, almost":               {TickChange(2 - 1e-12), "2×"},
		"thousands of times the base": {TickChange(5000), "5,000×"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestText(t *testing.T) {
	for name, tc := range map[string]struct{ got, want string }{
		"empty words are left out":        {Join(", ", "a", "", "b"), "a, b"},
		"nothing is left of empty words":  {Join(", ", "", ""), ""},
		"a caption begins with a capital": {Capital("server CPU time"), "Server CPU time"},
		"a name stays as it is":           {Capital("p99 latency"), "p99 latency"},
		"one letter":                      {Capital("x"), "X"},
		"no words":                        {Capital(""), ""},
		"a code is taken apart":           {Apart("NotPinned"), "not pinned"},
		"a code of one word":              {Apart("Censored"), "censored"},
		"what is not ASCII is spelt":      {ASCII("≥ 2.40× − ±5 µs – ≤ 7"), ">= 2.40x - +/-5 us - <= 7"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestInstantsAreInUTC(t *testing.T) {
	at := time.Date(2026, 3, 14, 0, 30, 0, 0, time.FixedZone("east", 3600))
	if got := Instant(at); got != "2026-03-13 23:30:00 UTC" {
		t.Error(got)
	}
	if got := Day(at); got != "2026-03-13" {
		t.Error(got)
	}
	if got := Instant(time.Time{}); got != Missing {
		t.Error(got)
	}
}

func TestBothEndsOfAnIntervalHaveTheUnitOfTheUpperOne(t *testing.T) {
	if from, to, unit := Between(300, 1500); from != "0.300" || to != "1.50" || unit != "ms" {
		t.Errorf("from %s to %s %s", from, to, unit)
	}
}
