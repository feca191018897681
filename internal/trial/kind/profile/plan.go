package profile

import (
	"cmp"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Asks implements kind.Kind.
func (Kind) Asks() kind.Ask {
	return kind.Ask{Field: "spec.profiles", Way: "name at least one profile"}
}

// Asked implements kind.Kind.
func (Kind) Asked(spec v1alpha1.BenchmarkRunSpec) bool { return len(spec.Profiles) > 0 }

// Plan implements kind.Kind.
func (Kind) Plan(spec v1alpha1.BenchmarkRunSpec, p *record.Plan) *kind.Violation {
	for i, own := range spec.Profiles {
		if v := check(spec, i); v != nil {
			return v
		}
		cell, v := cellOf(*p, spec, i)
		if v != nil {
			return v
		}
		p.Profiles = append(p.Profiles, fill(p, own, cell.Request))
	}
	return nil
}

func fill(p *record.Plan, own v1alpha1.Profile, request record.Request) record.Profile {
	out := record.Profile{
		Name: own.Name, Tool: profiler.Tool(own.Tool), Request: request, Requests: cmp.Or(own.Requests, DefaultRequests),
		Connections: cmp.Or(own.Connections, DefaultConnections), Repeats: own.Repeats, LimitSeconds: cmp.Or(own.LimitSeconds, DefaultLimitSeconds),
	}
	if out.Repeats == 0 {
		out.Repeats = 1
		if out.Tool.Counts() {
			out.Repeats = countingRepeats
		}
		p.Note("profiles[%s].repeats defaults to %d", own.Name, out.Repeats)
	}
	for _, field := range []struct {
		name         string
		given, value int32
	}{{"requests", own.Requests, out.Requests}, {"connections", own.Connections, out.Connections}, {"limitSeconds", own.LimitSeconds, out.LimitSeconds}} {
		if field.given == 0 {
			p.Note("profiles[%s].%s defaults to %d", own.Name, field.name, field.value)
		}
	}
	return out
}

// check requires known implementations with a command, since the agent that starts them does not know their images'
// entrypoints.
func check(spec v1alpha1.BenchmarkRunSpec, profile int) *kind.Violation {
	own := spec.Profiles[profile]
	for _, name := range own.Implementations {
		if !slices.ContainsFunc(spec.Implementations, func(i v1alpha1.Implementation) bool { return i.Name == name }) {
			return kind.Invalid("spec.profiles[%d].implementations names %s, which is no implementation of the run: name one of spec.implementations", profile, name)
		}
	}
	if n := own.Connections; n > cmp.Or(own.Requests, DefaultRequests) {
		return kind.Invalid("spec.profiles[%d].connections is %d, more than its requests: lower it", profile, n)
	}
	for i, impl := range spec.Implementations {
		switch {
		case !profiled(own, impl.Name):
		case len(impl.Command) == 0:
			return kind.Invalid("spec.implementations[%d].command is not set: name the program of %s and its arguments, since spec.profiles[%d] starts it under %s without the entrypoint of its image", i, impl.Name, profile, own.Tool)
		case impl.Memory != nil && impl.Memory.Value() < leastMemory:
			return kind.Invalid("spec.implementations[%d].memory is %s, and the agent that starts %s under a profiler needs some of it: give at least 32Mi", i, impl.Memory, impl.Name)
		}
	}
	return nil
}

func cellOf(p record.Plan, spec v1alpha1.BenchmarkRunSpec, profile int) (record.Cell, *kind.Violation) {
	load := spec.Profiles[profile].Load
	i := slices.IndexFunc(p.Cells, func(c record.Cell) bool { return load == c.Load || load == "" && single(c) })
	switch {
	case i < 0 && load == "":
		return record.Cell{}, kind.Invalid("spec.profiles[%d] sends the request of a load, and every load has a script, a mix of requests or HTTP/2: add a load with one request in HTTP/1", profile)
	case i < 0:
		return record.Cell{}, kind.Invalid("spec.profiles[%d].load is %s, which is no load of the run: name one of spec.loads", profile, load)
	case p.Cells[i].Script != nil:
		return record.Cell{}, kind.Invalid("spec.profiles[%d].load is %s, which has a script, and a profile sends one request again and again: name a load without a script", profile, load)
	case len(p.Cells[i].Mix) > 0:
		return record.Cell{}, kind.Invalid("spec.profiles[%d].load is %s, which sends a mix of requests, and a profile sends one request again and again: name a load with one request", profile, load)
	case p.Cells[i].Protocol() == record.HTTP2:
		return record.Cell{}, kind.Invalid("spec.profiles[%d].load is %s, which speaks HTTP/2, and a profile asks in HTTP/1: name a load with protocol: HTTP1", profile, load)
	}
	return p.Cells[i], nil
}

// single reports whether a cell has one HTTP/1 request, which a profile can repeat.
func single(c record.Cell) bool { return c.Script == nil && len(c.Mix) == 0 && c.Protocol() == "" }

// Follow implements kind.Follower: a trial for each implementation of each profile, in spec order.
func (Kind) Follow(spec v1alpha1.BenchmarkRunSpec, p record.Plan, run string, first int32) []record.PlannedTrial {
	var lines []record.PlannedTrial
	for _, own := range spec.Profiles {
		for _, i := range p.Implementations {
			if !profiled(own, i.Name) {
				continue
			}
			lines = append(lines, record.PlannedTrial{
				Name: fmt.Sprintf("%s-p%02d-%s", run, len(lines), i.Name), Index: first + int32(len(lines)), Type: record.ProfileType,
				Servers: []string{i.Name}, Item: own.Name,
			})
		}
	}
	return lines
}

// Field implements kind.Follower.
func (Kind) Field(item string) string { return "profiles[" + item + "]" }

// Work implements kind.Kind.
func (Kind) Work(p record.Plan, line record.PlannedTrial) kind.Work {
	i := slices.IndexFunc(p.Profiles, func(r record.Profile) bool { return r.Name == line.Item })
	return Profile{Server: p.Implementation(line.Servers[0]), Profile: p.Profiles[i]}
}

func profiled(own v1alpha1.Profile, implementation string) bool {
	return len(own.Implementations) == 0 || slices.Contains(own.Implementations, implementation)
}
