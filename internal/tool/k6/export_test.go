package k6_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/k6"
)

func endOfTest(text string) (k6.EndOfTest, error) {
	var e k6.Export
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return k6.EndOfTest{}, err
	}
	return e.EndOfTest()
}

func TestExportOfRecordedOutput(t *testing.T) {
	got, err := endOfTest(readElsewhere(t, "k6-handle-summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	// The test compares leading digits only.
	want := k6.EndOfTest{
		Requests: 26732, Throughput: *about(5345.849545, 0), Seconds: 5.000514843, Users: 4, Bytes: about(3394964, 0), ChecksPassed: 26732, Started: 26732,
		Iterations: &k6.Iterations{PerSecond: 5345.849545, MeanMicros: *about(731.545865, 0)},
		Latency: &tool.PrintedLatency{
			Kind: record.Observed, Mean: about(598.774141, 0), Min: about(53.118, 0), Median: about(257.9945, 0), Max: about(89944.467, 0),
			Quantiles: []tool.PrintedQuantile{{Q: 0.9, Micros: *about(999.4997, 0)}, {Q: 0.95, Micros: *about(2193.25375, 0)}, {Q: 0.99, Micros: *about(5620.93621, 0)}},
		},
	}
	roughly := cmp.Comparer(func(a, b float64) bool { return a-b <= 1e-6*max(1, a) && b-a <= 1e-6*max(1, a) })
	if diff := cmp.Diff(want, got, roughly); diff != "" {
		t.Errorf("EndOfTest() (-want +got):\n%s", diff)
	}
}

func TestBothShapesOfAnExport(t *testing.T) {
	tests := map[string]struct {
		text string
		want k6.EndOfTest
	}{
		"numbers in values, as handleSummary gets them": {
			`{"metrics": {"http_reqs": {"values": {"count": 5, "rate": 2.5}, "thresholds": {"count>10": {"ok": false}, "rate>1": {"ok": true}}}}}`,
			k6.EndOfTest{Requests: 5, Throughput: *about(2.5, 0), Bytes: about(0, 0), Crossed: []string{"count>10"}},
		},
		"numbers beside thresholds, as they are exported": {
			`{"metrics": {"http_reqs": {"count": 5, "rate": 2.5, "thresholds": {"count>10": true, "rate>1": false}}}}`,
			k6.EndOfTest{Requests: 5, Throughput: *about(2.5, 0), Bytes: about(0, 0), Crossed: []string{"count>10"}},
		},
		"a test that never ran": {
			`{"metrics": {"vus_max": {"max": 4}, "checks": {"thresholds": {"rate>0.9": true}}}}`,
			k6.EndOfTest{Crossed: []string{"rate>0.9"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := endOfTest(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("EndOfTest() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExportRefuses(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"other JSON":               {`{"a": 1}`, `the JSON holds no "metrics"; expected that of k6's --summary-export or handleSummary`},
		"a negative number":        {`{"metrics": {"http_reqs": {"count": -5}}}`, `reading "count" of a metric: -5 is out of range`},
		"a number beyond all":      {`{"metrics": {"http_reqs": {"values": {"count": 1e300}}}}`, `reading "count" of a metric: 1e+300 is out of range`},
		"a metric that is none":    {`{"metrics": {"http_reqs": 5}}`, "reading a metric: "},
		"values that are none":     {`{"metrics": {"http_reqs": {"values": 5}}}`, "reading the values of a metric: "},
		"thresholds that are none": {`{"metrics": {"http_reqs": {"thresholds": 5}}}`, "reading thresholds: "},
		"a quantile beyond all":    {`{"metrics": {"http_reqs": {"count": 1}, "http_req_duration": {"p(101)": 5}}}`, `reading the quantile "p(101)": it is no number of a known unit`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := endOfTest(tc.text)
			if err == nil {
				t.Fatalf("EndOfTest() = %+v, want an error", got)
			}
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("error %q, want %q", err, tc.want)
			}
		})
	}
}

func FuzzExport(f *testing.F) {
	corpus := mutated.Of[string](f)
	corpus.Add(readElsewhere(f, "k6-export.json"))
	corpus.Add(readElsewhere(f, "k6-handle-summary.json"))
	corpus.Fuzz(func(t testing.TB, text string) {
		if got, err := endOfTest(text); err == nil {
			wantCounts(t, got)
		}
	})
}
