package capacity_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/record"
)

func TestCapacitiesAreComparedWithTheBaselinesAndLeftAsTheyAre(t *testing.T) {
	p := planned.Run{Baseline: "go", Implementations: []planned.Implementation{
		{Name: "go", Role: record.RoleContender, Baseline: true},
		{Name: "epoll", Role: record.RoleContender},
		{Name: "bare", Role: record.RoleReference},
	}}
	var given []capacity.Capacity
	for _, i := range p.Implementations {
		given = append(given, capacity.Capacity{Load: "search", Implementation: i.Name, Role: i.Role})
	}
	compared, _ := capacity.Compare(p, given)
	for k, c := range compared {
		if given[k].ToBaseline != nil {
			t.Errorf("the capacity of %s that was given was written to", c.Implementation)
		}
		if got, want := c.ToBaseline != nil, c.Implementation == "epoll"; got != want {
			t.Errorf("%s is compared: %v", c.Implementation, got)
		}
	}
}
