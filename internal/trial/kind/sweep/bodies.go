package sweep

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// BodyUse is a field of a spec that names a body.
type BodyUse struct {
	Field string
	From  record.BodySource
}

// BodyUses are the fields of loads that name bodies, in their order.
func BodyUses(loads []v1alpha1.Load) []BodyUse {
	var out []BodyUse
	add := func(field string, r v1alpha1.Request) {
		if from := kind.ReadRequest(r).From; from != nil {
			out = append(out, BodyUse{field + ".bodyFrom", *from})
		}
	}
	for i, l := range loads {
		add(fmt.Sprintf("spec.loads[%d].request", i), l.Request)
		for j, r := range l.Requests {
			add(fmt.Sprintf("spec.loads[%d].requests[%d]", i, j), r.Request)
		}
	}
	return out
}

// WithBodies are loads with the bodies that their requests name, by the names of their sources. Each request names its source still.
func WithBodies(loads []v1alpha1.Load, bodies map[string]string) []v1alpha1.Load {
	fill := func(r *v1alpha1.Request) {
		if from := kind.ReadRequest(*r).From; from != nil {
			r.Body = bodies[from.String()]
		}
	}
	loads = slices.Clone(loads)
	for i := range loads {
		l := &loads[i]
		fill(&l.Request)
		l.Requests = slices.Clone(l.Requests)
		for j := range l.Requests {
			fill(&l.Requests[j].Request)
		}
	}
	return loads
}
