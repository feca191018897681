// Package kindtest has two kinds of work that the rest of the project does not know: one of blocks, and one that follows them and has a report
// section.
package kindtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/report/format"
	"loadstone.dev/loadstone/internal/report/page"
	"loadstone.dev/loadstone/internal/report/table"
	"loadstone.dev/loadstone/internal/report/view"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	// Type is the kind's name. The spec has no field for it, so Seed requests it; FollowedSeed also requests
	// AfterwardsType.
	Type           record.WorkType = "Timings"
	AfterwardsType record.WorkType = "Afterwards"
	Seed           int64           = 4711
	FollowedSeed   int64           = 4712
	// Note is added to every plan.
	Note = "everything is timed"
	// MaxBlocks is the most blocks that it accepts.
	MaxBlocks = 20
	// MilliCPU is the request of a trial's processes, ProgramMilliCPU the program's.
	MilliCPU, ProgramMilliCPU = 2100, 2000
)

// Know adds both kinds and their section during a test.
func Know(t *testing.T) {
	t.Helper()
	KnowOnly(t, Timings{}, Afterwards{})
	sections := report.Sections
	t.Cleanup(func() { report.Sections = sections })
	report.Sections = append(slices.Clone(sections), Section)
}

// KnowOnly limits the kinds to some and sweeps during a test.
func KnowOnly(t *testing.T, some ...kind.Kind) {
	t.Helper()
	known := kinds.All
	t.Cleanup(func() { kinds.All = known })
	kinds.All = kind.NewKinds(append(some, sweep.Kind{})...)
}

// Add adds both kinds and their section for all tests of a package. Call it before the first one.
func Add() {
	all := slices.Collect(maps.Values(kinds.All))
	kinds.All = kind.NewKinds(append(all, Timings{}, Afterwards{})...)
	report.Sections = append(slices.Clone(report.Sections), Section)
}

// Timings is a kind unlike a sweep: a program that times itself and ends. It has no generator, cells or observation,
// its end is success, and a case's least nanoseconds count.
type Timings struct{}

var _ kind.Kind = Timings{}

// Type implements kind.Kind.
func (Timings) Type() record.WorkType { return Type }

// Asks implements kind.Kind.
func (Timings) Asks() kind.Ask { return kind.Ask{Field: "spec.seed", Way: "let it be 4711"} }

// Asked implements kind.Kind.
func (Timings) Asked(spec v1alpha1.BenchmarkRunSpec) bool {
	return spec.Seed == Seed || spec.Seed == FollowedSeed
}

// Plan implements kind.Kind.
func (Timings) Plan(spec v1alpha1.BenchmarkRunSpec, p *record.Plan) *kind.Violation {
	if spec.Blocks > MaxBlocks {
		return kind.Invalid("spec.blocks is %d: nobody has so much time", spec.Blocks)
	}
	p.Note(Note)
	return nil
}

// RefuseDependencies implements kind.Kind.
func (Timings) RefuseDependencies(v1alpha1.BenchmarkRunSpec, int) *kind.Violation { return nil }

// Needs implements kind.Kind.
func (Timings) Needs(record.Plan) []kind.Need { return nil }

// Work implements kind.Kind.
func (Timings) Work(p record.Plan, line record.PlannedTrial) kind.Work {
	return Timing{Program: p.Implementation(line.Servers[0])}
}

type result struct {
	Program struct {
		Cases []struct {
			Name   string
			Values []struct {
				Unit    string
				Samples []float64
			}
		}
	}
}

// Decode implements kind.Kind. It keeps only the rows of what each program printed.
func (Timings) Decode(results map[string]json.RawMessage, into *record.TrialData) error {
	if len(results) != len(into.Manifest.Servers) {
		return fmt.Errorf("the trial has the results of %d members: want one of each of its %d programs", len(results), len(into.Manifest.Servers))
	}
	for k := range into.Manifest.Servers {
		var own result
		if err := json.Unmarshal(results[record.MemberServer(k)], &own); err != nil {
			return fmt.Errorf("reading the result of %s: %w", record.MemberServer(k), err)
		}
		for _, c := range own.Program.Cases {
			row := record.Exactly("Least time", c.Name, c.Values[0].Unit, record.LessIsBetter, slices.Min(c.Values[0].Samples))
			row.Server = k
			into.Rows = append(into.Rows, row)
		}
	}
	return nil
}

// Rows implements kind.Kind: they have been decoded.
func (Timings) Rows(t record.TrialData) []record.Row { return t.Rows }

// Timing is what one trial does.
type Timing struct{ Program record.Implementation }

// Servers implements kind.Work.
func (w Timing) Servers() []record.Implementation { return []record.Implementation{w.Program} }

// EndsItself implements kind.Work.
func (w Timing) EndsItself() bool { return true }

// Describe implements kind.Work.
func (w Timing) Describe(*record.TrialManifest) {}

// Slots implements kind.Work.
func (w Timing) Slots() []timetable.Slot {
	return []timetable.Slot{{Measured: time.Minute, End: time.Minute}}
}

// Check implements kind.Work.
func (w Timing) Check([]string, []protocol.Script) *protocol.Check { return nil }

// Members implements kind.Work.
func (w Timing) Members() []kind.Member {
	return []kind.Member{{Name: record.MemberServer(0), Role: v1alpha1.RoleServer, Processes: []kind.Process{
		{Name: "program", Image: w.Program.Image, Command: w.Program.Command, Container: w.Program.Container, Launched: true, MilliCPU: ProgramMilliCPU, MemoryBytes: 1 << 30},
		{Name: "collector", Args: []string{"collect", "--format=" + string(record.JSONLines)}, Exchanges: true, MilliCPU: MilliCPU - ProgramMilliCPU, MemoryBytes: 32 << 20},
	}}}
}

// Afterwards is a kind after the blocks: each program runs once more, and its output is shown but not compared. An
// item is a program.
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

// SectionID is the name of the section in a page.
const SectionID = "afterwards"

var templates = page.Templates(`{{define "` + SectionID + `"}}{{template "extra" .}}{{end}}`)

// Section lists what each program printed when it ran once more.
func Section(v *view.View) page.Section {
	out := page.Section{ID: SectionID, Title: "Once more", Templates: templates}
	var body table.Body
	for _, f := range v.Table.Followed {
		for _, r := range f.Rows {
			body.Rows = append(body.Rows, table.Row{Cells: []table.Cell{table.Word(f.Item), table.Word(r.Case), table.Num(format.Digits(r.Value) + " " + r.Unit)}})
		}
	}
	if f := v.Table.Followed; len(f) > 0 {
		t := table.Table{Head: []table.Cell{table.Word("program"), table.Word("case"), table.Num("least time")}, Bodies: []table.Body{body}}
		out.Data = page.Extra{Leads: []string{string(f[0].Type)}, Table: t.Finish(out.Title, false)}
	}
	return out
}
