package verdict

import (
	"math"
	"testing"
)

func TestTheBudgetIsSharedAndNeverExceeded(t *testing.T) {
	metrics := []Result{{Decides: true, FewestPairs: 10}, {FewestPairs: 10}, {FewestPairs: 6}, {FewestPairs: 10, ContenderIsBound: true, BaselineIsBound: true}}
	members := family(pointers(metrics))
	if len(members) != 2 || members[0].weight != DecidingShare || math.Abs(members[0].weight+members[1].weight-1) > 1e-12 {
		t.Errorf("members %+v, want the first two with their weights: the others can get no verdict", members)
	}
	if LoadsShare+levelsShare > 1 {
		t.Error("the loads and the levels share more than there is")
	}
}
