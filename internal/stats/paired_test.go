package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sleep are the differences of Student's own example of 1908: the hours of sleep that ten patients gained more by one of two drugs.
var sleep = []float64{1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4}

func within(tolerance float64) cmp.Option { return cmpopts.EquateApprox(0, tolerance) }

func TestPairedTGivesTheTextbookAnswer(t *testing.T) {
	got := pairedT(sleep)
	// t = 4.0621 with 9 degrees of freedom; the 99 % interval is 1.58 ± 3.2498 * 0.38896.
	want := []float64{1.58, 0.3159, 2.8441, 0.002833}
	if diff := cmp.Diff(want, []float64{got.mean, got.low, got.high, got.p}, within(5e-5)); diff != "" {
		t.Errorf("mean, low, high, p (-want +got):\n%s", diff)
	}
}

func TestTQuantileIsThatOfTheTables(t *testing.T) {
	for name, tc := range map[string]struct{ p, freedom, want float64 }{
		"99 % interval of ten blocks":   {0.995, 9, 3.249836},
		"99 % interval of seven blocks": {0.995, 6, 3.707428},
		"99 % interval of three blocks": {0.995, 2, 9.924843},
		"power of 80 % at ten blocks":   {0.8, 9, 0.883404},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tQuantile(tc.p, tc.freedom); math.Abs(got-tc.want) > 1e-5 {
				t.Errorf("tQuantile(%v, %v) = %v, want %v", tc.p, tc.freedom, got, tc.want)
			}
		})
	}
}

func TestPairedTOfFewPairsHasNoInterval(t *testing.T) {
	if got := pairedT([]float64{0.1, 0.2}); got.known {
		t.Errorf("two pairs have an interval: %+v", got)
	}
}

func TestPairedTOfEqualPairs(t *testing.T) {
	if got := pairedT([]float64{0, 0, 0}); got.p != 1 {
		t.Errorf("p of no difference at all is %v, want 1", got.p)
	}
	if got := pairedT([]float64{0.1, 0.1, 0.1}); got.p > 1e-9 {
		t.Errorf("p of a difference without noise is %v, want 0", got.p)
	}
}

func TestSignFlip(t *testing.T) {
	for name, tc := range map[string]struct {
		logs []float64
		want float64
	}{
		"one value can only be mirrored":                          {[]float64{0.3}, 1},
		"all of one sign leave two patterns of eight":             {[]float64{1, 2, 3}, 0.25},
		"a sum of zero is never extreme":                          {[]float64{1, 2, -3}, 1},
		"eight of sixteen patterns reach four of ±1 ±1 ±1 ±3":     {[]float64{1, 1, -1, 3}, 0.5},
		"ten of one sign leave two patterns of 1,024":             {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2.0 / 1024},
		"ten equal logs are not lost to rounding of their sums":   {[]float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}, 2.0 / 1024},
		"mirrored values give the same answer as their originals": {[]float64{-1, -1, 1, -3}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			if got := signFlip(tc.logs); math.Abs(got-tc.want) > 1e-12 {
				t.Errorf("signFlip(%v) = %v, want %v", tc.logs, got, tc.want)
			}
		})
	}
}

func TestSignFlipCountsEveryPattern(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		logs := make([]float64, 2+rng.IntN(9))
		sum := 0.0
		for i := range logs {
			logs[i] = rng.NormFloat64() + 0.3
			sum += logs[i]
		}
		extreme := 0
		for pattern := range 1 << len(logs) {
			s := 0.0
			for i, v := range logs {
				if pattern>>i&1 == 1 {
					v = -v
				}
				s += v
			}
			if math.Abs(s) >= math.Abs(sum)-1e-9 {
				extreme++
			}
		}
		want := float64(extreme) / float64(int(1)<<len(logs))
		if got := signFlip(logs); math.Abs(got-want) > 1e-12 {
			t.Errorf("signFlip(%v) = %v, want %v", logs, got, want)
		}
	}
}

func TestHolm(t *testing.T) {
	for name, tc := range map[string]struct{ ps, want []float64 }{
		"the textbook's four":                   {[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		"one alone stays as it is":              {[]float64{0.2}, []float64{0.2}},
		"none is more than certain":             {[]float64{0.9, 0.8}, []float64{1, 1}},
		"a later one is never below an earlier": {[]float64{0.02, 0.021}, []float64{0.04, 0.04}},
		"an empty family needs no correction":   {nil, []float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, holm(tc.ps), within(1e-12)); diff != "" {
				t.Errorf("holm(%v) (-want +got):\n%s", tc.ps, diff)
			}
		})
	}
}

func TestDetectableOfTenOrdinaryBlocks(t *testing.T) {
	// (3.2498 + 0.8834) * 0.064 / sqrt(10).
	if got := detectable(0.064, 10); math.Abs(got-0.08365) > 1e-4 {
		t.Errorf("detectable(0.064, 10) = %v, want 0.0836", got)
	}
}

func TestBlocksNeededAreFewestThatSeeTheDifference(t *testing.T) {
	r := pairedT([]float64{0.02, 0.15, -0.02, 0.11, 0.05, 0.12, -0.04})
	n := blocksNeeded(r)
	if n <= r.n || detectable(r.sd, n) > r.mean || detectable(r.sd, n-1) <= r.mean {
		t.Errorf("blocksNeeded = %d for a mean of %v and sd of %v", n, r.mean, r.sd)
	}
	if n := blocksNeeded(paired{n: 7, known: true, sd: 10}); n != 0 {
		t.Errorf("hopeless noise asks for %d blocks, want 0", n)
	}
}

func TestSummariseKnowsSpreadFromTwoValuesOn(t *testing.T) {
	if got := summarise(nil); got != nil {
		t.Errorf("summary of nothing: %+v", got)
	}
	if got := summarise([]float64{5}); got.StdDev != nil || got.Low != nil || got.Mean != 5 {
		t.Errorf("summary of one value: %+v", got)
	}
	got := summarise([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	if diff := cmp.Diff([]float64{5, 2, 9, 2.13809}, []float64{got.Mean, got.Min, got.Max, *got.StdDev}, within(1e-5)); diff != "" {
		t.Errorf("mean, min, max, sd (-want +got):\n%s", diff)
	}
}
