package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Defaults of a spec, filled in by Compile and stated in the plan's notes.
const (
	DefaultBlocks      = 10
	DefaultMemoryBytes = 256 << 20
	DefaultCPUs        = 1
	// Attempts is how often a trial is prepared despite outside faults before it measures.
	Attempts = 3
	// seedBits is how many bits of an integer every JSON reader keeps.
	seedBits = 53
	// repeatBlocksAtLeast is how many blocks can be repeated in the shortest run.
	repeatBlocksAtLeast = 2
)

// The estimated cost of a trial besides its cells.
const (
	// TrialOverhead is for pods, check, start and upload.
	TrialOverhead = 4 * time.Second
	// LocalTrialOverhead is for processes, check, start and files. For make demo, whose 14 trials of 2.29 s took 38.1
	// s, it is 0.43 s.
	LocalTrialOverhead = 500 * time.Millisecond
)

// FollowingEstimate is the estimated cost of a trial after the blocks: about that of a profile of ten thousand
// requests. Its limit is many times longer.
const FollowingEstimate = 15 * time.Second

// Options completes the input of Compile.
type Options struct {
	Name string
	// UID seeds the random order if the spec has no seed. So two runs of one spec differ, but one run always has the
	// same order.
	UID string
	// Local means a run on one machine, which starts implementations by command instead of image.
	Local bool
	// Round means a run of a suite's round; before the first good round, its objectives may refer to last good ones.
	Round    bool
	Template bool
}

// Plan is a compiled BenchmarkRun. A run's manifest holds it unchanged.
type Plan struct {
	record.Plan
	// Local trials cost less besides their cells.
	Local bool `json:"-"`
}

// Compile turns a spec into a plan, or returns a *Violation.
func Compile(spec v1alpha1.BenchmarkRunSpec, opts Options) (Plan, error) {
	work, v := kinds.Asked(spec)
	if v = kind.Join(v, checkImplementations(spec)); v != nil {
		return Plan{}, v
	}
	wrong := kind.Join(checkSpec(spec), checkDependencies(spec, kinds.With(work, spec)), checkEarlier(spec, opts.Round, opts.Local), checkNetwork(spec, opts.Local), checkSuspend(spec, opts))
	p := Plan{Local: opts.Local, Plan: record.Plan{Order: cmp.Or(spec.Order, record.OrderBlocks), Mirrored: true, Baseline: BaselineOf(spec), Blocks: BlocksOf(spec)}}
	if spec.Blocks == 0 {
		p.Note("spec.blocks defaults to %d: each block measures every implementation once", p.Blocks)
	}
	if p.Blocks < verdict.MinBlocks {
		p.Note("%d blocks give ratios but no verdict: a verdict needs at least %d", p.Blocks, verdict.MinBlocks)
	}
	p.placement(spec.Placement, work)
	p.Validity = validityOf(spec.Validity)
	p.implementations(spec.Implementations)
	p.stop(spec.Stop)
	if wrong = kind.Join(wrong, work.Plan(spec, &p.Plan), checkPrograms(spec, opts.Local), checkNames(spec, opts.Local)); wrong != nil {
		return Plan{}, wrong
	}
	p.seed(spec.Seed, opts.UID)
	p.trials(opts.Name, work.Type())
	if v := cmp.Or(p.following(spec, opts), p.checkTrials(opts.Local)); v != nil {
		return Plan{}, v
	}
	p.times(spec)
	return p, nil
}

func (p *Plan) following(spec v1alpha1.BenchmarkRunSpec, opts Options) *Violation {
	last := p.Repeat(opts.Name, RepeatBlocks(p.Blocks))
	first := last[len(last)-1].Index + 1
	for _, k := range kinds.Following(spec) {
		if v := k.Plan(spec, &p.Plan); v != nil {
			return v
		}
		lines := k.Follow(spec, p.Plan, opts.Name, first+int32(len(p.Following)))
		p.Following = append(p.Following, lines...)
	}
	if n := len(p.Following); n > 0 {
		p.Note("%d trials follow the blocks, one after the other", n)
	}
	return nil
}

// BlocksOf returns the number of blocks of a spec.
func BlocksOf(spec v1alpha1.BenchmarkRunSpec) int32 {
	if spec.Blocks == 0 {
		return DefaultBlocks
	}
	return spec.Blocks
}

// BaselineOf returns the name of a spec's baseline; empty if the spec has no implementations.
func BaselineOf(spec v1alpha1.BenchmarkRunSpec) string {
	if spec.Baseline == "" && len(spec.Implementations) > 0 {
		return spec.Implementations[0].Name
	}
	return spec.Baseline
}

// Hash returns the plan's identity: the hexadecimal SHA-256 of its JSON form.
func (p Plan) Hash() string {
	sum := sha256.Sum256(p.JSON())
	return hex.EncodeToString(sum[:])
}

// JSON returns the plan's stored form.
func (p Plan) JSON() []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic("a plan holds nothing that JSON cannot: " + err.Error())
	}
	return b
}

// Size describes the number of trials and, in sweeps, of cells each.
func (p Plan) Size() string {
	if len(p.Cells) == 0 {
		return count(len(p.Trials), "trial")
	}
	return count(len(p.Trials), "trial") + " of " + count(len(p.Cells), "cell")
}

func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Whole returns how much a run measures, and about how long that takes, with the trials that follow the blocks.
func (p Plan) Whole() (size string, takes time.Duration) {
	size, takes = p.Size(), p.Estimate(len(p.Trials))
	if n := len(p.Following); n > 0 {
		size, takes = fmt.Sprintf("%s, plus %d after the blocks", size, n), takes+time.Duration(n)*FollowingEstimate
	}
	return size, takes.Round(time.Second)
}

// Takes says about how long a run takes; of programs that end by themselves, it says how long at most.
func (p Plan) Takes() string {
	_, takes := p.Whole()
	if p.Programs != nil {
		return "at most " + takes.String()
	}
	return "about " + takes.String()
}

// NoVerdict says why the run cannot end in a verdict; empty if it can, or if it compares nothing.
func (p Plan) NoVerdict() string {
	if p.Blocks >= verdict.MinBlocks || len(p.Implementations) < 2 {
		return ""
	}
	return fmt.Sprintf("no verdict: that takes at least %d blocks, and spec.blocks is %d", verdict.MinBlocks, p.Blocks)
}

// Slots returns the timetable of a line.
func (p Plan) Slots(line record.PlannedTrial) []timetable.Slot {
	return kinds.Planned(p.Plan, line).Slots()
}

// Overhead returns the estimated cost of a trial besides its cells.
func (p Plan) Overhead() time.Duration {
	if p.Local {
		return LocalTrialOverhead
	}
	return TrialOverhead
}

// Estimate returns about how long that many trials take.
func (p Plan) Estimate(trials int) time.Duration {
	return time.Duration(trials) * (time.Duration(p.TrialSeconds*float64(time.Second)) + p.Overhead())
}

// EstimateOf returns the longest time of some lines.
func (p Plan) EstimateOf(lines []record.PlannedTrial) time.Duration {
	var all time.Duration
	for _, line := range lines {
		all += timetable.End(p.Slots(line)) + p.Overhead()
	}
	return all
}

func (p *Plan) placement(pl v1alpha1.Placement, work kind.Kind) {
	placed, separable := work.(kind.Placed)
	p.Placement = kind.ReadPlacement(pl)
	if pl.Pinning == "" {
		p.Placement.Pinning = record.Required
		unowned := "a process that does not own its CPUs is void"
		if separable {
			unowned = placed.Unowned(pl, p.Order)
		}
		p.Note("spec.placement.pinning defaults to Required: %s", unowned)
	}
	if pl.GeneratorPinning == "" {
		p.Placement.GeneratorPinning = p.Placement.Pinning
	}
	if pl.SeparateNodes == "" {
		p.Placement.SeparateNodes = record.Preferred
	}
	if pl.SeparateNodes == "" && separable {
		p.Note("spec.placement.separateNodes defaults to Preferred")
	}
}

func (p *Plan) implementations(list []v1alpha1.Implementation) {
	for _, i := range list {
		own := kind.ReadImplementation(i)
		own.Role = cmp.Or(own.Role, record.RoleContender)
		if ready := &own.Container.Readiness; own.Port > 0 && ready.Seconds == 0 {
			ready.Seconds = record.ReadySeconds
			p.Note("implementations[%s].readiness.timeoutSeconds defaults to %d", i.Name, ready.Seconds)
		}
		p.encryption(i.Name, own.TLS)
		p.amounts("implementations["+i.Name+"]", own.Container)
		p.dependencies(i.Name, own.Dependencies)
		if i.CPUs == 0 {
			own.CPUs = DefaultCPUs
			p.Note("implementations[%s].cpus defaults to %d", i.Name, own.CPUs)
		}
		if i.Memory == nil {
			own.MemoryBytes = DefaultMemoryBytes
			p.Note("implementations[%s].memory defaults to %s", i.Name, Memory(DefaultMemoryBytes))
		}
		p.Implementations = append(p.Implementations, own)
	}
}

func (p *Plan) amounts(container string, own record.Container) {
	for n := range own.Resources {
		if r := &own.Resources[n]; r.Amount == 0 {
			r.Amount = 1
			p.Note("%s.resources[%d].amount defaults to 1", container, n)
		}
	}
	for n := range own.Scratch {
		if s := &own.Scratch[n]; s.Bytes == 0 {
			s.Bytes = defaultScratchBytes
			p.Note("%s.scratch[%d].size defaults to %s", container, n, Memory(defaultScratchBytes))
		}
	}
}

func (p *Plan) dependencies(implementation string, list []record.Dependency) {
	for n := range list {
		d := &list[n]
		container := fmt.Sprintf("implementations[%s].dependencies[%s]", implementation, d.Name)
		p.amounts(container, d.Container)
		if d.MilliCPU == 0 {
			d.MilliCPU = defaultDependencyMilliCPU
			p.Note("%s.cpu defaults to 1", container)
		}
		if d.MemoryBytes == 0 {
			d.MemoryBytes = DefaultMemoryBytes
			p.Note("%s.memory defaults to %s", container, Memory(DefaultMemoryBytes))
		}
		if ready := &d.Container.Readiness; d.Port > 0 && ready.Seconds == 0 {
			ready.Seconds = defaultDependencySeconds
			p.Note("%s.readiness.timeoutSeconds defaults to %d", container, ready.Seconds)
		}
	}
}

// Memory prints an amount as in a spec, such as "256Mi".
func Memory(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }

// trials lays out the blocks. Each has every implementation once, in as many trials as the kind of work needs. Pairs of
// blocks have a seeded order and its mirror image.
func (p *Plan) trials(run string, work record.WorkType) {
	for block := int32(1); block <= p.Blocks; block++ {
		p.Trials = append(p.Trials, p.block(run, block, work)...)
	}
	p.Note("%s; the order within each block follows from the seed %d, and every second block reverses it", p.Size(), p.Seed)
}

// RepeatBlocks returns the most blocks that may replace disturbed ones: as many again. If a third of all blocks is
// disturbed, seven whole ones come out of seven planned with probability 0.95 (0.72 with half as many, 0.38 with two).
func RepeatBlocks(blocks int32) int32 { return max(blocks, repeatBlocksAtLeast) }

// Repeat returns the trials of a repeat block, from 1.
func (p Plan) Repeat(run string, repeat int32) []record.PlannedTrial {
	return p.block(run, p.Blocks+repeat, p.Trials[0].Type)
}

func (p Plan) block(run string, block int32, work record.WorkType) []record.PlannedTrial {
	names := make([]string, len(p.Implementations))
	for k, i := range p.Implementations {
		names[k] = i.Name
	}
	groups := kinds.Groups(p.Plan, work, kind.Order(p.Plan, block, names))
	trials := make([]record.PlannedTrial, len(groups))
	for k, g := range groups {
		index := (block-1)*int32(len(groups)) + int32(k)
		trials[k] = record.PlannedTrial{Name: fmt.Sprintf("%s-%03d-%s", run, index, g.Name), Index: index, Block: block, Type: work, Servers: g.Servers}
	}
	return trials
}

// Part is a part of a run: the planned blocks, a repeat block, or what follows.
type Part struct {
	// Repeat counts from 1; 0 for the other parts.
	Repeat    int32
	Following bool
}

// PartOf returns the part of a line.
func (p Plan) PartOf(line record.PlannedTrial) Part {
	if line.Follows() {
		return Part{Following: true}
	}
	return Part{Repeat: max(line.Block-p.Blocks, 0)}
}

// Lines returns the lines of a part.
func (p Plan) Lines(run string, part Part) []record.PlannedTrial {
	switch {
	case part.Following:
		return p.Following
	case part.Repeat > 0:
		return p.Repeat(run, part.Repeat)
	}
	return p.Trials
}

// Line returns the line with this block, index and name; false if the plan has none.
func (p Plan) Line(run, trial string, index, block int32) (record.PlannedTrial, bool) {
	if len(p.Trials) == 0 {
		return record.PlannedTrial{}, false
	}
	lines := p.Lines(run, p.PartOf(record.PlannedTrial{Block: block}))
	i, found := slices.BinarySearchFunc(lines, index, func(line record.PlannedTrial, index int32) int { return cmp.Compare(line.Index, index) })
	if !found || lines[i].Name != trial || lines[i].Block != block {
		return record.PlannedTrial{}, false
	}
	return lines[i], true
}

// MaxTimeoutSeconds is a week, as in the API.
const MaxTimeoutSeconds = 604800

func (p *Plan) times(spec v1alpha1.BenchmarkRunSpec) {
	p.TrialSeconds = timetable.End(p.Slots(p.Trials[0])).Seconds()
	p.TimeoutSeconds = spec.TimeoutSeconds
	if p.TimeoutSeconds == 0 {
		seconds := int64((3*p.Estimate(len(p.Trials)) + p.EstimateOf(p.Following)).Seconds()) + 600
		words := "three times the planned time plus ten minutes"
		if starts := p.readySeconds(spec.Implementations); starts > 0 {
			seconds += int64(starts)
			words += ", and the time that servers may take to start"
		}
		if seconds > MaxTimeoutSeconds {
			seconds, words = MaxTimeoutSeconds, "the longest that a run may take"
		}
		p.TimeoutSeconds = int32(seconds)
		p.Note("spec.timeoutSeconds defaults to %d: %s", p.TimeoutSeconds, words)
	}
}

// readySeconds sums the stated start times of all trials' servers. The default start time fits into three times the
// planned time.
func (p *Plan) readySeconds(asked []v1alpha1.Implementation) int32 {
	var sum int32
	for _, t := range slices.Concat(p.Trials, p.Following) {
		for _, name := range t.Servers {
			if i := util.First(asked, func(i *v1alpha1.Implementation) bool { return i.Name == name }); i != nil {
				sum += i.Readiness.TimeoutSeconds + p.Implementation(name).DependencySeconds()
			}
		}
	}
	return sum
}

// seed takes the spec's seed, or draws one from the run's UID with so few bits that it can be written into a spec.
func (p *Plan) seed(given int64, uid string) {
	if given > 0 {
		p.Seed = uint64(given)
		return
	}
	sum := sha256.Sum256([]byte(uid))
	p.Seed = max(binary.BigEndian.Uint64(sum[:8])>>(64-seedBits), 1)
	p.Note("spec.seed defaults to %d, drawn from the run's UID; a run of the same spec with this seed measures in the same order", p.Seed)
}
