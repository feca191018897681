package stats

import (
	"cmp"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/histogram"
	"loadstone.dev/loadstone/internal/record"
)

// Analyse makes the table of a run. It fails only on records that contradict each other or cannot be read; whatever a run lacks
// is in the table, with its reason.
func Analyse(data record.RunData) (Table, error) {
	objects := artifacts(data)
	data = split(data)
	p, err := newPlanned(data)
	if err != nil {
		return Table{}, err
	}
	trials, err := index(data, p)
	if err != nil {
		return Table{}, err
	}
	t := Table{
		Run:             runOf(data.Manifest, p),
		Rules:           Rules{Alpha: p.alpha, Confidence: Confidence, Power: Power, MinBlocks: MinBlocks, EquivalenceMargin: EquivalenceMargin, LoadsShare: loadsShare, DecidingShare: decidingShare},
		Implementations: p.implementations,
		Levels:          p.levels,
		Artifacts:       objects,
	}
	if t.Groups, err = gatherAll(p, trials); err != nil {
		return Table{}, err
	}
	t.Coverage = coverage(data, p, t.Groups)
	if t.Capacities, err = capacities(p, trials, t.Coverage); err != nil {
		return Table{}, err
	}
	t.Coverage.addSteps(t.Capacities)
	t.Comparisons = compare(p, t.Groups, t.Coverage, compareCapacities(p, t.Capacities))
	t.Scaling = scaling(p, t.Groups, data.Manifest.Seed)
	t.Environment = environment(data, p)
	t.Unknowns = unknowns(data, p)
	t.Fingerprint = Fingerprint(data)
	if t.NoiseFloor = noise(t, data); t.NoiseFloor == nil {
		t.NoiseFloor = fitting(data.Calibration, t.Fingerprint)
	}
	t.Objectives, err = judgeObjectives(t, data)
	return t, err
}

// Group finds a group; nil if there is none.
func (t Table) Group(at record.Point, implementation string) *Group {
	return findGroup(t.Groups, at, implementation)
}

func findGroup(groups []Group, at record.Point, implementation string) *Group {
	return find(groups, func(g *Group) bool {
		return g.Point == at && g.Implementation == implementation
	})
}

func runOf(m record.RunManifest, p planned) Run {
	return Run{
		Run: m.Run, Baseline: p.baseline, Blocks: p.blocks, Seed: m.Seed, Started: m.Started, Ended: m.Ended,
		Operator: m.Operator, Pinning: p.rules.pinning, Notes: append([]string{}, m.Notes...),
	}
}

// index sorts the trials of each implementation by block, and refuses records of another run or plan.
func index(data record.RunData, p planned) (map[string][]*record.TrialData, error) {
	out := map[string][]*record.TrialData{}
	for i := range data.Trials {
		m := &data.Trials[i].Manifest
		if m.Run.UID != data.Manifest.Run.UID {
			return nil, fmt.Errorf("reading trial %s: it belongs to run %s, not to %s", m.Trial, m.Run.UID, data.Manifest.Run.UID)
		}
		if _, ok := p.implementation(m.Implementation); !ok {
			return nil, fmt.Errorf("reading trial %s: the run has no implementation %s", m.Trial, m.Implementation)
		}
		out[m.Implementation] = append(out[m.Implementation], &data.Trials[i])
	}
	for name, trials := range out {
		slices.SortFunc(trials, func(a, b *record.TrialData) int { return cmp.Compare(a.Manifest.Block, b.Manifest.Block) })
		for i := 1; i < len(trials); i++ {
			a, b := trials[i-1].Manifest, trials[i].Manifest
			if a.Block == b.Block {
				return nil, fmt.Errorf("reading the trials of %s: block %d has two, %s and %s", name, a.Block, a.Trial, b.Trial)
			}
		}
	}
	return out, nil
}

// reader gathers the cells of a run.
type reader struct {
	rules rules
	// references are the baseline's answers, by path.
	references map[string]*reference
	// sizes are those of each implementation's answers, by path; nil where each trial stands alone.
	sizes   map[string]map[string]sizes
	decoder histogram.Decoder
}

// gatherAll gathers every group, checks them against each other and describes them.
func gatherAll(p planned, trials map[string][]*record.TrialData) ([]Group, error) {
	r := reader{rules: p.rules, references: newReferences(trials[p.baseline]), sizes: map[string]map[string]sizes{}}
	for name, own := range trials {
		r.sizes[name] = newSizes(own)
	}
	var out []Group
	for _, l := range p.levels {
		for _, i := range p.implementations {
			g, err := r.group(l, i, trials[i.Name])
			if err != nil {
				return nil, err
			}
			out = append(out, g)
		}
	}
	crossCheck(p, out)
	for k := range out {
		out[k].Missing = max(int(p.blocks)-len(out[k].Cells), 0)
		out[k].summarise()
	}
	return out, nil
}

// group gathers one implementation at one level, and merges the latencies of the cells that are not void.
func (r *reader) group(l Level, i Implementation, trials []*record.TrialData) (Group, error) {
	g := Group{Point: l.Point, Implementation: i.Name, Role: i.Role, Latency: []Latency{}, Cells: []Cell{}}
	merged := distributions{}
	for _, t := range trials {
		f, err := r.gather(l, i, t)
		if err != nil {
			return g, err
		}
		f.judge()
		f.cell.percentiles = f.percentiles()
		g.Cells = append(g.Cells, f.cell)
		if f.cell.Validity == Void {
			continue
		}
		for kind, s := range f.latencies {
			merged.of(kind).merge(s)
		}
	}
	for _, kind := range latencyKinds {
		if s := merged[kind]; s != nil {
			g.Latency = append(g.Latency, s.describe(kind))
		}
	}
	if len(g.Latency) > 0 {
		g.LatencyKind = string(g.Latency[0].Kind)
	}
	return g, nil
}

// count adds a cell to the group's totals.
func (g *Group) count(c Cell) {
	switch c.Validity {
	case Valid:
		g.Valid++
	case Suspect:
		g.Suspect++
	case Void:
		g.Void++
	}
	if c.Pinning.Pinned {
		g.Pinned++
	}
	if c.Validity != Void {
		g.Requests += c.Requests
		g.ThroughputIsBound = g.ThroughputIsBound || c.ThroughputIsBound
	}
	g.Errors = add(g.Errors, c.Errors)
}

// summarise counts the cells and describes those that are not void.
func (g *Group) summarise() {
	for _, c := range g.Cells {
		g.count(c)
	}
	g.Findings = findings(g.Cells)
	g.Observations, g.OverTime = observations(g.Cells), overTime(g.Cells)
	over := func(value func(Cell) *float64) *Summary {
		var values []float64
		for _, c := range g.Cells {
			if v := value(c); v != nil && c.Validity != Void {
				values = append(values, *v)
			}
		}
		return summarise(values)
	}
	g.Throughput = over(func(c Cell) *float64 { return c.Throughput })
	if g.Throughput != nil && g.ThroughputIsBound {
		g.Throughput.High = nil
	}
	g.MeanLatency = over(func(c Cell) *float64 { return g.ofKind(c, c.MeanLatency) })
	g.MeanLatencyLow = over(func(c Cell) *float64 { return g.ofKind(c, c.MeanLatencyLow) })
	g.CPUPerRequest = over(func(c Cell) *float64 { return c.CPUPerRequest })
	g.ServerCPUs = over(func(c Cell) *float64 { return c.ServerCPUs })
	g.GeneratorCPUs = over(func(c Cell) *float64 { return c.GeneratorCPUs })
	g.ServerRSS = over(func(c Cell) *float64 { return c.ServerRSS })
	g.ServerPeakMemory = over(func(c Cell) *float64 { return c.ServerPeakMemory })
}

// ofKind is a cell's value if it is of the group's kind of latency: two kinds are never averaged.
func (g *Group) ofKind(c Cell, value *float64) *float64 {
	if string(c.MeanLatencyKind) != g.LatencyKind {
		return nil
	}
	return value
}

// artifacts lists every object that the manifests name: those of the trials, and the manifests themselves.
func artifacts(data record.RunData) []Artifact {
	out := []Artifact{}
	for _, s := range data.Manifest.Scripts {
		out = append(out, Artifact{Artifact: s.Artifact})
	}
	for _, e := range data.Manifest.Trials {
		if e.Manifest != nil {
			out = append(out, Artifact{Trial: e.Trial, Artifact: *e.Manifest})
		}
	}
	for _, t := range data.Trials {
		for _, a := range t.Manifest.Artifacts {
			out = append(out, Artifact{Trial: t.Manifest.Trial, Artifact: a})
		}
	}
	slices.SortStableFunc(out, func(a, b Artifact) int {
		return cmp.Or(cmp.Compare(a.Trial, b.Trial), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Name, b.Name))
	})
	return out
}
