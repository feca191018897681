package foreign_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/foreign"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/printed"
	"loadstone.dev/loadstone/internal/validity"
)

func TestOneSampleIsJudgedOnBothSidesOfEachLimit(t *testing.T) {
	type sample = foreign.Sample
	seconds := func(v float64) func(*sample) {
		return func(s *sample) {
			s.Seconds.Value, s.Requests, s.Throughput.Value, s.Recomputed = v, int64(v*1000), 1000, 1000
		}
	}
	corrected := func(millis float64) func(*sample) {
		return func(s *sample) {
			s.Tool, s.Latency[0].Kind = foreign.Wrk, record.Corrected
			s.Latency[0].Mean.Value = millis * 1e3
		}
	}
	arrivals := func(started int64) func(*sample) {
		return func(s *sample) {
			s.Tool, s.Arrivals = foreign.K6, &foreign.Arrivals{PerSecond: 1000, Asked: 10_000, Started: started, Dropped: 10_000 - started}
		}
	}
	users := func(millis float64) func(*sample) {
		return func(s *sample) {
			s.Tool, s.Loop = foreign.K6, &foreign.Loop{PerSecond: 1000, MeanMicros: printed.Quantity{Value: millis * 1e3}}
		}
	}
	kept := func(n int64) func(*sample) { return func(s *sample) { s.Reused = &n } }
	tests := map[string]struct {
		change func(*sample)
		code   foreign.Code
		want   foreign.Weight
	}{
		"a second is long enough to be doubted":                                        {seconds(1), foreign.TooShort, foreign.Suspect},
		"less than a second is start-up":                                               {seconds(0.99), foreign.TooShort, foreign.Void},
		"five seconds are enough":                                                      {seconds(5), foreign.TooShort, ""},
		"less than five seconds are doubted":                                           {seconds(4.9), foreign.TooShort, foreign.Suspect},
		"nine tenths of the asked time were run":                                       {func(s *sample) { s.AskedSeconds = 11.1 }, foreign.CutShort, ""},
		"less than nine tenths of the asked time were run":                             {func(s *sample) { s.AskedSeconds = 11.2 }, foreign.CutShort, foreign.Void},
		"a thousand requests are enough":                                               {func(s *sample) { s.Requests = 1000 }, foreign.TooFewRequests, ""},
		"fewer than a thousand requests are few":                                       {func(s *sample) { s.Requests = 999 }, foreign.TooFewRequests, foreign.Suspect},
		"not one request":                                                              {func(s *sample) { s.Requests = 0 }, foreign.NoRequests, foreign.Void},
		"a tool that gave up":                                                          {func(s *sample) { s.Failed = "refused" }, foreign.ToolFailed, foreign.Void},
		"a claim that fits":                                                            {func(s *sample) { s.Claims = []foreign.Claim{{What: "connections", Value: 10, Where: "c10"}} }, foreign.WrongLabel, ""},
		"a claim that does not fit":                                                    {func(s *sample) { s.Claims = []foreign.Claim{{What: "connections", Value: 100, Where: "c100"}} }, foreign.WrongLabel, foreign.Suspect},
		"no error status":                                                              {func(*sample) {}, foreign.WrongStatus, ""},
		"one error status":                                                             {func(s *sample) { s.Errors.Status = 1 }, foreign.WrongStatus, foreign.Void},
		"one failed request in a thousand is doubted":                                  {func(s *sample) { s.Errors.Timeout = 10 }, foreign.FailedRequests, foreign.Suspect},
		"more than one failed request in a thousand":                                   {func(s *sample) { s.Errors.Timeout = 11 }, foreign.FailedRequests, foreign.Void},
		"failures of unknown kind count too":                                           {func(s *sample) { s.Errors.Unsorted = 11 }, foreign.FailedRequests, foreign.Void},
		"one answer of another length in a thousand":                                   {func(s *sample) { s.Errors.Body = 10 }, foreign.WrongLength, foreign.Suspect},
		"more answers of another length":                                               {func(s *sample) { s.Errors.Body = 11 }, foreign.WrongLength, foreign.Void},
		"one timeout on a hundred connections":                                         {func(s *sample) { s.Connections, s.Errors.Timeout = 100, 1 }, foreign.Starved, ""},
		"one timeout on fewer connections":                                             {func(s *sample) { s.Connections, s.Errors.Timeout = 99, 1 }, foreign.Starved, foreign.Void},
		"one failed check in a thousand":                                               {func(s *sample) { s.ChecksFailed, s.ChecksPassed = 1, 999 }, foreign.ChecksFailed, foreign.Suspect},
		"more failed checks":                                                           {func(s *sample) { s.ChecksFailed, s.ChecksPassed = 1, 998 }, foreign.ChecksFailed, foreign.Void},
		"a crossed threshold":                                                          {func(s *sample) { s.Crossed = []string{"p(95)<50"} }, foreign.ThresholdsCrossed, foreign.Note},
		"a rate of which one in a hundred starts is missing":                           {arrivals(9_900), foreign.RateNotReached, foreign.Note},
		"a rate of which more is missing":                                              {arrivals(9_899), foreign.RateNotReached, foreign.Void},
		"a rate that arrived":                                                          {arrivals(10_000), foreign.RateNotReached, ""},
		"a small rate that missed two starts":                                          {func(s *sample) { s.Arrivals = &foreign.Arrivals{Asked: 20, Started: 18} }, foreign.RateNotReached, foreign.Note},
		"a small rate that missed three starts":                                        {func(s *sample) { s.Arrivals = &foreign.Arrivals{Asked: 20, Started: 17} }, foreign.RateNotReached, foreign.Void},
		"connections that were all kept":                                               {kept(10_000), foreign.NotKept, ""},
		"connections of which one in a hundred was not kept":                           {kept(9_900), foreign.NotKept, foreign.Note},
		"connections of which more were not kept":                                      {kept(9_899), foreign.NotKept, foreign.Suspect},
		"a throughput within its rounding":                                             {func(s *sample) { s.Throughput.Value = 1000.49 }, foreign.ThroughputMismatch, ""},
		"a throughput beyond its rounding":                                             {func(s *sample) { s.Throughput.Value = 1000.6 }, foreign.ThroughputMismatch, foreign.Void},
		"a throughput below its rounding":                                              {func(s *sample) { s.Throughput.Value = 999.4 }, foreign.ThroughputMismatch, foreign.Void},
		"a throughput within the rounding of the duration":                             {func(s *sample) { s.Throughput.Value, s.Seconds.Rounding = 1005, 0.05 }, foreign.ThroughputMismatch, ""},
		"a throughput of which the duration was derived":                               {func(s *sample) { s.Throughput.Value, s.DerivedSeconds = 2000, true }, foreign.ThroughputMismatch, ""},
		"as many requests under way as connections":                                    {func(s *sample) { s.Latency[0].Mean.Value = 10_200 }, foreign.Impossible, ""},
		"more requests under way than connections":                                     {func(s *sample) { s.Latency[0].Mean.Value = 10_201 }, foreign.Impossible, foreign.Void},
		"more of them within the rounding of the latency":                              {func(s *sample) { *s.Latency[0].Mean = printed.Quantity{Value: 10_600, Rounding: 500} }, foreign.Impossible, ""},
		"more requests under way than wrk's connections":                               {corrected(10.21), foreign.Inflated, foreign.Suspect},
		"wrk's correction is not called impossible":                                    {corrected(10.21), foreign.Impossible, ""},
		"as many requests under way as wrk's connections":                              {corrected(10.2), foreign.Inflated, ""},
		"latencies that explain nine tenths of the time":                               {func(s *sample) { s.Latency[0].Mean.Value = 9_000 }, foreign.UnaccountedTime, ""},
		"latencies that explain less":                                                  {func(s *sample) { s.Latency[0].Mean.Value = 8_999 }, foreign.UnaccountedTime, foreign.Note},
		"latencies that explain half of the time":                                      {func(s *sample) { s.Latency[0].Mean.Value = 5_000 }, foreign.Unanswered, ""},
		"latencies that explain less than half of the time":                            {func(s *sample) { s.Latency[0].Mean.Value = 4_999 }, foreign.Unanswered, foreign.Suspect},
		"latencies that explain less than half in wrk, which opens connections unseen": {corrected(4.999), foreign.Unanswered, ""},
		"a p99 below the mean":                                                         {func(s *sample) { s.Latency[0].Quantiles[1].Micros.Value = 9_850 }, foreign.MeanAboveP99, foreign.Note},
		"a p99 above the mean":                                                         {func(s *sample) { s.Latency[0].Quantiles[1].Micros.Value = 9_901 }, foreign.MeanAboveP99, ""},
		"iterations that keep all virtual users busy":                                  {users(10.2), foreign.Impossible, ""},
		"iterations that need more virtual users than k6 had":                          {users(10.21), foreign.Impossible, foreign.Void},
		"quantiles in order":                                                           {func(s *sample) { s.Latency[0].Quantiles[0].Micros.Value = 20_000 }, foreign.OutOfOrder, ""},
		"a median above p99":                                                           {func(s *sample) { s.Latency[0].Quantiles[0].Micros.Value = 20_001 }, foreign.OutOfOrder, foreign.Void},
		"a median above p99 within the rounding":                                       {func(s *sample) { s.Latency[0].Quantiles[0].Micros = printed.Quantity{Value: 20_001, Rounding: 1} }, foreign.OutOfOrder, ""},
		"a p99 above the maximum":                                                      {func(s *sample) { s.Latency[0].Max.Value = 19_999 }, foreign.OutOfOrder, foreign.Void},
		"a mean below the minimum":                                                     {func(s *sample) { s.Latency[0].Min.Value = 9_901; s.Latency[0].Quantiles = nil }, foreign.OutOfOrder, foreign.Void},
		"a p99 with ten samples beyond":                                                {func(s *sample) { s.Requests = 1000 }, foreign.TooFewSamples, ""},
		"a p99 with fewer beyond":                                                      {func(s *sample) { s.Requests = 999 }, foreign.TooFewSamples, foreign.Suspect},
		"a mean of ten steps":                                                          {func(s *sample) { s.Latency[0].ResolutionMicros = 990 }, foreign.CoarseLatency, ""},
		"a mean of fewer steps":                                                        {func(s *sample) { s.Latency[0].ResolutionMicros = 991 }, foreign.CoarseLatency, foreign.Note},
		"a schedule of wrk2 is no closed loop":                                         {func(s *sample) { s.Tool = foreign.Wrk2; s.Latency[0].Mean.Value = 20_000 }, foreign.Impossible, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			findings := foreign.Judge([]foreign.Sample{with(tc.change)})
			if got := weightOf(findings, tc.code); got != tc.want {
				t.Errorf("%s weighs %q, want %q; findings %+v", tc.code, got, tc.want, findings)
			}
		})
	}
}

func TestOneGoodSampleIsValid(t *testing.T) {
	r := foreign.Analyse([]foreign.Sample{good()})
	wantFindings(t, map[foreign.Code][]int{}, r.Findings)
	if r.Verdicts[0] != validity.Valid || r.Verdict != validity.Valid || r.Void() != 0 {
		t.Errorf("verdicts %v, set %s, %d void", r.Verdicts, r.Verdict, r.Void())
	}
}

func TestWhatConcernsLatencyAloneVoidsNoThroughput(t *testing.T) {
	r := foreign.Analyse([]foreign.Sample{with(func(s *foreign.Sample) {
		s.Tool, s.Latency[0].Kind, s.Latency[0].Mean.Value = foreign.Wrk, record.Corrected, 30_000
	})})
	if r.Verdicts[0] != validity.Suspect {
		t.Errorf("verdict %s, want Suspect", r.Verdicts[0])
	}
}
