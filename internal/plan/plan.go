package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
)

// Defaults of a spec, filled in by Compile and echoed in the plan's notes.
const (
	DefaultBlocks          = 10
	DefaultCPUs            = 1
	DefaultPods            = 1
	DefaultSearchStart     = 100
	DefaultMemory          = "256Mi"
	DefaultWarmupSeconds   = 2
	DefaultDurationSeconds = 5
	DefaultStatus          = 200
	// VerdictBlocks is the number of complete blocks from which on a comparison gets a verdict.
	VerdictBlocks = 7
	// Attempts is how often a trial is prepared when faults come from outside before it measures.
	Attempts = 3
	// seedBits is how many bits of a whole number a JSON number keeps for every reader.
	seedBits = 53
	// spareBlocksAtLeast is how many blocks can be measured anew in the shortest run.
	spareBlocksAtLeast = 2
)

// searchFloorMilliseconds is the latency below which a search cannot tell its generator from the server: the largest p99 from the intended
// starts of k6 at 1,000 arrivals a second beside an epoll server, each on a CPU of its own, in 5 s, was 45 ms.
const searchFloorMilliseconds = 50

// trialOverhead is what a trial is reckoned to cost beside its cells: pods, check, start, upload.
const trialOverhead = 4 * time.Second

// Options is what Compile needs beside the spec.
type Options struct {
	Name string
	// UID seeds the random order where the spec does not, so that two runs of one spec differ and one run never does.
	UID string
}

// Trial is one line of the plan.
type Trial struct {
	Name           string `json:"name"`
	Index          int32  `json:"index"`
	Block          int32  `json:"block"`
	Implementation string `json:"implementation"`
	// Beside is the second implementation of a duet; empty otherwise.
	Beside string `json:"beside,omitempty"`
}

// Plan is a compiled BenchmarkRun.
type Plan struct {
	Seed            uint64                    `json:"seed"`
	Order           v1alpha1.Order            `json:"order,omitempty"`
	Blocks          int32                     `json:"blocks"`
	Implementations []v1alpha1.Implementation `json:"implementations"`
	Baseline        string                    `json:"baseline,omitempty"`
	Generators      v1alpha1.Generators       `json:"generators"`
	Placement       v1alpha1.Placement        `json:"placement"`
	Cells           []v1alpha1.Cell           `json:"cells"`
	Trials          []Trial                   `json:"trials"`
	// Notes say every default and decision in a sentence.
	Notes []string `json:"notes"`
	// TrialSeconds is the planned time of one trial from its first cell to its last; Timeout bounds the run.
	TrialSeconds   float64 `json:"trialSeconds"`
	TimeoutSeconds int32   `json:"timeoutSeconds"`
}

// Compile turns a spec into a plan, or says in a *Violation why it cannot.
func Compile(spec v1alpha1.BenchmarkRunSpec, opts Options) (Plan, error) {
	if v := checkSpec(spec); v != nil {
		return Plan{}, v
	}
	p := Plan{Order: duetOrder(spec), Baseline: spec.Baseline, Blocks: BlocksOf(spec)}
	if spec.Blocks == 0 {
		p.note("spec.blocks is absent: %d blocks, each with every implementation once", p.Blocks)
	}
	if p.Blocks < VerdictBlocks {
		p.note("%d blocks give ratios but no verdict: a verdict needs at least %d", p.Blocks, VerdictBlocks)
	}
	if p.Baseline == "" {
		p.Baseline = spec.Implementations[0].Name
	}
	p.placement(spec.Placement)
	p.implementations(spec.Implementations)
	p.cells(spec.Loads)
	p.seed(spec.Seed, opts.UID)
	p.trials(opts.Name)
	p.times(spec.TimeoutSeconds)
	return p, nil
}

// BlocksOf is the number of blocks that a spec asks for.
func BlocksOf(spec v1alpha1.BenchmarkRunSpec) int32 {
	if spec.Blocks == 0 {
		return DefaultBlocks
	}
	return spec.Blocks
}

// Hash identifies the plan: SHA-256 of its JSON form, in hexadecimal.
func (p Plan) Hash() string {
	sum := sha256.Sum256(p.JSON())
	return hex.EncodeToString(sum[:])
}

// JSON is the plan's stored form.
func (p Plan) JSON() []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic("a plan holds nothing that JSON cannot: " + err.Error())
	}
	return b
}

// Implementation finds an implementation by name, every default filled in.
func (p Plan) Implementation(name string) v1alpha1.Implementation {
	i := slices.IndexFunc(p.Implementations, func(i v1alpha1.Implementation) bool { return i.Name == name })
	return p.Implementations[i]
}

// Estimate is how long a number of trials will about take.
func (p Plan) Estimate(trials int) time.Duration {
	return time.Duration(trials) * (time.Duration(p.TrialSeconds*float64(time.Second)) + trialOverhead)
}

func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

func (p *Plan) placement(pl v1alpha1.Placement) {
	p.Placement = pl
	if pl.Pinning == "" {
		p.Placement.Pinning = v1alpha1.Required
		p.note("spec.placement.pinning is absent: Required, a cell whose server or generator does not own its CPUs is void")
	}
	if pl.GeneratorPinning == "" {
		p.Placement.GeneratorPinning = p.Placement.Pinning
	}
	if pl.SeparateNodes == "" {
		p.Placement.SeparateNodes = v1alpha1.Preferred
		p.note("spec.placement.separateNodes is absent: Preferred")
	}
}

func (p *Plan) implementations(list []v1alpha1.Implementation) {
	for _, i := range list {
		i := *i.DeepCopy()
		if i.CPUs == 0 {
			i.CPUs = DefaultCPUs
			p.note("implementations[%s].cpus is absent: %d", i.Name, i.CPUs)
		}
		if i.Memory == nil {
			q := resource.MustParse(DefaultMemory)
			i.Memory = &q
			p.note("implementations[%s].memory is absent: %s", i.Name, DefaultMemory)
		}
		if i.Role == "" {
			i.Role = v1alpha1.RoleContender
		}
		p.Implementations = append(p.Implementations, i)
	}
}

func (p *Plan) cells(loads []v1alpha1.Load) {
	p.Generators = v1alpha1.Generators{Pods: DefaultPods, CPUs: DefaultCPUs}
	for _, l := range loads {
		pods, threads := max(l.Generators.Pods, DefaultPods), max(l.Generators.CPUs, DefaultCPUs)
		p.Generators.Pods, p.Generators.CPUs = max(p.Generators.Pods, pods), max(p.Generators.CPUs, threads)
		c := v1alpha1.Cell{
			Load: l.Name, Tool: l.Tool, Generators: pods, Threads: threads, Connection: l.Connection, Script: l.Script,
			Request: *l.Request.DeepCopy(), WarmupSeconds: l.WarmupSeconds, DurationSeconds: l.DurationSeconds, Order: p.Order,
		}
		if c.Connection == "" {
			c.Connection = v1alpha1.KeepAlive
		}
		if c.WarmupSeconds == nil {
			w := int32(DefaultWarmupSeconds)
			c.WarmupSeconds = &w
			p.note("loads[%s].warmupSeconds is absent: %d", l.Name, w)
		}
		if c.DurationSeconds == 0 {
			c.DurationSeconds = DefaultDurationSeconds
			p.note("loads[%s].durationSeconds is absent: %d", l.Name, c.DurationSeconds)
		}
		if c.Request.Path == "" {
			c.Request.Path = "/"
		}
		if c.Request.Expect.Status == 0 {
			c.Request.Expect.Status = DefaultStatus
		}
		if c.Request.Expect.Body == nil {
			p.note("loads[%s].request.expect.body is absent: bodies are not compared", l.Name)
		}
		for _, level := range l.Levels {
			c := *c.DeepCopy()
			c.Connections, c.RequestsPerSecond, c.RampToRequestsPerSecond = level.Connections, level.RequestsPerSecond, level.RampToRequestsPerSecond
			p.steps(l, c)
		}
	}
}

// steps adds a level's cell, or the cells of its search: one a step, the rates of which are found while a trial runs.
func (p *Plan) steps(l v1alpha1.Load, c v1alpha1.Cell) {
	if l.Search == nil {
		p.Cells = append(p.Cells, c)
		return
	}
	search := *l.Search
	if search.StartRequestsPerSecond == 0 {
		search.StartRequestsPerSecond = DefaultSearchStart
		p.note("loads[%s].search.startRequestsPerSecond is absent: %d", l.Name, search.StartRequestsPerSecond)
	}
	if search.Steps == 0 {
		search.Steps = v1alpha1.DefaultSearchSteps
		p.note("loads[%s].search.steps is absent: %d", l.Name, search.Steps)
	}
	if search.MaxMilliseconds < searchFloorMilliseconds {
		p.note("loads[%s].search.maxMilliseconds is %d: below %d, k6's own pauses look like the server's, so a rate that is not kept may be k6's fault",
			l.Name, search.MaxMilliseconds, searchFloorMilliseconds)
	}
	for step := range search.Steps {
		c := *c.DeepCopy()
		c.Step, c.Search = step+1, &search
		p.Cells = append(p.Cells, c)
	}
}

// trials lays out the blocks: every implementation once, in an order drawn from the seed.
func (p *Plan) trials(run string) {
	for block := int32(1); block <= p.Blocks; block++ {
		p.Trials = append(p.Trials, p.block(run, block)...)
	}
	p.note("%d trials of %d cells; the order within each block follows from the seed %d", len(p.Trials), len(p.Cells), p.Seed)
	p.duetNotes()
}

// SpareBlocks is how many blocks at most are measured anew, at the end of a run of so many, for blocks that a fault from outside has hit.
// As many again: if a third of all blocks is hit, seven whole ones come out of seven planned with probability 0.95 (0.72 with half as many,
// 0.38 with two), and a run on a machine that is never quiet ends after twice its time.
func SpareBlocks(blocks int32) int32 { return max(blocks, spareBlocksAtLeast) }

// Spare are the trials of a spare block, from 1: the block after all others.
func (p Plan) Spare(run string, spare int32) []Trial { return p.block(run, p.Blocks+spare) }

func (p Plan) block(run string, block int32) []Trial {
	order := slices.Clone(p.Implementations)
	slices.SortFunc(order, func(a, b v1alpha1.Implementation) int {
		return bytes.Compare(p.draw(block, a.Name), p.draw(block, b.Name))
	})
	if p.Order == v1alpha1.OrderSlicedDuet {
		return duet(run, block, order)
	}
	trials := make([]Trial, len(order))
	for k, i := range order {
		index := (block-1)*int32(len(order)) + int32(k)
		trials[k] = Trial{Name: fmt.Sprintf("%s-%03d-%s", run, index, i.Name), Index: index, Block: block, Implementation: i.Name}
	}
	return trials
}

// draw is an implementation's lot in a block: sorted by it, each order of the block is equally likely.
func (p *Plan) draw(block int32, name string) []byte {
	b := binary.BigEndian.AppendUint64(nil, p.Seed)
	b = binary.BigEndian.AppendUint32(b, uint32(block))
	sum := sha256.Sum256(append(b, name...))
	return sum[:]
}

func (p *Plan) times(timeout int32) {
	slots := protocol.Timetable(p.Cells)
	p.TrialSeconds = slots[len(slots)-1].End.Seconds()
	p.TimeoutSeconds = timeout
	if timeout == 0 {
		p.TimeoutSeconds = int32(3*p.Estimate(len(p.Trials)).Seconds()) + 600
		p.note("spec.timeoutSeconds is absent: %d, three times the planned time plus ten minutes", p.TimeoutSeconds)
	}
}

// seed takes the spec's seed, or draws one of as many bits from the run's UID: what a report names can be written into a spec.
func (p *Plan) seed(given int64, uid string) {
	if given > 0 {
		p.Seed = uint64(given)
		return
	}
	sum := sha256.Sum256([]byte(uid))
	p.Seed = max(binary.BigEndian.Uint64(sum[:8])>>(64-seedBits), 1)
	p.note("spec.seed is absent: %d, drawn from the run's UID; a run of the same spec with this seed measures in the same order", p.Seed)
}
