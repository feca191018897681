// Package planned reads from the records of a run what it was to measure, with every default filled in: the question to which its cells, its
// verdicts and its table are the answer. It knows nothing of what was measured.
package planned

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Implementation is one contender or limit, as planned.
type Implementation struct {
	Name     string        `json:"name"`
	Role     v1alpha1.Role `json:"role"`
	Baseline bool          `json:"baseline"`
	Image    string        `json:"image"`
	CPUs     int32         `json:"cpus"`
}

// Level is one point of a load's sweep, as planned.
type Level struct {
	record.Point
	Tool v1alpha1.Tool `json:"tool"`
	// RampToRequestsPerSecond is the arrival rate at the end of the level; 0 if it is constant.
	RampToRequestsPerSecond int32 `json:"rampToRequestsPerSecond,omitempty"`
	// Generators is the number of generator pods that share the level, Threads the number of threads of each.
	Generators int32                  `json:"generators"`
	Threads    int32                  `json:"threads"`
	Connection v1alpha1.ConnectionUse `json:"connection"`
	// Scripted is true if a script of the user's makes the requests.
	Scripted        bool   `json:"scripted,omitempty"`
	Path            string `json:"path"`
	WarmupSeconds   int32  `json:"warmupSeconds"`
	DurationSeconds int32  `json:"durationSeconds"`
}

// Run is what the run was to measure, with every default filled in.
type Run struct {
	// Latencies are the percentiles that are compared; Duet says that the servers take turns, which leaves no latencies.
	Latencies []string
	Duet      bool
	// Weights are those of the loads in the mean over all of them, by name; none if the spec gives none.
	Weights  map[string]float64
	Baseline string
	// Blocks counts the spare ones that were begun, too.
	Blocks          int32
	Implementations []Implementation
	Levels          []Level
	// Looks is how often the run may be looked at: once at its end, and before if spec.stop lets it end early.
	Looks int
	// Searches are the loads whose rates are found while a trial runs: their steps are no levels.
	Searches []v1alpha1.Load
}

// Of reads the plan from the run's spec. Threads and durations that the spec leaves open are filled in from the trials,
// which carry the compiled cells.
func Of(data record.RunData) (Run, error) {
	spec := data.Manifest.Spec
	p := Run{Baseline: spec.Baseline, Blocks: cmp.Or(data.Manifest.Blocks, spec.Blocks) + data.Manifest.SpareBlocks}
	p.Looks, p.Latencies, p.Duet = looks(spec), latencies(spec), spec.Order == v1alpha1.OrderSlicedDuet
	if len(spec.Implementations) == 0 || len(spec.Loads) == 0 {
		return p, fmt.Errorf("reading the spec of run %s: it names no implementation or no load", data.Manifest.Run.Name)
	}
	var err error
	if p.Weights, err = weightsOf(spec.Loads); err != nil {
		return p, fmt.Errorf("reading the spec of run %s: %w", data.Manifest.Run.Name, err)
	}
	p.Baseline = cmp.Or(p.Baseline, spec.Implementations[0].Name)
	for _, i := range spec.Implementations {
		p.Implementations = append(p.Implementations, Implementation{
			Name: i.Name, Role: cmp.Or(i.Role, v1alpha1.RoleContender), Baseline: i.Name == p.Baseline, Image: i.Image, CPUs: max(i.CPUs, 1),
		})
	}
	if !slices.ContainsFunc(p.Implementations, func(i Implementation) bool { return i.Baseline }) {
		return p, fmt.Errorf("reading the spec of run %s: its baseline %s is none of its implementations", data.Manifest.Run.Name, p.Baseline)
	}
	for _, l := range spec.Loads {
		if l.Search != nil {
			p.Searches = append(p.Searches, l)
			continue
		}
		for _, point := range points(l) {
			p.Levels = append(p.Levels, LevelOf(l, point, data.Trials))
		}
	}
	return p, nil
}

// latencies are the percentiles that a run compares: those of its spec, and those that objectives bound ratios of.
func latencies(spec v1alpha1.BenchmarkRunSpec) []string {
	wanted := spec.LatencyPercentiles
	if len(wanted) == 0 {
		wanted = v1alpha1.DefaultLatencyPercentiles
	}
	return slices.DeleteFunc(slices.Clone(v1alpha1.Percentiles), func(percentile string) bool {
		return !slices.Contains(wanted, percentile) && !slices.ContainsFunc(spec.Objectives, func(o v1alpha1.Objective) bool {
			return o.Of == v1alpha1.ComparedLatencyPercentile && o.Percentile == percentile
		})
	})
}

// weightsOf are the weights of the loads, by name; none if the spec gives none.
func weightsOf(loads []v1alpha1.Load) (map[string]float64, error) {
	out := map[string]float64{}
	for _, l := range loads {
		if l.Weight == "" {
			continue
		}
		w, err := strconv.ParseFloat(l.Weight, 64)
		if err != nil {
			return nil, fmt.Errorf("the weight %q of load %s is no decimal number", l.Weight, l.Name)
		}
		out[l.Name] = w
	}
	return out, nil
}

// looks is how often a run may be looked at.
func looks(spec v1alpha1.BenchmarkRunSpec) int {
	n := 1
	if spec.Stop == nil {
		return n
	}
	for _, block := range v1alpha1.Looks {
		if block < spec.Blocks {
			n++
		}
	}
	return n
}

// points are what a load measures, in its order: its levels.
func points(l v1alpha1.Load) []record.Point {
	var out []record.Point
	for _, level := range l.Levels {
		out = append(out, record.Point{Load: l.Name, Connections: level.Connections, RequestsPerSecond: level.RequestsPerSecond})
	}
	return out
}

// LevelOf describes one point of a load, as the trials have compiled it.
func LevelOf(l v1alpha1.Load, at record.Point, trials []record.TrialData) Level {
	out := Level{
		Point: at, Tool: l.Tool, Threads: max(l.Generators.CPUs, 1), Generators: max(l.Generators.Pods, 1),
		Connection: cmp.Or(l.Connection, v1alpha1.KeepAlive), Path: cmp.Or(l.Request.Path, "/"), DurationSeconds: l.DurationSeconds,
		Scripted: l.Script != nil,
	}
	for _, t := range trials {
		for _, c := range t.Manifest.Cells {
			if record.PointOf(c) != at {
				continue
			}
			out.Threads, out.DurationSeconds, out.Generators = c.Threads, c.DurationSeconds, max(c.Generators, 1)
			out.RampToRequestsPerSecond = c.RampToRequestsPerSecond
			if c.WarmupSeconds != nil {
				out.WarmupSeconds = *c.WarmupSeconds
			}
			return out
		}
	}
	return out
}

// GeneratorCPUs is the number of CPUs that each generator of a level was to own: one a thread.
func (l Level) GeneratorCPUs() int32 { return max(l.Threads, 1) }

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
	if base.Role == v1alpha1.RoleLimit {
		return nil
	}
	var out []Implementation
	for _, i := range p.Implementations {
		if i.Role == v1alpha1.RoleContender && !i.Baseline {
			out = append(out, i)
		}
	}
	return out
}

// Imposed says whether the level has an arrival rate, constant or not.
func (l Level) Imposed() bool { return l.RequestsPerSecond > 0 }
