package tool_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

func mixOf(weights ...int32) []record.MixedRequest {
	var all []record.MixedRequest
	for _, w := range weights {
		all = append(all, record.MixedRequest{Weight: w})
	}
	return all
}

func TestEachRoundOfASequenceHoldsTheWeights(t *testing.T) {
	for name, tc := range map[string]struct {
		weights []int32
		round   int
	}{
		"as they are":              {[]int32{4, 1}, 5},
		"with a common divisor":    {[]int32{80, 20}, 5},
		"of which one is the most": {[]int32{100, 1, 1}, 102},
		"twelve of them":           {[]int32{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			all := mixOf(tc.weights...)
			order := tool.Sequence(all)
			if len(order)%tc.round != 0 || len(order) == tc.round {
				t.Fatalf("it has %d requests, and a round %d", len(order), tc.round)
			}
			var sum int32
			for _, w := range tc.weights {
				sum += w
			}
			differ := false
			for at := 0; at < len(order); at += tc.round {
				round := order[at : at+tc.round]
				differ = differ || round != order[:tc.round]
				for i, w := range tc.weights {
					if got, want := strings.Count(round, string(rune('a'+i))), tc.round*int(w)/int(sum); got != want {
						t.Fatalf("the round at %d has request %d %d times, want %d", at, i, got, want)
					}
				}
			}
			if !differ {
				t.Error("all rounds are the same")
			}
			if tool.Sequence(all) != order {
				t.Error("it is another one the second time")
			}
		})
	}
}

// A server that answers connections in turn gives each every Nth request.
func TestNoConnectionGetsOneRequestAllTheTime(t *testing.T) {
	order := tool.Sequence(mixOf(1, 1))
	for _, connections := range []int{2, 10, 64, 100, 1000} {
		seen := map[byte]bool{}
		for i := range 1000 {
			seen[order[i*connections%len(order)]] = true
		}
		if len(seen) != 2 {
			t.Errorf("of %d connections one gets a single request", connections)
		}
	}
}

// Another sequence would be another load.
func TestTheSequenceStaysWhatItIs(t *testing.T) {
	if got, want := tool.Sequence(mixOf(4, 1))[:25], "aaabaaabaaaaabaaaaabaabaa"; got != want {
		t.Errorf("it begins with %s, want %s", got, want)
	}
	if tool.Sequence(mixOf(1)) != "" {
		t.Error("one request has an order")
	}
}
