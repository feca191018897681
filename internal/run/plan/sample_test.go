package plan

import (
	"os"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/verdict"
)

func read(t *testing.T, text []byte) v1alpha1.BenchmarkRun {
	t.Helper()
	var run v1alpha1.BenchmarkRun
	if err := yaml.UnmarshalStrict(text, &run); err != nil {
		t.Fatal(err)
	}
	return run
}

// The demo must end in a verdict within three minutes.
func TestTheQuickSampleIsPlannedToEndInAVerdictWithinThreeMinutes(t *testing.T) {
	text, err := os.ReadFile("../../../config/samples/quick.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sample := read(t, text)
	p, err := Compile(sample.Spec, Options{Name: sample.Name, UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	if took := p.Estimate(len(p.Trials)); p.Blocks < verdict.MinBlocks || took > 3*time.Minute {
		t.Errorf("%d blocks, planned to take %s", p.Blocks, took)
	}
}
