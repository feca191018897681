// Package planned reads from the plan of a run what its cells, its verdicts and its table answer: levels, searches, who is compared with
// whom. It guesses nothing: the plan has every default filled in. It knows nothing of what was measured.
package planned

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// Implementation is one contender or reference, as planned.
type Implementation struct {
	Name     string      `json:"name"`
	Role     record.Role `json:"role"`
	Baseline bool        `json:"baseline"`
	Image    string      `json:"image"`
	CPUs     int32       `json:"cpus"`
	// TLS says that it speaks HTTPS.
	TLS bool `json:"tls,omitempty"`
	// Settings are what it gets beside image and command.
	Settings []record.Setting `json:"settings,omitempty"`
	// ConfigMaps are those that it names, as they were when the run started; none in records from before.
	ConfigMaps []record.ConfigMap `json:"configMaps,omitempty"`
}

// Level is one point of a load's sweep, as planned.
type Level struct {
	record.Point
	Tool record.Tool `json:"tool"`
	// RampToRequestsPerSecond is the arrival rate at the end of the level; 0 if it is constant.
	RampToRequestsPerSecond int32 `json:"rampToRequestsPerSecond,omitempty"`
	// Generators is the number of generator pods that share the level, Threads the number of threads of each.
	Generators int32                `json:"generators"`
	Threads    int32                `json:"threads"`
	Connection record.ConnectionUse `json:"connection"`
	// StreamsPerConnection is the number of requests in flight on each connection; 0 if it is 1.
	StreamsPerConnection int32 `json:"streamsPerConnection,omitempty"`
	// Protocol is empty of HTTP/1.
	Protocol record.Protocol `json:"protocol,omitempty"`
	// Scripted is true if a script of the user's makes the requests.
	Scripted bool `json:"scripted,omitempty"`
	// Path is empty of a mix.
	Path string `json:"path,omitempty"`
	// Request is the key of what is asked; empty of a GET without headers and body, whose key is its path.
	Request string `json:"request,omitempty"`
	// AnyBody is true if the bodies of the answers are not compared.
	AnyBody bool `json:"anyBody,omitempty"`
	// Mix are the requests of a level that has several, in place of the three above.
	Mix             []Asked `json:"mix,omitempty"`
	WarmupSeconds   int32   `json:"warmupSeconds"`
	DurationSeconds int32   `json:"durationSeconds"`
}

// Search is a load whose rates are found while a trial runs: its steps are no levels.
type Search struct {
	record.Search
	// Level is what its steps have in common: the load, its tool, and the number of virtual users that may be needed.
	Level
}

// Step is a step of the search as a level.
func (s Search) Step(at record.Point) Level {
	l := s.Level
	l.Point = at
	return l
}

// Run is what the run was to measure.
type Run struct {
	// Latencies are the percentiles that are compared; Duet says that the servers take turns, which leaves no latencies.
	Latencies []string
	Duet      bool
	// Weights are those of the loads in the mean over all of them, by name; none if the spec gives none.
	Weights  map[string]float64
	Baseline string
	// Blocks includes the repeat blocks that were begun. TrialsPerBlock is as the kind of work has laid a block out: a trial may measure several
	// implementations.
	Blocks          int32
	TrialsPerBlock  int
	Implementations []Implementation
	Levels          []Level
	// Analyses is the number of times the run may be analysed: once at its end, and earlier if spec.stop allows interim analyses.
	Analyses int
	Searches []Search
	// Requests are those of mixes, and those that are more than a GET of a path in HTTP/1, one a load. Of a script's nothing is known.
	Requests []Request
	// WholeTrials is true of a run whose trials have no cells: each counts as one.
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

// LevelOf is a cell as a level.
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

// Cell is the level as its tool knows it, as far as a level tells: its request is left out.
func (l Level) Cell() record.Cell {
	c := record.Cell{
		Load: l.Load, Tool: l.Tool, Connections: l.Connections, RequestsPerSecond: l.RequestsPerSecond, RampToRequestsPerSecond: l.RampToRequestsPerSecond, Step: l.Step,
		Generators: l.Generators, Threads: l.Threads, Connection: l.Connection, StreamsPerConnection: l.StreamsPerConnection, WarmupSeconds: l.WarmupSeconds, DurationSeconds: l.DurationSeconds,
	}
	return c.Speaking(l.Protocol)
}

// InFlight is how many requests can be in flight at once.
func (l Level) InFlight() int64 { return l.Cell().InFlight() }

// GeneratorCPUs is the number of CPUs that each generator of a level was to own: one a thread.
func (l Level) GeneratorCPUs() int32 { return l.Threads }

// Implementation finds a planned implementation.
func (p Run) Implementation(name string) (Implementation, bool) {
	i := slices.IndexFunc(p.Implementations, func(i Implementation) bool { return i.Name == name })
	if i < 0 {
		return Implementation{}, false
	}
	return p.Implementations[i], true
}

// Contenders are the implementations that are compared with the baseline.
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

// Imposed reports whether the level has an arrival rate, constant or not.
func (l Level) Imposed() bool { return l.RequestsPerSecond > 0 }
