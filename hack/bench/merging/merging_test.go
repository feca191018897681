package merging

import (
	"math/rand/v2"
	"testing"
)

func TestMergedDistributionsAgainstTheSamples(t *testing.T) {
	list, err := mergedAgainstSamples(mergedGenerators, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if f.Verdict() != "met" {
			t.Error(f.Line())
		}
	}
}

func TestWorstQuantileSeesAnError(t *testing.T) {
	samples := drawLatencies(rand.New(rand.NewPCG(1, 1)), 20_000)
	l, err := analysed([][]float64{samples})
	if err != nil {
		t.Fatal(err)
	}
	for i := range samples {
		samples[i] *= 1.01
	}
	if got, err := worstQuantile(l, samples); err != nil || got < 5 {
		t.Errorf("one per cent off is %.2f of what is allowed, %v; want about 10", got, err)
	}
}
