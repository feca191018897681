package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunsOfOlderVersionsCanBeRead(t *testing.T) {
	const stored = `{"items": [
		{"spec": {"objectives": [{"metric": "Regression", "against": {"runs": ["bench/quick-0c9f3f11"], "anchor": "go"}}]}},
		{"spec": {"objectives": [{"metric": "Regression", "against": {"runs": [{"name": "quick", "uid": "0c9f3f11-2222", "manifestSHA256": "ab"}], "anchor": "go"}}]}}]}`
	var runs BenchmarkRunList
	if err := json.Unmarshal([]byte(stored), &runs); err != nil {
		t.Fatal(err)
	}
	got := []PastRun{runs.Items[0].Spec.Objectives[0].Against.Runs[0], runs.Items[1].Spec.Objectives[0].Against.Runs[0]}
	want := []PastRun{{Prefix: "bench/quick-0c9f3f11"}, {Name: "quick", UID: "0c9f3f11-2222", ManifestSHA256: "ab"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("earlier runs (-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"name": 1}`), new(PastRun)); err == nil {
		t.Error("a name that is a number is read")
	}
}
