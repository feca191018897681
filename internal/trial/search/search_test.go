package search_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/search"
)

// steps makes tries; negative rates missed.
func steps(rates ...int32) []search.Step {
	past := make([]search.Step, 0, len(rates))
	for _, r := range rates {
		past = append(past, search.Step{Rate: max(r, -r), Met: r > 0})
	}
	return past
}

func TestNext(t *testing.T) {
	tests := map[string]struct {
		start    int32
		past     []search.Step
		want     int32
		wantDone bool
	}{
		"the first rate is the start":                            {start: 300, want: 300},
		"a rate that was met is doubled":                         {start: 100, past: steps(100, 200), want: 400},
		"doubling ends at the highest rate":                      {start: 600_000, past: steps(600_000), want: 1_000_000},
		"nothing is above the highest rate":                      {start: 600_000, past: steps(600_000, 1_000_000), wantDone: true},
		"a start that was missed is halved":                      {start: 100, past: steps(-100, -50), want: 25},
		"nothing is below one request per second":                {start: 2, past: steps(-2, -1), wantDone: true},
		"halving ends with a rate that is met":                   {start: 100, past: steps(-100, -50, 25), want: 35},
		"the interval is cut at its geometric mean":              {start: 100, past: steps(100, 200, -400), want: 283},
		"neighbouring rates are not cut":                         {start: 1, past: steps(1, 2, -4, -3), want: 2},
		"a narrow interval is confirmed, the met rate first":     {start: 100, past: steps(100, -102), want: 100},
		"then the missed rate":                                   {start: 100, past: steps(100, -102, 100), want: 102},
		"then the met rate again":                                {start: 100, past: steps(100, -102, 100, -102), want: 100},
		"a tie is tried again":                                   {start: 100, past: steps(100, -102, -100), want: 100},
		"a missed rate that is met after all is overturned":      {start: 100, past: steps(100, -102, 100, 102, 102), want: 204},
		"a met rate that is missed after all is overturned":      {start: 100, past: steps(100, 200, -202, -200, -200), want: 141},
		"the steps are used":                                     {start: 100, past: steps(100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 102400, 204800), wantDone: true},
		"a rate that was met above one that was missed is noise": {start: 100, past: steps(100, -200, 400, 141, -168), want: 154},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, done := search.Next(record.Search{StartRequestsPerSecond: tc.start, Steps: 12}, tc.past)
			if done != tc.wantDone || !done && got != tc.want {
				t.Errorf("Next() = %d, %v; want %d, %v", got, done, tc.want, tc.wantDone)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	tests := map[string]struct {
		past []search.Step
		want search.Capacity
	}{
		"no steps": {want: search.Capacity{Result: search.NotTried}},
		"a boundary": {past: steps(100, 200, -400, 283, -283, 283), want: search.Capacity{
			Result: search.Found, Highest: search.Tried{Rate: 283, Met: 2, Missed: 1}, Lowest: search.Tried{Rate: 400, Missed: 1},
		}},
		"a tie is not met": {past: steps(100, 200, -400, -200), want: search.Capacity{
			Result: search.Found, Highest: search.Tried{Rate: 100, Met: 1}, Lowest: search.Tried{Rate: 200, Met: 1, Missed: 1},
		}},
		"no rate was met":    {past: steps(-100, -50, -25), want: search.Capacity{Result: search.BelowStart, Lowest: search.Tried{Rate: 25, Missed: 1}}},
		"no rate was missed": {past: steps(100, 200), want: search.Capacity{Result: search.NotReached, Highest: search.Tried{Rate: 200, Met: 1}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, search.Outcome(tc.past)); diff != "" {
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

// capacity is the rate at which the percentile equals the bound.
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
			const searches = 2000
			near := 0
			for range searches {
				s := record.Search{Percentile: 99, MaxMilliseconds: 20, Steps: 12, StartRequestsPerSecond: 500}
				q := queue{service: 2000 + 30_000*random.Float64(), noise: tc.noise, flips: tc.flips, random: random}
				c := find(t, q, s)
				if c.Result == search.Found && math.Abs(float64(c.Highest.Rate)/q.capacity(s)-1) <= 0.05 {
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
