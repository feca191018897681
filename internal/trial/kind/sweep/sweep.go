// Package sweep is the kind of work that puts load on servers, level by level. A duet is a sweep of two servers that
// share a CPU and the load. A search is a sweep whose rates are found while it runs.
package sweep

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Kind is the kind of work.
type Kind struct{}

var (
	_ kind.Kind    = Kind{}
	_ kind.Grouper = Kind{}
)

// Type implements kind.Kind.
func (Kind) Type() record.WorkType { return record.Sweep }

// Work implements kind.Kind.
func (Kind) Work(p record.Plan, line record.PlannedTrial) kind.Work {
	return Sweep{Implementations: kind.Servers(p, line), Generators: p.Generators, Cells: inOrder(p, line), Placement: p.Placement}
}

// Rows implements kind.Kind: levels have their own comparison.
func (Kind) Rows(record.TrialData) []record.Row { return nil }

// Sweep is what one trial does.
type Sweep struct {
	// Implementations are the servers: one, or two in a duet.
	Implementations []record.Implementation
	Generators      record.Generators
	Cells           []record.Cell
	Placement       record.Placement
}

var _ kind.Work = Sweep{}

// Duet reports whether two servers share the CPU and the load.
func (s Sweep) Duet() bool { return len(s.Implementations) > 1 }

// Servers implements kind.Work.
func (s Sweep) Servers() []record.Implementation { return s.Implementations }

// Slots implements kind.Work.
func (s Sweep) Slots() []timetable.Slot { return timetable.Of(s.Cells) }

// EndsItself implements kind.Work: a server that ends has failed.
func (s Sweep) EndsItself() bool { return false }

// Describe implements kind.Work.
func (s Sweep) Describe(m *record.TrialManifest) { m.Cells = s.Cells }

// Check implements kind.Work: every generator sends each request once to each server, and tries its loads.
func (s Sweep) Check(targets []string, scripts []protocol.Script) *protocol.Check {
	return &protocol.Check{Targets: targets, TLS: kind.TLS(s.Implementations), Requests: Requests(s.Cells), Cells: s.Cells, Scripts: scripts}
}

// Requests returns the distinct requests of a check. A script makes its own.
func Requests(cells []record.Cell) []record.Request {
	var requests []record.Request
	for _, c := range cells {
		if c.Script != nil {
			continue
		}
		for _, asked := range c.Requests() {
			if !slices.ContainsFunc(requests, func(r record.Request) bool { return sameRequest(r, asked.Request) }) {
				requests = append(requests, asked.Request)
			}
		}
	}
	return requests
}

func sameRequest(a, b record.Request) bool {
	return a.Key() == b.Key() && a.Expect.Status == b.Expect.Status && a.Expect.AnyBody == b.Expect.AnyBody && equalBody(a.Expect.Body, b.Expect.Body)
}

func equalBody(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// RefuseDependencies implements kind.Kind: dependencies own CPUs, so they may not run next to servers without any.
func (Kind) RefuseDependencies(spec v1alpha1.BenchmarkRunSpec, implementation int) *kind.Violation {
	if spec.Order == v1alpha1.OrderSlicedDuet {
		return kind.Invalid("spec.implementations[%d].dependencies cannot run beside a duet, whose servers own no CPU: choose spec.order Blocks", implementation)
	}
	return nil
}

// Needs implements kind.Kind: the load generators.
func (Kind) Needs(p record.Plan) []kind.Need {
	all := tools.All("")
	var needs []kind.Need
	for _, c := range p.Cells {
		if t, known := all[c.Tool]; known { // The schema of the API knows no other.
			needs = append(needs, kind.Need{
				Field: "loads[" + c.Load + "].tool", Program: t.VersionArgs()[0], Install: t.Install(), Otherwise: "choose another tool",
			})
		}
	}
	return needs
}
