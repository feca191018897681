package validity

import (
	"fmt"
	"math"

	"loadstone.dev/loadstone/internal/record"
)

// mixTolerance is by how much of itself the share of a request may differ from that of its weight, and mixShare by how much of all requests.
const mixTolerance, mixShare = 0.1, 0.02

// checkMix voids a cell whose requests were not made as their weights say. All cells begin at the same place of their order, so that one with few requests
// may lack the rare ones, and of two servers the slower one gets others than the faster one: their costs are those of different work then.
func checkMix(f *facts) []Reason {
	mix := f.Level.Mix
	if len(mix) == 0 || f.Requests == 0 {
		return nil
	}
	void := func(detail string) []Reason {
		return []Reason{{Code: OtherMix, Weight: Void, Scope: ScopeCell, Detail: detail}}
	}
	if len(f.ByRequest) != len(mix) {
		return void("the tool has not said how often it made each")
	}
	var made, weights float64
	for i, asked := range mix {
		made, weights = made+float64(f.ByRequest[i]), weights+float64(asked.Weight)
	}
	for i, asked := range mix {
		want, got := float64(asked.Weight)/weights, float64(f.ByRequest[i])/made
		if off := math.Abs(got - want); made == 0 || off > mixTolerance*want || off > mixShare {
			return void(fmt.Sprintf("%s: %d of %.0f, planned %.3g %%", asked.Key, f.ByRequest[i], made, 100*want))
		}
	}
	return nil
}

// checkProtocol voids a cell that was to be answered in HTTP/2 and was not, be it by a single answer: what it measured is in part another protocol. A tool
// that does not tell has told of none.
func checkProtocol(f *facts) []Reason {
	if f.Level.Protocol != record.HTTP2 || f.HTTP2 == f.Requests {
		return nil
	}
	return []Reason{{Code: OtherProtocol, Weight: Void, Scope: ScopeCell, Detail: fmt.Sprintf("HTTP/2: %d of %d", f.HTTP2, f.Requests)}}
}
