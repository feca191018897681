package lint_test

import (
	"math"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/cli/lint"
	"loadstone.dev/loadstone/internal/record"
)

// repeated makes n repeats whose throughputs differ by a step; no two are alike.
func repeated(n int, step float64) []lint.Sample {
	var out []lint.Sample
	for i := range n {
		out = append(out, at(10, 1000.25+float64(i)*step, 8))
	}
	return out
}

func TestSamplesAreJudgedTogether(t *testing.T) {
	errors := func(throughput float64) lint.Sample {
		s := at(10, throughput, 5)
		s.Errors.Status = s.Requests
		return s
	}
	bytes := func(each float64) lint.Sample {
		s := at(10, 1001.25, 9.5)
		s.URL, s.Bytes.Value = "http://10.0.0.2:8080/", float64(s.Requests)*each
		return s
	}
	tests := map[string]struct {
		samples []lint.Sample
		code    validity.Code
		want    validity.Validity
	}{
		"errors that are as fast as answers":             {[]lint.Sample{good(), errors(1000)}, lint.ErrorsWin, ""},
		"errors that are faster than answers":            {[]lint.Sample{good(), errors(1200.25)}, lint.ErrorsWin, validity.Void},
		"errors that are slower than answers":            {[]lint.Sample{good(), errors(800.25)}, lint.ErrorsWin, ""},
		"the same run twice":                             {[]lint.Sample{good(), good()}, lint.Duplicate, validity.Suspect},
		"two runs that differ":                           {repeated(2, 1), lint.Duplicate, ""},
		"one run":                                        {repeated(1, 1), lint.NoRepeats, ""},
		"the same run twice is one run":                  {[]lint.Sample{good(), good()}, lint.NoRepeats, ""},
		"two runs":                                       {repeated(2, 1), lint.NoRepeats, ""},
		"one run of each of two servers":                 {[]lint.Sample{good(), bytes(113)}, lint.NoRepeats, validity.Suspect},
		"one run of a server and two of another":         {append(repeated(2, 1), bytes(113)), lint.NoRepeats, validity.Suspect},
		"one run at each of two levels":                  {[]lint.Sample{at(10, 1000.25, 9.5), at(20, 1120.25, 17)}, lint.NoRepeats, lint.Note},
		"six runs are too few for a verdict":             {repeated(6, 1), lint.FewRepeats, lint.Note},
		"seven runs are enough":                          {repeated(7, 1), lint.FewRepeats, ""},
		"repeats that spread by less than a tenth":       {repeated(2, 151), lint.Spread, ""},
		"repeats that spread by more than a tenth":       {repeated(2, 153), lint.Spread, validity.Suspect},
		"answers that differ by one in a hundred":        {[]lint.Sample{good(), bytes(114.1)}, lint.UnequalWork, ""},
		"answers that differ by more":                    {[]lint.Sample{good(), bytes(114.2)}, lint.UnequalWork, validity.Suspect},
		"answers that differ with other paths":           {[]lint.Sample{good(), with(func(s *lint.Sample) { s.URL += "other"; s.Bytes.Value *= 2 })}, lint.UnequalWork, ""},
		"three round throughputs":                        {[]lint.Sample{at(10, 1000, 9.5), at(10, 1050, 9), at(10, 950, 9.9)}, lint.RoundNumbers, lint.Note},
		"two round throughputs":                          {[]lint.Sample{at(10, 1000, 9.5), at(10, 1050, 9)}, lint.RoundNumbers, ""},
		"three throughputs of which one is not round":    {[]lint.Sample{at(10, 1000, 9.5), at(10, 1050, 9), at(10, 951, 9.9)}, lint.RoundNumbers, ""},
		"latencies of two kinds":                         {[]lint.Sample{good(), with(func(s *lint.Sample) { s.Latency[0].Kind = record.WithConnection })}, lint.MixedLatencies, lint.Note},
		"a flat throughput and latencies that follow it": {[]lint.Sample{at(10, 1000.25, 9.5), at(20, 1000.25, 19.5)}, lint.Saturated, validity.Suspect},
		"a throughput that still grows":                  {[]lint.Sample{at(10, 1000.25, 9.5), at(20, 1120.25, 17)}, lint.Saturated, ""},
		"a throughput that grows by a tenth":             {[]lint.Sample{at(10, 1000.25, 9.5), at(20, 1110.25, 17.9)}, lint.Saturated, validity.Suspect},
		"levels too close to each other":                 {[]lint.Sample{at(10, 1000.25, 9.5), at(19, 1000.25, 18.5)}, lint.Saturated, ""},
		"a latency that does not follow":                 {[]lint.Sample{at(10, 1000.25, 9.5), at(20, 1000.25, 9.4)}, lint.Saturated, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			findings := lint.Judge(tc.samples)
			if got := weightOf(findings, tc.code); got != tc.want {
				t.Errorf("%s weighs %q, want %q; findings %+v", tc.code, got, tc.want, findings)
			}
		})
	}
}

func TestRepeatsAreDescribedFromRawSamples(t *testing.T) {
	samples := append(repeated(3, 100), with(func(s *lint.Sample) { s.Errors.Status = 1 }))
	r := lint.Analyse(samples, nil)
	if len(r.Repeats) != 1 || len(r.Repeats[0].Samples) != 3 {
		t.Fatalf("repeats %+v, want one group of three: the void sample is left out", r.Repeats)
	}
	g := r.Repeats[0]
	if math.Abs(g.Mean-1100.25) > 1e-9 || math.Abs(*g.CV-100/1100.25) > 1e-9 || g.Least != 1000.25 || g.Most != 1200.25 {
		t.Errorf("mean %v, CV %v, least %v, most %v", g.Mean, *g.CV, g.Least, g.Most)
	}
}

func TestServersAtOneAddressAreToldApartByTheirFiles(t *testing.T) {
	var samples []lint.Sample
	for _, file := range []string{"epoll-run1.txt", "epoll-run2.txt", "go-run1.txt", "go-run2.txt"} {
		s := at(10, 1000.25+100*float64(len(samples)), 7)
		s.File = file
		samples = append(samples, s)
	}
	r := lint.Analyse(samples, nil)
	if len(r.Repeats) != 2 || len(r.Repeats[0].Samples) != 2 || r.Repeats[1].Source != "go-run.txt" {
		t.Errorf("repeats %+v, want two runs of each server", r.Repeats)
	}
}

func TestSaturationKeepsTheLatencyOfItsFirstLevel(t *testing.T) {
	r := lint.Analyse([]lint.Sample{at(1, 400.25, 2.4), at(10, 1000.25, 9.5), at(20, 1010.25, 19), at(40, 990.25, 39)}, nil)
	found := lines(r.Findings)[lint.Saturated]
	if len(found) != 2 || found[0] != 2 || found[1] != 3 {
		t.Errorf("saturated samples %v, want 2 and 3", found)
	}
	if r.Verdicts[1] != validity.Valid || r.Verdicts[3] != validity.Suspect {
		t.Errorf("verdicts %v", r.Verdicts)
	}
}
