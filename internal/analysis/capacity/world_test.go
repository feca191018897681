package capacity

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

// searchedServer draws ten searches of a server that meets the rates up to truth, except for a share missed by chance.
func searchedServer(random *rand.Rand, truth, misses float64) []Trial {
	var trials []Trial
	for block := range int32(10) {
		t := Trial{Block: block + 1}
		s := record.Search{Steps: 12, StartRequestsPerSecond: search.Start(100, t.Block)}
		var past []search.Step
		for {
			rate, done := search.Next(s, past)
			if done {
				break
			}
			met := float64(rate) <= truth && random.Float64() >= misses
			past = append(past, search.Step{Rate: rate, Met: met})
			if met {
				t.Steps = append(t.Steps, kept(rate))
			} else {
				t.Steps = append(t.Steps, missed(rate))
			}
		}
		t.conclude(false)
		trials = append(trials, t)
	}
	return trials
}

// Each run has two equal servers and one that sustains a fifth more.
func TestSearchesWithMissesByChance(t *testing.T) {
	const least, truth = 0.01, 5000
	runs, err := figures.Drawn(500)
	if err != nil {
		t.Fatal(err)
	}
	runs /= 20 // Each has 30 searches.
	for _, misses := range []float64{0, 0.02, 0.05} {
		random := rand.New(rand.NewPCG(7, 8))
		outside, wrong, found := 0, 0, 0
		for range runs {
			c := Capacity{Trials: searchedServer(random, truth, misses)}
			c.summarise(nil)
			if c.Rate == nil || c.Rate.Low != nil && *c.Rate.Low > truth || c.Rate.High != nil && *c.Rate.High < truth {
				outside++
			}
			if r := ratesByBlock(searchedServer(random, truth, misses), c.Trials); r.P != nil && *r.P < least {
				wrong++
			}
			if r := ratesByBlock(searchedServer(random, 1.2*truth, misses), c.Trials); r.P != nil && *r.P < least && *r.Ratio > 1 {
				found++
			}
		}
		upper := distuv.Beta{Alpha: float64(outside + wrong + 1), Beta: float64(2*runs - outside - wrong)}.Quantile(0.95)
		t.Log(figures.Of(fmt.Sprintf("searches-%.0f%%-missed-false", 100*misses), 100*upper, "%", figures.AtMost(1.2),
			fmt.Sprintf("n=%d, %d intervals without the truth, %d wrong winners; a fifth more is found in %.1f%%", runs, outside, wrong, 100*float64(found)/float64(runs))).Line())
		if outside > 1+runs*3/100 || wrong > 1+runs*3/100 {
			t.Errorf("with %.0f %% of misses by chance, %d of %d intervals lack the truth, and %d runs name a winner of equals", 100*misses, outside, runs, wrong)
		}
		if misses == 0 && found < runs {
			t.Errorf("without misses by chance, a fifth more is found in %d of %d runs", found, runs)
		}
	}
}
