package validity

import (
	"cmp"
	"fmt"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// A nil Summary means that no cell had the value.
type Group struct {
	record.Point
	Implementation string      `json:"implementation"`
	Role           record.Role `json:"role"`
	// Summaries cover cells that are not Void.
	Valid   int `json:"valid"`
	Suspect int `json:"suspect"`
	Void    int `json:"void"`
	Missing int `json:"missing"`
	Pinned  int `json:"pinned"`

	Throughput       *inference.Summary `json:"throughputRequestsPerSecond,omitempty"`
	MeanLatency      *inference.Summary `json:"meanLatencyMicros,omitempty"`
	CPUPerRequest    *inference.Summary `json:"serverCPUMicrosPerRequest,omitempty"`
	ServerCPUs       *inference.Summary `json:"serverCPUs,omitempty"`
	GeneratorCPUs    *inference.Summary `json:"generatorCPUs,omitempty"`
	ServerRSS        *inference.Summary `json:"serverRSSBytes,omitempty"`
	ServerPeakMemory *inference.Summary `json:"serverPeakMemoryBytes,omitempty"`
	LatencyKind      string             `json:"meanLatencyKind,omitempty"`
	// MeanLatencyLow is nil if latencies are exact.
	MeanLatencyLow    *inference.Summary `json:"meanLatencyLowMicros,omitempty"`
	ThroughputIsBound bool               `json:"throughputIsLowerBound"`

	Requests int64 `json:"requests"`
	// Errors include void cells.
	Errors       record.Errors           `json:"errors"`
	Latency      []measured.Distribution `json:"latency"`
	Observations []measured.Observation  `json:"observations"`
	OverTime     *measured.OverTime      `json:"overTime,omitempty"`
	Findings     []Finding               `json:"findings"`
	Cells        []Cell                  `json:"cells"`
}

// GroupAt returns an implementation at a point; nil if there is none.
func GroupAt(groups []Group, at record.Point, implementation string) *Group {
	return util.First(groups, func(g *Group) bool {
		return g.Point == at && g.Implementation == implementation
	})
}

// Reader reads and judges the cells of a run.
type Reader struct {
	rules      rules
	plan       planned.Run
	trials     map[string][]*record.TrialData
	references map[string]*measured.Reference
	sizes      map[string]map[string]measured.Sizes
	decoder    histogram.Decoder
	// Spends lets Groups drop the histograms and samples of the records that it has read.
	Spends bool
}

// NewReader refuses records of another run or plan. Each trial has one server.
func NewReader(data record.RunData, p planned.Run) (*Reader, error) {
	trials, err := index(data, p)
	if err != nil {
		return nil, err
	}
	r := Reader{rules: newRules(data), plan: p, trials: trials, references: measured.NewReferences(trials[p.Baseline]), sizes: map[string]map[string]measured.Sizes{}}
	for name, own := range trials {
		r.sizes[name] = measured.NewSizes(own)
	}
	return &r, nil
}

// Pinning returns what the run requires of its servers' CPUs.
func (r *Reader) Pinning() record.Strictness { return r.rules.pinning }

// Trials are in block order.
func (r *Reader) Trials(implementation string) []*record.TrialData { return r.trials[implementation] }

// Groups includes cross-checks and summaries.
func (r *Reader) Groups() ([]Group, error) {
	var out []Group
	for _, l := range r.plan.Levels {
		for _, i := range r.plan.Implementations {
			g, err := r.group(l, i, r.trials[i.Name])
			if err != nil {
				return nil, err
			}
			out = append(out, g)
		}
	}
	crossCheck(r.plan, out)
	for k := range out {
		out[k].Missing = max(int(r.plan.Blocks)-len(out[k].Cells), 0)
		out[k].summarise()
	}
	return out, nil
}

func (r *Reader) group(l planned.Level, i planned.Implementation, trials []*record.TrialData) (Group, error) {
	g := Group{Point: l.Point, Implementation: i.Name, Role: i.Role, Cells: make([]Cell, 0, len(trials))}
	merged := measured.Distributions{}
	for _, t := range trials {
		f, err := r.gather(l, i, t, r.sizes[i.Name])
		if err != nil {
			return g, err
		}
		c := f.judge()
		g.Cells = append(g.Cells, c)
		if c.Validity != Void {
			merged.Merge(f.Latencies)
		}
		f.Latencies.Release()
		if r.Spends {
			f.Spend()
		}
	}
	g.Latency = merged.Describe()
	merged.Release()
	if len(g.Latency) > 0 {
		g.LatencyKind = string(g.Latency[0].Kind)
	}
	return g, nil
}

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
	g.Errors = measured.AddErrors(g.Errors, c.Errors)
}

func (g *Group) summarise() {
	var counted []measured.Values
	for _, c := range g.Cells {
		g.count(c)
		if c.Validity != Void {
			counted = append(counted, c.Values)
		}
	}
	g.Findings = Findings(g.Cells)
	g.Observations, g.OverTime = measured.Describe(counted), measured.NewOverTime(counted)
	for i := range g.Cells {
		g.Cells[i].DropCourse()
	}
	over := func(value func(measured.Values) *float64) *inference.Summary {
		var values []float64
		for _, c := range counted {
			if v := value(c); v != nil {
				values = append(values, *v)
			}
		}
		return inference.Summarise(values)
	}
	g.Throughput = over(func(c measured.Values) *float64 { return c.Throughput })
	if g.Throughput != nil && g.ThroughputIsBound {
		g.Throughput.High = nil
	}
	g.MeanLatency = over(func(c measured.Values) *float64 { return g.ofKind(c, c.MeanLatency) })
	g.MeanLatencyLow = over(func(c measured.Values) *float64 { return g.ofKind(c, c.MeanLatencyLow) })
	g.CPUPerRequest = over(func(c measured.Values) *float64 { return c.CPUPerRequest })
	g.ServerCPUs = over(func(c measured.Values) *float64 { return c.ServerCPUs })
	g.GeneratorCPUs = over(func(c measured.Values) *float64 { return c.GeneratorCPUs })
	g.ServerRSS = over(func(c measured.Values) *float64 { return c.ServerRSS })
	g.ServerPeakMemory = over(func(c measured.Values) *float64 { return c.ServerPeakMemory })
}

// ofKind returns nil if the cell's kind of latency is not the group's: two kinds are never averaged.
func (g *Group) ofKind(c measured.Values, value *float64) *float64 {
	if string(c.MeanLatencyKind) != g.LatencyKind {
		return nil
	}
	return value
}

// index refuses records of another run or plan.
func index(data record.RunData, p planned.Run) (map[string][]*record.TrialData, error) {
	out := map[string][]*record.TrialData{}
	for i := range data.Trials {
		m := &data.Trials[i].Manifest
		if m.Run.UID != data.Manifest.Run.UID {
			return nil, fmt.Errorf("reading trial %s: it belongs to run %s, not to %s", m.Name, m.Run.UID, data.Manifest.Run.UID)
		}
		if _, ok := p.Implementation(m.Servers[0]); !ok {
			return nil, fmt.Errorf("reading trial %s: the run has no implementation %s", m.Name, m.Servers[0])
		}
		out[m.Servers[0]] = append(out[m.Servers[0]], &data.Trials[i])
	}
	for name, trials := range out {
		slices.SortFunc(trials, func(a, b *record.TrialData) int { return cmp.Compare(a.Manifest.Block, b.Manifest.Block) })
		for i := 1; i < len(trials); i++ {
			a, b := trials[i-1].Manifest, trials[i].Manifest
			if a.Block == b.Block {
				return nil, fmt.Errorf("reading the trials of %s: block %d has two, %s and %s", name, a.Block, a.Name, b.Name)
			}
		}
	}
	return out, nil
}

// Finding gathers the reasons of one kind over a group's cells.
type Finding struct {
	Code    Code     `json:"code"`
	Weight  Validity `json:"weight"`
	Scope   Scope    `json:"scope"`
	Subject string   `json:"subject,omitempty"`
	Blocks  []int32  `json:"blocks"`
	Least   float64  `json:"least,omitempty"`
	Most    float64  `json:"most,omitempty"`
	Limit   float64  `json:"limit,omitempty"`
	// Details are at most maxDetails distinct texts (untrusted).
	Details []string `json:"details,omitempty"`
}

// maxDetails bounds a finding's texts: a tool may fail with another text each time.
const maxDetails = 3

// Findings lists void reasons first.
func Findings(cells []Cell) []Finding {
	out := []Finding{}
	for _, c := range cells {
		for _, r := range c.Reasons {
			f := util.First(out, func(f *Finding) bool { return f.Code == r.Code && f.Weight == r.Weight && f.Subject == r.Subject })
			if f == nil {
				out = append(out, Finding{Code: r.Code, Weight: r.Weight, Scope: r.Scope, Subject: r.Subject, Least: r.Value, Most: r.Value, Limit: r.Limit})
				f = &out[len(out)-1]
			}
			f.Blocks = append(f.Blocks, c.Block)
			f.Least, f.Most = min(f.Least, r.Value), max(f.Most, r.Value)
			if r.Detail != "" && len(f.Details) < maxDetails && !slices.Contains(f.Details, r.Detail) {
				f.Details = append(f.Details, r.Detail)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Compare(gravest(a.Weight), gravest(b.Weight))
	})
	return out
}

func gravest(w Validity) int {
	if w == Void {
		return 0
	}
	return 1
}
