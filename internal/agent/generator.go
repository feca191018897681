package agent

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
	// maxLate is how late a cell may begin: later, it is not measured.
	maxLate = 100 * time.Millisecond
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

// checked is the result of a check.
type checked struct {
	// verdict is protocol.CheckedOK or a sentence, and fault says whose fault it is then.
	verdict   string
	fault     protocol.Fault
	responses []record.Response
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
	// network is the namespace of the pod; nil, with a reason, if it cannot be read.
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

// NewGenerator makes a generator. It is given a Searcher for cells that are steps of a search.
func NewGenerator(c Config, tools map[v1alpha1.Tool]tool.Tool, s Searcher) *Generator {
	g := &Generator{config: c, tools: tools, search: s, scripts: ScriptsDir(c.Dir), machine: thisMachine(), maxLate: maxLate}
	g.network, g.networkError = kernel.OpenNetwork("/proc/self/net")
	g.cpus, g.cpusError = kernel.Proc("/proc").OpenTimes()
	return g
}

func (g *Generator) role() string { return protocol.RoleGenerator(g.config.Index) }

func (*Generator) watch(context.Context, func(func(*protocol.State))) {}

// check looks at the loads first, then at the server, then at both together, which is what a script needs.
func (g *Generator) check(ctx context.Context, c protocol.Check) (checked, bool) {
	if err := g.writeScripts(c); err != nil {
		return checked{verdict: err.Error(), fault: protocol.FaultLoad}, true
	}
	if err := g.checkLoads(c.Cells); err != nil {
		return checked{verdict: err.Error(), fault: protocol.FaultLoad}, true
	}
	all, err := httpcheck.Check(ctx, c.Target, c.Request)
	if err != nil {
		return checked{verdict: err.Error(), fault: protocol.FaultServer}, true
	}
	besides, err := checkBeside(ctx, c)
	if err != nil {
		return checked{verdict: protocol.CheckedBeside + err.Error(), fault: protocol.FaultServer}, true
	}
	if err := g.tryScripts(ctx, c); err != nil {
		return checked{verdict: err.Error(), fault: protocol.FaultLoad}, true
	}
	result := checked{verdict: protocol.CheckedOK}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers = map[string]httpcheck.Expectation{}
	for _, a := range all {
		g.answers[a.Again.Path] = a.Again
		result.responses = append(result.responses, a.Response)
	}
	g.responses, g.beside = result.responses, nil
	for _, a := range besides {
		g.beside = append(g.beside, a.Response)
	}
	return result, true
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

// measure follows the timetable. Outputs are parsed after the last cell, since the tool's CPU is the parser's too; only those of a
// search are parsed at once, since the next step needs them.
func (g *Generator) measure(ctx context.Context, start protocol.Start, done func(v1alpha1.Cell, string)) ([]string, error) {
	// A tool dies with the thread that started it (Pdeathsig): this goroutine keeps one thread until all tools have ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := g.writeToolFiles(start); err != nil {
		return nil, err
	}
	clock := timing.From(start.At)
	if start.Beside != "" {
		return g.measureDuet(ctx, clock, start, done)
	}
	attempts := make([]*attempt, 0, len(start.Slots))
	steps, hung := map[string][]record.CellRun{}, false
	for _, slot := range start.Slots {
		a := g.newAttempt(slot, start.Target)
		ran, err := g.run(ctx, clock, a, steps[slot.Cell.Load])
		if ctx.Err() != nil {
			return nil, fmt.Errorf("measuring: %w", ctx.Err())
		}
		a.fail(err, hung)
		hung = hung || errors.Is(err, errHung)
		if ran {
			attempts = append(attempts, a)
		}
		if ran && slot.Cell.Step > 0 {
			g.parse(a)
			steps[slot.Cell.Load] = append(steps[slot.Cell.Load], a.run)
		}
		done(slot.Cell, a.run.Error)
	}
	return g.finish(ctx, attempts)
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
func (g *Generator) run(ctx context.Context, clock timing.Clock, a *attempt, past []record.CellRun) (bool, error) {
	ran := a.share.Connections > 0
	if ran && a.tool == nil {
		return true, fmt.Errorf("this agent has no tool %q", a.slot.Cell.Tool)
	}
	if ran && a.slot.Cell.Step > 0 {
		more, err := g.decide(a, past)
		if err != nil {
			return true, err
		}
		ran = more
	}
	if !ran {
		return false, timing.SleepUntil(ctx, clock.At(a.slot.Measure+time.Duration(a.slot.Cell.DurationSeconds)*time.Second))
	}
	return true, g.put(ctx, clock, a)
}

// decide asks for the rate of a step; false if the search is over.
func (g *Generator) decide(a *attempt, past []record.CellRun) (bool, error) {
	if g.search == nil || a.slot.Cell.Search == nil {
		return true, errors.New("nothing decides the rate of the search's step")
	}
	rate, more := g.search.Rate(a.slot.Cell, past)
	if !more {
		return false, nil
	}
	if rate < 1 {
		return true, fmt.Errorf("the search gave the rate %d for its step", rate)
	}
	whole := a.slot.Cell
	whole.RequestsPerSecond = rate
	a.run.Rate, a.share = rate, protocol.Share(whole, g.config.Index)
	a.args = a.tool.Args(a.share, a.target, tool.Measure)
	return true, g.writeFiles(a.tool, a.share, a.target)
}

// finish parses all outputs, writes the record and names the files.
func (g *Generator) finish(ctx context.Context, attempts []*attempt) ([]string, error) {
	c := g.conclude()
	for _, a := range attempts {
		c.add(ctx, a)
		c.result.Cells = append(c.result.Cells, a.run)
	}
	return c.write()
}

// parse reads what a tool has printed, once.
func (g *Generator) parse(a *attempt) {
	if a.run.Error != "" || a.run.Measurement != nil {
		return
	}
	raw, err := os.ReadFile(filepath.Join(g.config.Dir, a.run.Raw))
	if err != nil {
		a.run.Error = fmt.Sprintf("reading the raw output: %v", err)
		return
	}
	m, err := a.tool.Parse(raw)
	if err != nil {
		a.run.Error = err.Error()
		return
	}
	m.Args = a.args
	m.Unknown = append(m.Unknown, a.unknown...)
	a.run.Measurement = &m
}
