package ab_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/ab"
)

// percentilesOf chooses percentiles as ab does, with garbage where ab reads behind the last sample.
func percentilesOf(sorted []int64) (micros [101]int64) {
	for p := range micros {
		place := int(0.5 + float64(len(sorted))*float64(p)/100)
		switch p {
		case 0:
			place = 0
		case 100:
			place = len(sorted) - 1
		}
		micros[p] = -7
		if place < len(sorted) {
			micros[p] = sorted[place]
		}
	}
	return micros
}

func randomSamples(random *rand.Rand, n int) []int64 {
	samples := make([]int64, n)
	for i := range samples {
		samples[i] = random.Int64N(int64(n)*3 + 1)
	}
	slices.Sort(samples)
	return samples
}

// inBrackets returns the first sample outside its bracket; -1 if none is, and the counts agree.
func inBrackets(sorted []int64, brackets []tool.Bracket) int {
	next := 0
	for _, b := range brackets {
		for range b.Count {
			if next == len(sorted) || sorted[next] < b.LowMicros || sorted[next] > b.HighMicros {
				return next
			}
			next++
		}
	}
	if next < len(sorted) {
		return next
	}
	return -1
}

func TestEverySampleLiesInItsBracket(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sizes := []int{1000, 4321, 99_999}
	for n := 1; n <= 260; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		sorted := randomSamples(random, n)
		brackets := ab.Brackets(percentilesOf(sorted), int64(n), 0)
		if at := inBrackets(sorted, brackets); at >= 0 {
			t.Fatalf("of %d samples, sample %d does not lie in its bracket", n, at)
		}
		exact := 0
		for _, b := range brackets {
			if b.LowMicros == b.HighMicros {
				exact++
			}
		}
		if want := min(n, 100); exact < want {
			t.Fatalf("of %d samples, %d brackets are exact, want %d or more: one for each place that a percentile has", n, exact, want)
		}
	}
}

func TestEveryAnsweredSampleLiesInItsBracketWhicheverWereLost(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 2 + random.IntN(700)
		sorted := randomSamples(random, n)
		lost := 1 + random.IntN(n-1)
		brackets := ab.Brackets(percentilesOf(sorted), int64(n), int64(lost))
		first, last := sorted[:n-lost], sorted[lost:]
		some := slices.Clone(sorted)
		random.Shuffle(n, func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[lost:]
		slices.Sort(some)
		for which, answered := range map[string][]int64{"the highest": first, "the lowest": last, "any": some} {
			if at := inBrackets(answered, brackets); at >= 0 {
				t.Fatalf("of %d samples, %s %d were lost: sample %d of the others does not lie in its bracket", n, which, lost, at)
			}
		}
	}
}
