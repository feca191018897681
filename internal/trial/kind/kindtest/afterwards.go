package kindtest

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Afterwards is a kind of work that follows the blocks: each program runs once more, and what it prints is shown and compared with nothing. An item
// is a program. Its rows are those of the kind of the blocks.
type Afterwards struct{ Timings }

var _ kind.Follower = Afterwards{}

// Type implements kind.Kind.
func (Afterwards) Type() record.WorkType { return AfterwardsType }

// Asked implements kind.Kind.
func (Afterwards) Asked(spec v1alpha1.BenchmarkRunSpec) bool { return spec.Seed == FollowedSeed }

// Plan implements kind.Kind.
func (Afterwards) Plan(v1alpha1.BenchmarkRunSpec, *record.Plan) *kind.Violation { return nil }

// Follow implements kind.Follower.
func (Afterwards) Follow(_ v1alpha1.BenchmarkRunSpec, p record.Plan, run string, first int32) []record.PlannedTrial {
	var lines []record.PlannedTrial
	for i, own := range p.Implementations {
		lines = append(lines, record.PlannedTrial{
			Name: fmt.Sprintf("%s-a%02d-%s", run, i, own.Name), Index: first + int32(i), Type: AfterwardsType, Servers: []string{own.Name}, Item: own.Name,
		})
	}
	return lines
}

// Field implements kind.Follower.
func (Afterwards) Field(item string) string { return "afterwards[" + item + "]" }
