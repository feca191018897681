// Package kinds lists the kinds of work that a trial can do.
package kinds

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/kind/sweep"
	"loadstone.dev/loadstone/internal/record"
)

// All are the known kinds. A new one is a line here.
var All = kind.NewKinds(sweep.Kind{})

// Of is the work that the spec of a Trial asks for. The API admits no type that is not known here.
func Of(spec v1alpha1.TrialSpec) (kind.Work, error) {
	k, ok := All[record.WorkType(spec.Type)]
	if !ok {
		return nil, fmt.Errorf("reading the spec of a trial: no kind of work is called %q", spec.Type)
	}
	return k.Read(spec), nil
}
