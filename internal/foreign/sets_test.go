package foreign_test

import (
	"math"
	"testing"

	"loadstone.dev/loadstone/internal/foreign"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/validity"
)

// repeated makes n repeats whose throughputs differ by a step; no two are alike.
func repeated(n int, step float64) []foreign.Sample {
	var out []foreign.Sample
	for i := range n {
		out = append(out, at(10, 1000.25+float64(i)*step, 8))
	}
	return out
}

func TestSamplesAreJudgedTogether(t *testing.T) {
	errors := func(throughput float64) foreign.Sample {
		s := at(10, throughput, 5)
		s.Errors.Status = s.Requests
		return s
	}
	bytes := func(each float64) foreign.Sample {
		s := at(10, 1001.25, 9.5)
		s.URL, s.Bytes.Value = "http://10.0.0.2:8080/", float64(s.Requests)*each
		return s
	}
	tests := map[string]struct {
		samples []foreign.Sample
		code    foreign.Code
		want    foreign.Weight
	}{
		"errors that are as fast as answers":             {[]foreign.Sample{good(), errors(1000)}, foreign.ErrorsWin, ""},
		"errors that are faster than answers":            {[]foreign.Sample{good(), errors(1200.25)}, foreign.ErrorsWin, foreign.Void},
		"errors that are slower than answers":            {[]foreign.Sample{good(), errors(800.25)}, foreign.ErrorsWin, ""},
		"the same run twice":                             {[]foreign.Sample{good(), good()}, foreign.Duplicate, foreign.Suspect},
		"two runs that differ":                           {repeated(2, 1), foreign.Duplicate, ""},
		"one run":                                        {repeated(1, 1), foreign.NoRepeats, ""},
		"the same run twice is one run":                  {[]foreign.Sample{good(), good()}, foreign.NoRepeats, ""},
		"two runs":                                       {repeated(2, 1), foreign.NoRepeats, ""},
		"one run of each of two servers":                 {[]foreign.Sample{good(), bytes(113)}, foreign.NoRepeats, foreign.Suspect},
		"one run of a server and two of another":         {append(repeated(2, 1), bytes(113)), foreign.NoRepeats, foreign.Suspect},
		"one run at each of two levels":                  {[]foreign.Sample{at(10, 1000.25, 9.5), at(20, 1120.25, 17)}, foreign.NoRepeats, foreign.Note},
		"six runs are too few for a verdict":             {repeated(6, 1), foreign.FewRepeats, foreign.Note},
		"seven runs are enough":                          {repeated(7, 1), foreign.FewRepeats, ""},
		"repeats that spread by less than a tenth":       {repeated(2, 151), foreign.Spread, ""},
		"repeats that spread by more than a tenth":       {repeated(2, 153), foreign.Spread, foreign.Suspect},
		"answers that differ by one in a hundred":        {[]foreign.Sample{good(), bytes(114.1)}, foreign.UnequalWork, ""},
		"answers that differ by more":                    {[]foreign.Sample{good(), bytes(114.2)}, foreign.UnequalWork, foreign.Suspect},
		"answers that differ with other paths":           {[]foreign.Sample{good(), with(func(s *foreign.Sample) { s.URL += "other"; s.Bytes.Value *= 2 })}, foreign.UnequalWork, ""},
		"three round throughputs":                        {[]foreign.Sample{at(10, 1000, 9.5), at(10, 1050, 9), at(10, 950, 9.9)}, foreign.RoundNumbers, foreign.Note},
		"two round throughputs":                          {[]foreign.Sample{at(10, 1000, 9.5), at(10, 1050, 9)}, foreign.RoundNumbers, ""},
		"three throughputs of which one is not round":    {[]foreign.Sample{at(10, 1000, 9.5), at(10, 1050, 9), at(10, 951, 9.9)}, foreign.RoundNumbers, ""},
		"latencies of two kinds":                         {[]foreign.Sample{good(), with(func(s *foreign.Sample) { s.Latency[0].Kind = record.WithConnection })}, foreign.MixedLatencies, foreign.Note},
		"a flat throughput and latencies that follow it": {[]foreign.Sample{at(10, 1000.25, 9.5), at(20, 1000.25, 19.5)}, foreign.Saturated, foreign.Suspect},
		"a throughput that still grows":                  {[]foreign.Sample{at(10, 1000.25, 9.5), at(20, 1120.25, 17)}, foreign.Saturated, ""},
		"a throughput that grows by a tenth":             {[]foreign.Sample{at(10, 1000.25, 9.5), at(20, 1110.25, 17.9)}, foreign.Saturated, foreign.Suspect},
		"levels too close to each other":                 {[]foreign.Sample{at(10, 1000.25, 9.5), at(19, 1000.25, 18.5)}, foreign.Saturated, ""},
		"a latency that does not follow":                 {[]foreign.Sample{at(10, 1000.25, 9.5), at(20, 1000.25, 9.4)}, foreign.Saturated, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			findings := foreign.Judge(tc.samples)
			if got := weightOf(findings, tc.code); got != tc.want {
				t.Errorf("%s weighs %q, want %q; findings %+v", tc.code, got, tc.want, findings)
			}
		})
	}
}

func TestRepeatsAreDescribedFromRawSamples(t *testing.T) {
	samples := append(repeated(3, 100), with(func(s *foreign.Sample) { s.Errors.Status = 1 }))
	r := foreign.Analyse(samples)
	if len(r.Repeats) != 1 || len(r.Repeats[0].Samples) != 3 {
		t.Fatalf("repeats %+v, want one group of three: the void sample is left out", r.Repeats)
	}
	g := r.Repeats[0]
	if math.Abs(g.Mean-1100.25) > 1e-9 || math.Abs(*g.CV-100/1100.25) > 1e-9 || g.Least != 1000.25 || g.Most != 1200.25 {
		t.Errorf("mean %v, CV %v, least %v, most %v", g.Mean, *g.CV, g.Least, g.Most)
	}
}

func TestServersAtOneAddressAreToldApartByTheirFiles(t *testing.T) {
	var samples []foreign.Sample
	for _, file := range []string{"epoll-run1.txt", "epoll-run2.txt", "go-run1.txt", "go-run2.txt"} {
		s := at(10, 1000.25+100*float64(len(samples)), 7)
		s.File = file
		samples = append(samples, s)
	}
	r := foreign.Analyse(samples)
	if len(r.Repeats) != 2 || len(r.Repeats[0].Samples) != 2 || r.Repeats[1].Source != "go-run.txt" {
		t.Errorf("repeats %+v, want two runs of each server", r.Repeats)
	}
}

func TestSaturationKeepsTheLatencyOfItsFirstLevel(t *testing.T) {
	r := foreign.Analyse([]foreign.Sample{at(1, 400.25, 2.4), at(10, 1000.25, 9.5), at(20, 1010.25, 19), at(40, 990.25, 39)})
	found := lines(r.Findings)[foreign.Saturated]
	if len(found) != 2 || found[0] != 2 || found[1] != 3 {
		t.Errorf("saturated samples %v, want 2 and 3", found)
	}
	if r.Verdicts[1] != validity.Valid || r.Verdicts[3] != validity.Suspect {
		t.Errorf("verdicts %v", r.Verdicts)
	}
}
