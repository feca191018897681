// Package planned reads a run's plan for analysis: levels, searches, and the compared pairs. The plan has all
// defaults filled in.
package planned

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// Implementation is one planned contender or reference.
type Implementation struct {
	Name     string      `json:"name"`
	Role     record.Role `json:"role"`
	Baseline bool        `json:"baseline"`
	Image    string      `json:"image"`
	CPUs     int32       `json:"cpus"`
	// TLS: it speaks HTTPS.
	TLS      bool             `json:"tls,omitempty"`
	Settings []record.Setting `json:"settings,omitempty"`
	// ConfigMaps are as of the run's start; older records have none.
	ConfigMaps []record.ConfigMap `json:"configMaps,omitempty"`
}

// Level is one planned point of a load's sweep.
type Level struct {
	record.Point
	Tool                    record.Tool          `json:"tool"`
	RampToRequestsPerSecond int32                `json:"rampToRequestsPerSecond,omitempty"`
	Generators              int32                `json:"generators"`
	Threads                 int32                `json:"threads"`
	Connection              record.ConnectionUse `json:"connection"`
	// StreamsPerConnection of 0 means 1.
	StreamsPerConnection int32 `json:"streamsPerConnection,omitempty"`
	// Protocol is empty for HTTP/1.
	Protocol record.Protocol `json:"protocol,omitempty"`
	Scripted bool            `json:"scripted,omitempty"`
	// Path is empty for a mix.
	Path string `json:"path,omitempty"`
	// Request is the key; empty for a plain GET, whose key is its path.
	Request string `json:"request,omitempty"`
	// AnyBody: bodies are not compared.
	AnyBody bool `json:"anyBody,omitempty"`
	// Mix replaces Path, Request and AnyBody.
	Mix             []Asked `json:"mix,omitempty"`
	WarmupSeconds   int32   `json:"warmupSeconds"`
	DurationSeconds int32   `json:"durationSeconds"`
}

// Search finds its rates during a trial; its steps are not levels.
type Search struct {
	record.Search
	// Level is common to all steps.
	Level
}

// Step returns a step of the search as a level.
func (s Search) Step(at record.Point) Level {
	l := s.Level
	l.Point = at
	return l
}

// Run is the plan of a run.
type Run struct {
	// Duet means turns, and no latencies.
	Latencies []string
	Duet      bool
	Weights   map[string]float64
	Baseline  string
	// Blocks includes begun repeat blocks. TrialsPerBlock depends on the kind of work.
	Blocks          int32
	TrialsPerBlock  int
	Implementations []Implementation
	Levels          []Level
	// Analyses includes interim ones, if spec.stop allows them.
	Analyses int
	Searches []Search
	Requests []Request
	// WholeTrials: trials have no cells, and each counts as one.
	WholeTrials bool
}

// Of reads the plan of a run.
func Of(m record.RunManifest) (Run, error) {
	plan := m.Plan
	p := Run{
		Baseline: plan.Baseline, Blocks: m.Blocks + m.RepeatBlocks, Latencies: plan.LatencyPercentiles, Analyses: len(plan.Interim) + 1,
		Duet: plan.Order == record.OrderSlicedDuet, WholeTrials: plan.WholeTrials(), Weights: map[string]float64{},
	}
	if len(plan.Implementations) == 0 || len(plan.Cells)+len(plan.Trials) == 0 {
		return p, fmt.Errorf("reading the plan of run %s: it names no implementation or no trial", m.Run.Name)
	}
	for _, t := range plan.Trials {
		if t.Block == plan.Trials[0].Block {
			p.TrialsPerBlock++
		}
	}
	for _, l := range plan.Loads {
		if l.Weight > 0 {
			p.Weights[l.Name] = l.Weight
		}
	}
	for _, i := range plan.Implementations {
		p.Implementations = append(p.Implementations, Implementation{
			Name: i.Name, Role: i.Role, Baseline: i.Name == p.Baseline, Image: i.Image, CPUs: i.CPUs, TLS: i.TLS != nil, Settings: i.Settings(),
			ConfigMaps: m.Given(i),
		})
	}
	if !slices.ContainsFunc(p.Implementations, func(i Implementation) bool { return i.Baseline }) {
		return p, fmt.Errorf("reading the plan of run %s: its baseline %s is none of its implementations", m.Run.Name, p.Baseline)
	}
	p.Requests = requests(plan.Cells, m.Bodies)
	for _, c := range plan.Cells {
		switch {
		case c.Search == nil:
			p.Levels = append(p.Levels, LevelOf(c))
		case c.Step == 1:
			p.Searches = append(p.Searches, Search{Search: *c.Search, Level: LevelOf(c)})
		}
	}
	return p, nil
}

// LevelOf returns a cell as a level.
func LevelOf(c record.Cell) Level {
	l := Level{
		Point: record.PointOf(c), Tool: c.Tool, RampToRequestsPerSecond: c.RampToRequestsPerSecond, Generators: c.Generators, Threads: c.Threads,
		Connection: c.Connection, StreamsPerConnection: c.StreamsPerConnection, Protocol: c.Protocol(), Scripted: c.Script != nil, Path: c.Request.Path, AnyBody: c.Request.Expect.AnyBody,
		Mix: mixOf(c.Mix), WarmupSeconds: c.WarmupSeconds, DurationSeconds: c.DurationSeconds,
	}
	if !c.Request.Plain() {
		l.Request = c.Request.Key()
	}
	return l
}

// Cell returns the level for its tool, without the request.
func (l Level) Cell() record.Cell {
	c := record.Cell{
		Load: l.Load, Tool: l.Tool, Connections: l.Connections, RequestsPerSecond: l.RequestsPerSecond, RampToRequestsPerSecond: l.RampToRequestsPerSecond, Step: l.Step,
		Generators: l.Generators, Threads: l.Threads, Connection: l.Connection, StreamsPerConnection: l.StreamsPerConnection, WarmupSeconds: l.WarmupSeconds, DurationSeconds: l.DurationSeconds,
	}
	return c.Speaking(l.Protocol)
}

// InFlight is the maximum number of concurrent requests: connections times streams.
func (l Level) InFlight() int64 { return l.Cell().InFlight() }

// GeneratorCPUs returns one CPU per thread.
func (l Level) GeneratorCPUs() int32 { return l.Threads }

// Implementation returns a planned implementation.
func (p Run) Implementation(name string) (Implementation, bool) {
	i := slices.IndexFunc(p.Implementations, func(i Implementation) bool { return i.Name == name })
	if i < 0 {
		return Implementation{}, false
	}
	return p.Implementations[i], true
}

// Contenders returns the implementations that are compared with the baseline.
func (p Run) Contenders() []Implementation {
	base, _ := p.Implementation(p.Baseline)
	if base.Role == record.RoleReference {
		return nil
	}
	var out []Implementation
	for _, i := range p.Implementations {
		if i.Role == record.RoleContender && !i.Baseline {
			out = append(out, i)
		}
	}
	return out
}

// Imposed reports whether the level has an arrival rate.
func (l Level) Imposed() bool { return l.RequestsPerSecond > 0 }
