package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

func steps(rates ...int32) []search.Step {
	past := make([]search.Step, 0, len(rates))
	for _, r := range rates {
		past = append(past, search.Step{Rate: max(r, -r), Met: r > 0})
	}
	return past
}

func TestNext(t *testing.T) {
	tests := map[string]struct {
		start int32
		past  []search.Step
		// low and high enclose the next rate.
		low, high int32
		wantDone  bool
	}{
		"the first rate is the start":                       {start: 300, low: 300, high: 300},
		"a rate that was met is quadrupled":                 {start: 100, past: steps(100, 400), low: 1600, high: 1600},
		"the climb ends at the highest rate":                {start: 600_000, past: steps(600_000, 790_000), low: 790_001, high: 1_000_000},
		"nothing is above the highest rate":                 {start: 600_000, past: steps(600_000, 1_000_000), wantDone: true},
		"a start that was missed is divided":                {start: 1000, past: steps(-1000, -250), low: 62, high: 63},
		"nothing is below one request per second":           {start: 2, past: steps(-2, -1), wantDone: true},
		"an interval is cut near its geometric mean":        {start: 100, past: steps(100, 400, -1600, -1600), low: 760, high: 830},
		"a miss below rates that were met is passed":        {start: 100, past: steps(100, -200, 400), low: 1500, high: 1600},
		"rates met up to a miss make it doubtful":           {start: 100, past: steps(100, 400, -1600, 938, 1437), low: 1550, high: 5748},
		"so do rates met above it, and the climb continues": {start: 100, past: steps(100, 400, -1600, 938, 1437, 5748), low: 20_000, high: 23_000},
		"a second miss confirms the first":                  {start: 100, past: steps(100, 400, -1600, 938, -1437), low: 938, high: 1437},
		"the steps are used":                                {start: 100, past: steps(100, 400, 800, 900, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700), wantDone: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, done := search.Next(record.Search{StartRequestsPerSecond: tc.start, Steps: 12}, tc.past)
			if done != tc.wantDone || !done && (got < tc.low || got > tc.high) {
				t.Errorf("Next() = %d, %v; want %d to %d, %v", got, done, tc.low, tc.high, tc.wantDone)
			}
		})
	}
}

func TestEachBlockStartsItsSearchesAtAnotherRate(t *testing.T) {
	var got []int32
	for block := range int32(5) {
		got = append(got, search.Start(1000, block+1))
	}
	if diff := cmp.Diff([]int32{1000, 2000, 707, 1414, 841}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := search.Start(1, 4); got != 1 {
		t.Errorf("a start of 1 becomes %d", got)
	}
}

func TestOutcome(t *testing.T) {
	tests := map[string]struct {
		past []search.Step
		want search.Capacity
	}{
		"no steps": {want: search.Capacity{Result: search.NotTried}},
		"a boundary": {past: steps(100, 200, -400, 283, -336, -300), want: search.Capacity{
			Result: search.Found, Highest: search.Tried{Rate: 283, Met: 1}, Lowest: search.Tried{Rate: 300, Missed: 1},
		}},
		"a miss below the boundary is chance": {past: steps(100, -200, 400, -1600, 800, -1131), want: search.Capacity{
			Result: search.Found, Highest: search.Tried{Rate: 800, Met: 1}, Lowest: search.Tried{Rate: 1131, Missed: 1},
		}},
		"a miss just above rates that were met is no boundary": {past: steps(100, 400, -1600, 938, 1437, 1580), want: search.Capacity{
			Result: search.NotReached, Highest: search.Tried{Rate: 1580, Met: 1},
		}},
		"no rate was met":    {past: steps(-100, -50, -25), want: search.Capacity{Result: search.BelowStart, Lowest: search.Tried{Rate: 25, Missed: 1}}},
		"no rate was missed": {past: steps(100, 200), want: search.Capacity{Result: search.NotReached, Highest: search.Tried{Rate: 200, Met: 1}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := search.Outcome(tc.past)
			if low, high := float64(got.Highest.Rate), float64(got.Lowest.Rate); got.Result == search.Found && (got.Rate < low || got.Rate > high) || got.Result != search.Found && got.Rate != 0 {
				t.Errorf("the capacity is %v, between %v and %v", got.Rate, low, high)
			}
			got.Rate = 0

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Outcome() (-want +got):\n%s", diff)
			}
		})
	}
}

// queue is a single queue with random arrivals and services: below the service rate, latencies are exponential with
// mean 1 / (service - rate).
type queue struct {
	service float64
	// noise is the standard deviation of the log of measurements; flips is the share of random outcomes.
	noise, flips float64
	random       *rand.Rand
}

func (q queue) met(rate int32, s record.Search) bool {
	if q.random.Float64() < q.flips {
		return q.random.IntN(2) == 0
	}
	if float64(rate) >= q.service {
		return false
	}
	seconds := -math.Log(1-float64(s.Percentile)/100) / (q.service - float64(rate))
	return seconds*math.Exp(q.noise*q.random.NormFloat64()) <= float64(s.MaxMilliseconds)/1000
}

// capacity is the rate whose percentile equals the bound.
func (q queue) capacity(s record.Search) float64 {
	return q.service + math.Log(1-float64(s.Percentile)/100)/(float64(s.MaxMilliseconds)/1000)
}

func find(t *testing.T, q queue, s record.Search) search.Capacity {
	t.Helper()
	var past []search.Step
	for {
		rate, done := search.Next(s, past)
		if done {
			break
		}
		if rate < 1 || rate > record.MaxRate {
			t.Fatalf("Next() = %d after %+v", rate, past)
		}
		past = append(past, search.Step{Rate: rate, Met: q.met(rate, s)})
	}
	if len(past) > int(s.Steps) {
		t.Fatalf("%d steps, want at most %d", len(past), s.Steps)
	}
	return search.Outcome(past)
}

func TestSearchFindsThePlantedCapacity(t *testing.T) {
	tests := map[string]struct {
		noise, flips float64
		// wantShare is the least share of searches within 5 % of the planted capacity.
		wantShare float64
	}{
		"a server without noise":                  {wantShare: 1},
		"a server whose latencies differ by 20 %": {noise: 0.2, wantShare: 0.95},
		"a server of which one step in 50 is bad": {flips: 0.02, wantShare: 0.9},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 4))
			const searches = 400
			near := 0
			for range searches {
				s := record.Search{Percentile: 99, MaxMilliseconds: 20, Steps: 12, StartRequestsPerSecond: 500}
				q := queue{service: 2000 + 30_000*random.Float64(), noise: tc.noise, flips: tc.flips, random: random}
				c := find(t, q, s)
				if c.Result == search.Found && math.Abs(c.Rate/q.capacity(s)-1) <= 0.05 {
					near++
				}
			}
			if share := float64(near) / searches; share < tc.wantShare {
				t.Errorf("%.3f of the searches end within 5 %% of the capacity, want %.3f", share, tc.wantShare)
			}
		})
	}
}

func TestSearchSaysThatItFoundNoBoundary(t *testing.T) {
	tests := map[string]struct {
		service float64
		want    search.Result
	}{
		"a server that is too slow for any rate": {service: 1, want: search.BelowStart},
		"a server that is faster than any step":  {service: 1e9, want: search.NotReached},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := record.Search{Percentile: 99, MaxMilliseconds: 20, Steps: 6, StartRequestsPerSecond: 100}
			if got := find(t, queue{service: tc.service, random: rand.New(rand.NewPCG(1, 2))}, s); got.Result != tc.want {
				t.Errorf("got %+v, want %s", got, tc.want)
			}
		})
	}
}

// relative searches a server that meets every rate up to truth, except for a share of steps missed by chance. It
// returns the log of the number found, relative to truth.
func relative(random *rand.Rand, truth, misses float64, block int32) float64 {
	s := record.Search{Steps: 12, StartRequestsPerSecond: search.Start(100, block)}
	var past []search.Step
	for {
		rate, done := search.Next(s, past)
		if done {
			break
		}
		past = append(past, search.Step{Rate: rate, Met: float64(rate) <= truth && random.Float64() >= misses})
	}
	c := search.Outcome(past)
	found := c.Rate
	if c.Result == search.NotReached {
		found = float64(c.Highest.Rate)
	}
	return math.Log(max(found, 10) / truth) // A search without any number counts as one of 10.
}

// A search that ended its climb at the first miss found 0.78 of 5,000/s at 2 % of misses by chance.
func TestMissesByChanceDoNotLowerTheCapacity(t *testing.T) {
	searches, err := figures.Drawn(200)
	if err != nil {
		t.Fatal(err)
	}
	for _, truth := range []float64{5000, 12_000, 40_000} {
		for _, tc := range []struct{ misses, least float64 }{{0, 0.97}, {0.02, 0.96}, {0.05, 0.9}} {
			random := rand.New(rand.NewPCG(5, 6))
			var sum, squares float64
			for k := range searches {
				r := relative(random, truth, tc.misses, int32(k)%10+1)
				sum, squares = sum+r, squares+r*r
			}
			n := float64(searches)
			mean := sum / n
			reach := 1.96 * math.Sqrt((squares/n-mean*mean)/n)
			f := figures.Of(fmt.Sprintf("search-of-%.0f-per-second-%.0f%%-missed", truth, 100*tc.misses), math.Exp(mean), "of the truth", figures.Within(0.97, 1.01),
				fmt.Sprintf("n=%d, 95%% interval %.3f to %.3f", searches, math.Exp(mean-reach), math.Exp(mean+reach)))
			if tc.misses > 0.02 {
				f.Aim = figures.Aim{}
			}
			t.Log(f.Line())
			if got := math.Exp(mean); got < tc.least || got > 1.03 {
				t.Errorf("with %.0f %% of misses by chance, the mean is %.3f of a capacity of %v", 100*tc.misses, got, truth)
			}
		}
	}
}
