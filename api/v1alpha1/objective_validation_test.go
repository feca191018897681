package v1alpha1_test

import (
	"strings"
	"testing"
)

// past is an earlier run.
const past = `{name: quick, uid: 0c9f3f11-2222, prefix: a, manifestSHA256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}`

func TestInvalidObjectiveIsRefusedWithMessage(t *testing.T) {
	c := apiServer(t)
	for name, tc := range map[string]struct{ objective, want string }{
		"an unknown metric":                   {`{metric: Speed, min: "1"}`, `spec.objectives[0].metric: Unsupported value: "Speed"`},
		"no bound":                            {`{metric: Throughput}`, "an objective needs either min or max"},
		"both bounds":                         {`{metric: Throughput, min: "1", max: "2"}`, "an objective needs either min or max"},
		"a bound that is no string":           {`{metric: Throughput, min: 1}`, "spec.objectives[0].min"},
		"a bound with a unit":                 {`{metric: Throughput, min: "17k"}`, "min must be a decimal number"},
		"a negative bound":                    {`{metric: Throughput, max: "-1"}`, "max must be a decimal number"},
		"a percentile that is none":           {`{metric: LatencyPercentile, percentile: "42", max: "1"}`, `spec.objectives[0].percentile: Unsupported value: "42"`},
		"no percentile":                       {`{metric: LatencyPercentile, max: "1"}`, "percentile is required for LatencyPercentile (metric or of) and forbidden otherwise"},
		"a percentile of a throughput":        {`{metric: Throughput, percentile: "99", max: "1"}`, "percentile is required for LatencyPercentile (metric or of) and forbidden otherwise"},
		"a ratio of nothing":                  {`{metric: RatioToBaseline, min: "1"}`, "of is required for metrics RatioToBaseline and Regression"},
		"a ratio of errors":                   {`{metric: RatioToBaseline, of: ErrorRate, min: "1"}`, `spec.objectives[0].of: Unsupported value: "ErrorRate"`},
		"a throughput of something":           {`{metric: Throughput, of: Throughput, min: "1"}`, "of is required for metrics RatioToBaseline and Regression"},
		"a regression against nothing":        {`{metric: Regression, of: Throughput, min: "1"}`, "against is required for metric Regression and forbidden otherwise"},
		"a throughput against an earlier run": {`{metric: Throughput, min: "1", against: {runs: [` + past + `], anchor: go}}`, "against is required for metric Regression and forbidden otherwise"},
		"an earlier run without an anchor":    {`{metric: Regression, of: Throughput, min: "1", against: {runs: [` + past + `]}}`, "spec.objectives[0].against.anchor: Required value"},
		"earlier runs and last good ones":     {`{metric: Regression, of: Throughput, min: "1", against: {runs: [` + past + `], lastGood: 3, anchor: go}}`, "against needs either runs or lastGood"},
		"an anchor and nothing earlier":       {`{metric: Regression, of: Throughput, min: "1", against: {anchor: go}}`, "against needs either runs or lastGood"},
		"too few good rounds":                 {`{metric: Regression, of: Throughput, min: "1", against: {lastGood: 2, anchor: go}}`, "should be greater than or equal to 3"},
		"more good rounds than are known":     {`{metric: Regression, of: Throughput, min: "1", against: {lastGood: 21, anchor: go}}`, "should be less than or equal to 20"},
		"an earlier run that is a prefix":     {`{metric: Regression, of: Throughput, min: "1", against: {runs: [bench/quick-0c9f3f11], anchor: go}}`, "must be of type object"},
		"an earlier run that climbs":          {`{metric: Regression, of: Throughput, min: "1", against: {runs: [` + strings.Replace(past, "prefix: a", "prefix: a/../b", 1) + `], anchor: go}}`, "prefix must be spec.artifacts.prefix"},
		"an earlier run of another namespace": {`{metric: Regression, of: Throughput, min: "1", against: {runs: [` + strings.Replace(past, "name: quick", "name: other/quick", 1) + `], anchor: go}}`, "name must be the name of a BenchmarkRun"},
		"an earlier run without a UID":        {`{metric: Regression, of: Throughput, min: "1", against: {runs: [` + strings.Replace(past, "uid: 0c9f3f11-2222, ", "", 1) + `], anchor: go}}`, "uid"},
		"an earlier run without a digest":     {`{metric: Regression, of: Throughput, min: "1", against: {runs: [{name: quick, uid: 0c9f3f11-2222}], anchor: go}}`, "manifestSHA256: Required value"},
		"an earlier run with half a digest":   {`{metric: Regression, of: Throughput, min: "1", against: {runs: [{name: quick, uid: 0c9f3f11-2222, manifestSHA256: abc}], anchor: go}}`, "manifestSHA256"},
		"a case of a load":                    {`{metric: Throughput, case: copy, min: "1"}`, "case is only for CaseTime, CaseBytes and CaseAllocations"},
		"a load of a case":                    {`{metric: CaseTime, load: sweep, max: "1"}`, "load does not apply to CaseTime, CaseBytes and CaseAllocations: name a case"},
		"a load of a ratio of cases":          {`{metric: RatioToBaseline, of: CaseTime, load: sweep, max: "1"}`, "load does not apply to CaseTime"},
		"connections of no load":              {`{metric: Throughput, min: "1", connections: 10}`, "connections needs load"},
		"a rate of no load":                   {`{metric: Throughput, min: "1", requestsPerSecond: 10}`, "requestsPerSecond needs load"},
		"implementations, and then none":      {`{metric: Throughput, min: "1", implementations: []}`, "spec.objectives[0].implementations in body should have at least 1 items"},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, create(t, c, edit(t, "bad", "baseline: go", "baseline: go\n  objectives:\n  - "+tc.objective)), tc.want)
		})
	}
}

func TestValidObjectivesAreAccepted(t *testing.T) {
	c := apiServer(t)
	const all = `baseline: go
  objectives:
  - {name: fast enough, metric: Throughput, load: sweep, connections: 10, implementations: [zco], min: "17000"}
  - {metric: LatencyPercentile, percentile: "99.9", max: "5000.5"}
  - {metric: MeanLatency, max: "1000"}
  - {metric: ErrorRate, max: "0.001"}
  - {metric: ServerCPUPerRequest, max: "50"}
  - {metric: ServerCPUs, max: "1.5"}
  - {metric: PeakMemory, max: "67108864"}
  - {metric: RatioToBaseline, of: Throughput, min: "0.95"}
  - {metric: CaseTime, case: "copy/size:*", max: "12.5"}
  - {metric: RatioToBaseline, of: CaseAllocations, max: "1"}
  - {metric: RatioToBaseline, of: LatencyPercentile, percentile: "99", max: "1.5"}
  - {metric: Regression, of: ServerCPUPerRequest, max: "1.05", against: {runs: [` + past + `], anchor: epoll}}
  - {metric: Regression, of: Throughput, min: "0.95", against: {lastGood: 20, anchor: epoll}}
`
	if err := create(t, c, edit(t, "gated", "baseline: go\n", all)); err != nil {
		t.Error(err)
	}
}
