package lint_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/cli/lint"
	"loadstone.dev/loadstone/internal/record"
)

func TestOneSampleIsJudgedOnBothSidesOfEachLimit(t *testing.T) {
	type sample = lint.Sample
	seconds := func(v float64) func(*sample) {
		return func(s *sample) {
			s.Seconds.Value, s.Requests, s.Throughput.Value, s.Recomputed = v, int64(v*1000), 1000, 1000
		}
	}
	corrected := func(millis float64) func(*sample) {
		return func(s *sample) {
			s.Tool, s.Latency[0].Kind = lint.Wrk, record.Corrected
			s.Latency[0].Mean.Value = millis * 1e3
		}
	}
	arrivals := func(started int64) func(*sample) {
		return func(s *sample) {
			s.Tool, s.Arrivals = lint.K6, &lint.Arrivals{PerSecond: 1000, Asked: 10_000, Started: started, Dropped: 10_000 - started}
		}
	}
	users := func(millis float64) func(*sample) {
		return func(s *sample) {
			s.Tool, s.Loop = lint.K6, &lint.Loop{PerSecond: 1000, MeanMicros: printed.Quantity{Value: millis * 1e3}}
		}
	}
	kept := func(n int64) func(*sample) { return func(s *sample) { s.Reused = &n } }
	tests := map[string]struct {
		change func(*sample)
		code   validity.Code
		want   validity.Validity
	}{
		"a second is long enough to be doubted":                                        {seconds(1), validity.TooShort, validity.Suspect},
		"less than a second is start-up":                                               {seconds(0.99), validity.TooShort, validity.Void},
		"five seconds are enough":                                                      {seconds(5), validity.TooShort, ""},
		"less than five seconds are doubted":                                           {seconds(4.9), validity.TooShort, validity.Suspect},
		"nine tenths of the asked time were run":                                       {func(s *sample) { s.AskedSeconds = 11.1 }, validity.CutShort, ""},
		"less than nine tenths of the asked time were run":                             {func(s *sample) { s.AskedSeconds = 11.2 }, validity.CutShort, validity.Void},
		"a thousand requests are enough":                                               {func(s *sample) { s.Requests = 1000 }, validity.TooFewRequests, ""},
		"fewer than a thousand requests are few":                                       {func(s *sample) { s.Requests = 999 }, validity.TooFewRequests, validity.Suspect},
		"not one request":                                                              {func(s *sample) { s.Requests = 0 }, validity.NoRequests, validity.Void},
		"a tool that gave up":                                                          {func(s *sample) { s.Failed = "refused" }, validity.ToolFailed, validity.Void},
		"a claim that fits":                                                            {func(s *sample) { s.Claims = []lint.Claim{{What: "connections", Value: 10, Where: "c10"}} }, validity.WrongLabel, ""},
		"a claim that does not fit":                                                    {func(s *sample) { s.Claims = []lint.Claim{{What: "connections", Value: 100, Where: "c100"}} }, validity.WrongLabel, validity.Suspect},
		"no error status":                                                              {func(*sample) {}, validity.WrongStatus, ""},
		"one error status":                                                             {func(s *sample) { s.Errors.Status = 1 }, validity.WrongStatus, validity.Void},
		"one failed request in a thousand is doubted":                                  {func(s *sample) { s.Errors.Timeout = 10 }, lint.FailedRequests, validity.Suspect},
		"more than one failed request in a thousand":                                   {func(s *sample) { s.Errors.Timeout = 11 }, lint.FailedRequests, validity.Void},
		"failures of unknown kind count too":                                           {func(s *sample) { s.Errors.Unsorted = 11 }, lint.FailedRequests, validity.Void},
		"one answer of another length in a thousand":                                   {func(s *sample) { s.Errors.Body = 10 }, lint.WrongLength, validity.Suspect},
		"more answers of another length":                                               {func(s *sample) { s.Errors.Body = 11 }, lint.WrongLength, validity.Void},
		"one timeout on a hundred connections":                                         {func(s *sample) { s.Connections, s.Errors.Timeout = 100, 1 }, validity.Starved, ""},
		"one timeout on fewer connections":                                             {func(s *sample) { s.Connections, s.Errors.Timeout = 99, 1 }, validity.Starved, validity.Void},
		"one failed check in a thousand":                                               {func(s *sample) { s.ChecksFailed, s.ChecksPassed = 1, 999 }, lint.ChecksFailed, validity.Suspect},
		"more failed checks":                                                           {func(s *sample) { s.ChecksFailed, s.ChecksPassed = 1, 998 }, lint.ChecksFailed, validity.Void},
		"a crossed threshold":                                                          {func(s *sample) { s.Crossed = []string{"p(95)<50"} }, lint.ThresholdsCrossed, lint.Note},
		"a rate of which one in a hundred starts is missing":                           {arrivals(9_900), lint.RateNotReached, lint.Note},
		"a rate of which more is missing":                                              {arrivals(9_899), lint.RateNotReached, validity.Void},
		"a rate that arrived":                                                          {arrivals(10_000), lint.RateNotReached, ""},
		"a small rate that missed two starts":                                          {func(s *sample) { s.Arrivals = &lint.Arrivals{Asked: 20, Started: 18} }, lint.RateNotReached, lint.Note},
		"a small rate that missed three starts":                                        {func(s *sample) { s.Arrivals = &lint.Arrivals{Asked: 20, Started: 17} }, lint.RateNotReached, validity.Void},
		"connections that were all kept":                                               {kept(10_000), lint.NotKeptAlive, ""},
		"connections of which one in a hundred was not kept":                           {kept(9_900), lint.NotKeptAlive, lint.Note},
		"connections of which more were not kept":                                      {kept(9_899), lint.NotKeptAlive, validity.Suspect},
		"a throughput within its rounding":                                             {func(s *sample) { s.Throughput.Value = 1000.49 }, lint.ThroughputMismatch, ""},
		"a throughput beyond its rounding":                                             {func(s *sample) { s.Throughput.Value = 1000.6 }, lint.ThroughputMismatch, validity.Void},
		"a throughput below its rounding":                                              {func(s *sample) { s.Throughput.Value = 999.4 }, lint.ThroughputMismatch, validity.Void},
		"a throughput within the rounding of the duration":                             {func(s *sample) { s.Throughput.Value, s.Seconds.Rounding = 1005, 0.05 }, lint.ThroughputMismatch, ""},
		"a throughput of which the duration was derived":                               {func(s *sample) { s.Throughput.Value, s.DerivedSeconds = 2000, true }, lint.ThroughputMismatch, ""},
		"as many requests under way as connections":                                    {func(s *sample) { s.Latency[0].Mean.Value = 10_200 }, lint.Impossible, ""},
		"more requests under way than connections":                                     {func(s *sample) { s.Latency[0].Mean.Value = 10_201 }, lint.Impossible, validity.Void},
		"more of them within the rounding of the latency":                              {func(s *sample) { *s.Latency[0].Mean = printed.Quantity{Value: 10_600, Rounding: 500} }, lint.Impossible, ""},
		"more requests under way than wrk's connections":                               {corrected(10.21), lint.Inflated, validity.Suspect},
		"wrk's correction is not called impossible":                                    {corrected(10.21), lint.Impossible, ""},
		"as many requests under way as wrk's connections":                              {corrected(10.2), lint.Inflated, ""},
		"latencies that explain nine tenths of the time":                               {func(s *sample) { s.Latency[0].Mean.Value = 9_000 }, lint.UnaccountedTime, ""},
		"latencies that explain less":                                                  {func(s *sample) { s.Latency[0].Mean.Value = 8_999 }, lint.UnaccountedTime, lint.Note},
		"latencies that explain half of the time":                                      {func(s *sample) { s.Latency[0].Mean.Value = 5_000 }, validity.Unanswered, ""},
		"latencies that explain less than half of the time":                            {func(s *sample) { s.Latency[0].Mean.Value = 4_999 }, validity.Unanswered, validity.Suspect},
		"latencies that explain less than half in wrk, which opens connections unseen": {corrected(4.999), validity.Unanswered, ""},
		"a p99 below the mean":                                                         {func(s *sample) { s.Latency[0].Quantiles[1].Micros.Value = 9_850 }, lint.MeanAboveP99, lint.Note},
		"a p99 above the mean":                                                         {func(s *sample) { s.Latency[0].Quantiles[1].Micros.Value = 9_901 }, lint.MeanAboveP99, ""},
		"iterations that keep all virtual users busy":                                  {users(10.2), lint.Impossible, ""},
		"iterations that need more virtual users than k6 had":                          {users(10.21), lint.Impossible, validity.Void},
		"quantiles in order":                                                           {func(s *sample) { s.Latency[0].Quantiles[0].Micros.Value = 20_000 }, lint.OutOfOrder, ""},
		"a median above p99":                                                           {func(s *sample) { s.Latency[0].Quantiles[0].Micros.Value = 20_001 }, lint.OutOfOrder, validity.Void},
		"a median above p99 within the rounding":                                       {func(s *sample) { s.Latency[0].Quantiles[0].Micros = printed.Quantity{Value: 20_001, Rounding: 1} }, lint.OutOfOrder, ""},
		"a p99 above the maximum":                                                      {func(s *sample) { s.Latency[0].Max.Value = 19_999 }, lint.OutOfOrder, validity.Void},
		"a mean below the minimum":                                                     {func(s *sample) { s.Latency[0].Min.Value = 9_901; s.Latency[0].Quantiles = nil }, lint.OutOfOrder, validity.Void},
		"a p99 with ten samples beyond":                                                {func(s *sample) { s.Requests = 1000 }, lint.TooFewSamples, ""},
		"a p99 with fewer beyond":                                                      {func(s *sample) { s.Requests = 999 }, lint.TooFewSamples, validity.Suspect},
		"a mean of ten steps":                                                          {func(s *sample) { s.Latency[0].ResolutionMicros = 990 }, lint.CoarseLatency, ""},
		"a mean of fewer steps":                                                        {func(s *sample) { s.Latency[0].ResolutionMicros = 991 }, lint.CoarseLatency, lint.Note},
		"a schedule of wrk2 is no closed loop":                                         {func(s *sample) { s.Tool = lint.Wrk2; s.Latency[0].Mean.Value = 20_000 }, lint.Impossible, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			findings := lint.Judge([]lint.Sample{with(tc.change)})
			if got := weightOf(findings, tc.code); got != tc.want {
				t.Errorf("%s weighs %q, want %q; findings %+v", tc.code, got, tc.want, findings)
			}
		})
	}
}

func TestOneGoodSampleIsValid(t *testing.T) {
	r := lint.Analyse([]lint.Sample{good()}, nil)
	wantFindings(t, map[validity.Code][]int{}, r.Findings)
	if r.Verdicts[0] != validity.Valid || r.Verdict != validity.Valid || r.Void() != 0 {
		t.Errorf("verdicts %v, set %s, %d void", r.Verdicts, r.Verdict, r.Void())
	}
}

func TestWhatConcernsLatencyAloneVoidsNoThroughput(t *testing.T) {
	r := lint.Analyse([]lint.Sample{with(func(s *lint.Sample) {
		s.Tool, s.Latency[0].Kind, s.Latency[0].Mean.Value = lint.Wrk, record.Corrected, 30_000
	})}, nil)
	if r.Verdicts[0] != validity.Suspect {
		t.Errorf("verdict %s, want Suspect", r.Verdicts[0])
	}
}
