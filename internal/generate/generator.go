package generate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/httpcheck"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timing"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// MaxLate is how late a cell may begin: later, it is not measured.
	MaxLate = 100 * time.Millisecond
	// toolGrace is how long a measured tool may take beyond its slot before it is killed.
	toolGrace = 2 * time.Second
	// versionLimit is how long a tool may take to print its version.
	versionLimit = 5 * time.Second
)

// Searcher decides the rates of a search.
type Searcher interface {
	// Rate is the arrival rate of a cell that is a step of a search, over all generators, in requests a second. past are the earlier
	// steps of the same search in this trial, in order, with what they measured or why they did not. It is false when the search
	// needs no further step.
	Rate(cell v1alpha1.Cell, past []record.CellRun) (rate int32, more bool)
}

// Config is what a generator is told.
type Config struct {
	// Trial is the UID of the generator's trial, from which it draws what is left to chance.
	Trial string
	// Index is its place among those of its trial, from 0.
	Index int32
	// Node is the name of the node, or "unknown".
	Node string
	// Dir is where the generator's files lie; it must exist.
	Dir string
	// Cgroup is the folder of the cgroup whose CPU time is the generator's.
	Cgroup string
	// Network is the folder with the counters of the network namespace whose traffic is the generator's.
	Network string
}

// Checked is the result of a check.
type Checked struct {
	// Verdict is protocol.CheckedOK or a sentence, and Fault says whose fault it is then.
	Verdict   string
	Fault     protocol.Fault
	Responses []record.Response
}

// Generator puts load on a server with the tools that it has.
type Generator struct {
	config Config
	tools  map[v1alpha1.Tool]tool.Tool
	search Searcher
	// scripts is the folder of the users' scripts.
	scripts string
	machine machine
	// maxLate is how late a cell may begin.
	maxLate time.Duration
	// network is the network namespace of Config.Network; nil, with a reason, if it cannot be read.
	network      *kernel.Network
	networkError error
	// cpus is /proc/stat; nil, with a reason, if it cannot be read.
	cpus      *kernel.File
	cpusError error

	mu sync.Mutex
	// answers are those of the check that succeeded, by path.
	answers   map[string]httpcheck.Expectation
	responses []record.Response
	// beside are those of the second server of a duet.
	beside []record.Response
}

// New makes a generator. It is given a Searcher for cells that are steps of a search.
func New(c Config, tools map[v1alpha1.Tool]tool.Tool, s Searcher) *Generator {
	g := &Generator{config: c, tools: tools, search: s, scripts: ScriptsDir(c.Dir), machine: thisMachine(), maxLate: MaxLate}
	g.network, g.networkError = kernel.OpenNetwork(c.Network)
	g.cpus, g.cpusError = kernel.Proc("/proc").OpenTimes()
	return g
}

// Role is the generator's role in its trial.
func (g *Generator) Role() string { return protocol.RoleGenerator(g.config.Index) }

// Check looks at the loads first, then at the server, then at both together, which is what a script needs.
func (g *Generator) Check(ctx context.Context, c protocol.Check) Checked {
	if err := g.writeScripts(c); err != nil {
		return Checked{Verdict: err.Error(), Fault: protocol.FaultLoad}
	}
	if err := g.checkLoads(c.Cells); err != nil {
		return Checked{Verdict: err.Error(), Fault: protocol.FaultLoad}
	}
	all, err := httpcheck.Check(ctx, c.Target, c.Request)
	if err != nil {
		return Checked{Verdict: err.Error(), Fault: protocol.FaultServer}
	}
	besides, err := checkBeside(ctx, c)
	if err != nil {
		return Checked{Verdict: protocol.CheckedBeside + err.Error(), Fault: protocol.FaultServer}
	}
	if err := g.tryScripts(ctx, c); err != nil {
		return Checked{Verdict: err.Error(), Fault: protocol.FaultLoad}
	}
	result := Checked{Verdict: protocol.CheckedOK}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers = map[string]httpcheck.Expectation{}
	for _, a := range all {
		g.answers[a.Again.Path] = a.Again
		result.Responses = append(result.Responses, a.Response)
	}
	g.responses, g.beside = result.Responses, nil
	for _, a := range besides {
		g.beside = append(g.beside, a.Response)
	}
	return result
}

// checkBeside asks the second server of a duet; it finds nothing outside one.
func checkBeside(ctx context.Context, c protocol.Check) ([]httpcheck.Answer, error) {
	if c.Beside == "" {
		return nil, nil
	}
	return httpcheck.Check(ctx, c.Beside, c.Request)
}

// expected is what answers to a cell's request must be: what the load says, or else what the check got.
func (g *Generator) expected(r v1alpha1.Request) httpcheck.Expectation {
	e := httpcheck.Expect(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	if seen, ok := g.answers[e.Path]; ok {
		return e.OrBodyOf(seen)
	}
	return e
}

// Measure follows the timetable, and calls done after each cell with what went wrong in it, if anything did. It returns the record, a
// record.GeneratorResult, and the names of the raw outputs. Outputs are parsed after the last cell, since the tool's CPU is the parser's
// too; only those of a search are parsed at once, since the next step needs them.
func (g *Generator) Measure(ctx context.Context, start protocol.Start, done func(cell v1alpha1.Cell, failure string)) (any, []string, error) {
	// A tool dies with the thread that started it (Pdeathsig): this goroutine keeps one thread until all tools have ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := g.writeToolFiles(start); err != nil {
		return nil, nil, err
	}
	clock := timing.From(start.At)
	if start.Beside != "" {
		return g.measureDuet(ctx, clock, start, done)
	}
	runs := make([]*cellRun, 0, len(start.Slots))
	steps, hung := map[string][]record.CellRun{}, false
	for _, slot := range start.Slots {
		r := g.newCellRun(slot, start.Target)
		ran, err := g.run(ctx, clock, r, steps[slot.Cell.Load])
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("measuring: %w", ctx.Err())
		}
		r.fail(err, hung)
		hung = hung || errors.Is(err, errHung)
		if ran {
			runs = append(runs, r)
		}
		if ran && slot.Cell.Step > 0 {
			g.parse(r)
			steps[slot.Cell.Load] = append(steps[slot.Cell.Load], r.run)
		}
		done(slot.Cell, r.run.Error)
	}
	c := g.conclude()
	for _, r := range runs {
		c.add(ctx, r)
		c.result.Cells = append(c.result.Cells, r.run)
	}
	result, names := c.finish()
	return result, names, nil
}

// writeToolFiles writes what the tools need before anything is measured; a step of a search gets its files when its rate is known.
func (g *Generator) writeToolFiles(start protocol.Start) error {
	for _, slot := range start.Slots {
		t, ok := g.tools[slot.Cell.Tool]
		share := protocol.Share(slot.Cell, g.config.Index)
		if !ok || share.Connections == 0 || share.Step > 0 {
			continue
		}
		if err := g.writeFiles(t, share, start.Target); err != nil {
			return err
		}
	}
	return nil
}

// run takes one cell through its slot. It is false if the generator has no part in it. The error says why it is not measured.
func (g *Generator) run(ctx context.Context, clock timing.Clock, r *cellRun, past []record.CellRun) (bool, error) {
	ran := r.share.Connections > 0
	if ran && r.tool == nil {
		return true, fmt.Errorf("this agent has no tool %q", r.slot.Cell.Tool)
	}
	if ran && r.slot.Cell.Step > 0 {
		more, err := g.decide(r, past)
		if err != nil {
			return true, err
		}
		ran = more
	}
	if !ran {
		return false, timing.SleepUntil(ctx, clock.At(r.slot.Measure+time.Duration(r.slot.Cell.DurationSeconds)*time.Second))
	}
	return true, g.put(ctx, clock, r)
}

// decide asks for the rate of a step; false if the search is over.
func (g *Generator) decide(r *cellRun, past []record.CellRun) (bool, error) {
	if g.search == nil || r.slot.Cell.Search == nil {
		return true, errors.New("nothing decides the rate of the search's step")
	}
	rate, more := g.search.Rate(r.slot.Cell, past)
	if !more {
		return false, nil
	}
	if rate < 1 {
		return true, fmt.Errorf("the search gave the rate %d for its step", rate)
	}
	whole := r.slot.Cell
	whole.RequestsPerSecond = rate
	r.run.Rate, r.share = rate, protocol.Share(whole, g.config.Index)
	r.args = r.tool.Args(r.share, r.target, tool.Measure)
	return true, g.writeFiles(r.tool, r.share, r.target)
}

// parse reads what a tool has printed, once.
func (g *Generator) parse(r *cellRun) {
	if r.run.Error != "" || r.run.Measurement != nil {
		return
	}
	raw, err := os.ReadFile(filepath.Join(g.config.Dir, r.run.Raw))
	if err != nil {
		r.run.Error = fmt.Sprintf("reading the raw output: %v", err)
		return
	}
	m, err := r.tool.Parse(raw)
	if err != nil {
		r.run.Error = err.Error()
		return
	}
	m.Args = r.args
	m.Unknown = append(m.Unknown, r.unknown...)
	r.run.Measurement = &m
}
