package generate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	// MaxLate is how late a cell may begin. A later cell is not measured.
	MaxLate = 100 * time.Millisecond
	// toolGrace is how long a measured tool may exceed its slot before it is killed.
	toolGrace    = 2 * time.Second
	versionLimit = 5 * time.Second
)

// Searcher decides the rates of a search.
type Searcher interface {
	// Rate returns a search step's arrival rate over all generators, in requests per second. past are the earlier steps of the same search in
	// this trial, in order, with their result or failure. It returns false if no further step is needed.
	Rate(cell record.Cell, past []record.CellRun) (rate int32, more bool)
}

// Config is a generator's configuration.
type Config struct {
	// Trial is the trial's UID, which seeds random choices.
	Trial string
	Index int32
	Node  string
	// Dir holds the generator's files; it must exist.
	Dir string
	// Cgroup is the folder of the generator's cgroup. Empty: it has none. Then its CPU time is that of this process and its tools, and a quota
	// cannot be seen.
	Cgroup string
	// Network is the folder with the counters of the generator's network namespace; empty if other generators share it.
	Network string
	// SharedNetwork: other programs use that namespace; then connection counts are omitted.
	SharedNetwork bool
}

// Generator loads a server with the available tools.
type Generator struct {
	config  Config
	tools   map[record.Tool]tool.Tool
	search  Searcher
	scripts string
	machine machine
	// maxLate and grace are MaxLate and toolGrace.
	maxLate, grace time.Duration
	// network is Config.Network; if it cannot be read, nil with a reason.
	network      *kernel.Network
	networkError error
	// cpus is /proc/stat; if it cannot be read, nil with a reason.
	cpus      *kernel.File
	cpusError error
	// duplicates: this process may duplicate the sockets of its tools.
	duplicates bool
	// openingShare is openingShare.
	openingShare float64

	mu sync.Mutex
	// answers are those of the successful check: of each server, by request key.
	answers    []map[string]httpcheck.Expectation
	responses  []record.Response
	encryption []record.Encryption
}

// New makes a generator.
func New(c Config, tools map[record.Tool]tool.Tool, s Searcher) *Generator {
	g := &Generator{config: c, tools: tools, search: s, scripts: ScriptsDir(c.Dir), machine: thisMachine(), maxLate: MaxLate, grace: toolGrace, duplicates: kernel.MayDuplicate(), openingShare: openingShare}
	g.networkError = errShared
	if c.Network != "" {
		g.network, g.networkError = kernel.OpenNetwork(c.Network)
	}
	g.cpus, g.cpusError = kernel.Proc("/proc").OpenTimes()
	return g
}

// Member returns the generator's member of its trial.
func (g *Generator) Member() string { return record.MemberGenerator(int(g.config.Index)) }

// Check checks the loads first, then each server, then both together, which scripts need.
func (g *Generator) Check(ctx context.Context, c protocol.Check) protocol.Checked {
	if err := g.checkOwn(c); err != nil {
		return protocol.Checked{Fault: protocol.FaultLoad, Message: err.Error()}
	}
	var result protocol.Checked
	var answers []map[string]httpcheck.Expectation
	var encryption []record.Encryption
	for i := range c.Targets {
		agreed, err := g.checkEncryption(ctx, c, i)
		if err != nil {
			return protocol.Checked{Fault: unless(err, protocol.FaultTLS), Message: err.Error(), Server: i}
		}
		encryption = append(encryption, agreed...)
		all, err := httpcheck.Check(ctx, serverAt(c.Targets, c.TLS, i), c.Requests)
		if err != nil {
			return protocol.Checked{Fault: unless(err, protocol.FaultServer), Message: err.Error(), Server: i}
		}
		answers = append(answers, map[string]httpcheck.Expectation{})
		for _, a := range all {
			answers[i][a.Again.Request.Key()] = a.Again
			a.Response.Server = i
			result.Responses = append(result.Responses, a.Response)
		}
	}
	if err := g.tryScripts(ctx, c); err != nil {
		return protocol.Checked{Fault: protocol.FaultLoad, Message: err.Error()}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers, g.responses, g.encryption = answers, result.Responses, encryption
	return result
}

// unless returns a fault, or the network's if err came from the network.
func unless(err error, f protocol.Fault) protocol.Fault {
	if httpcheck.Unreachable(err) {
		return protocol.FaultNetwork
	}
	return f
}

// checkOwn checks whether the generator can make its part of the loads. The error is a sentence.
func (g *Generator) checkOwn(c protocol.Check) error {
	if err := g.writeScripts(c); err != nil {
		return err
	}
	return g.checkLoads(c.Cells)
}

// expected returns a server's expected answer to a request: from the load, or else from the check.
func (g *Generator) expected(r record.Request, server int) httpcheck.Expectation {
	e := httpcheck.Expect(r)
	g.mu.Lock()
	defer g.mu.Unlock()
	if server < len(g.answers) {
		if seen, ok := g.answers[server][r.Key()]; ok {
			return e.OrBodyOf(seen)
		}
	}
	return e
}

// Measure follows the timetable. It returns a record.GeneratorResult and the names of the raw outputs. Outputs are parsed after the last
// cell, because the parser shares the tool's CPU. Only a search is parsed at once, since its next step needs the result.
func (g *Generator) Measure(ctx context.Context, start protocol.Start, done func(cell record.Cell, failure string)) (any, []string, error) {
	// A tool dies with the thread that started it (Pdeathsig), so this goroutine keeps its thread until all tools have ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := g.writeToolFiles(start); err != nil {
		return nil, nil, err
	}
	clock := timing.From(start.At)
	if len(start.Targets) > 1 {
		return g.measureDuet(ctx, clock, start, done)
	}
	runs := make([]*cellRun, 0, len(start.Slots))
	steps, hung := map[string][]record.CellRun{}, false
	for _, slot := range start.Slots {
		r := g.newCellRun(slot, serverAt(start.Targets, start.TLS, 0))
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

// writeToolFiles writes the tools' files before measuring; a step of a search gets its files when its rate is known.
func (g *Generator) writeToolFiles(start protocol.Start) error {
	for _, slot := range start.Slots {
		t, ok := g.tools[slot.Cell.Tool]
		share := timetable.Share(slot.Cell, g.config.Index)
		if !ok || share.Connections == 0 || share.Step > 0 {
			continue
		}
		if err := g.writeFiles(t, share, targetOf(serverAt(start.Targets, start.TLS, 0))); err != nil {
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
		return false, timing.SleepUntil(ctx, clock.At(r.slot.Measured))
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
	r.run.Rate, r.share = rate, timetable.Share(whole, g.config.Index)
	r.args = r.tool.Args(r.share, targetOf(r.server), tool.Measure)
	return true, g.writeFiles(r.tool, r.share, targetOf(r.server))
}

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

type conclusion struct {
	generator *Generator
	result    record.GeneratorResult
	versions  map[record.Tool]string
	names     []string
}

func (g *Generator) conclude() *conclusion {
	c := &conclusion{generator: g, versions: map[record.Tool]string{}}
	c.result.Environment = kernel.Environment(os.DirFS("/"), "")
	c.result.Environment.Node, c.result.Environment.AgentVersion = g.config.Node, util.Version
	if ports, err := g.machine.ports(); err == nil { // The check before the trial reported why it is unknown.
		c.result.LocalPorts = ports
	}
	if g.config.Index == 0 {
		g.mu.Lock()
		c.result.Responses, c.result.Encryption = g.responses, g.encryption
		g.mu.Unlock()
	}
	return c
}

func (c *conclusion) add(ctx context.Context, r *cellRun) {
	kind := r.slot.Cell.Tool
	if r.tool != nil && c.versions[kind] == "" {
		c.versions[kind] = toolVersion(ctx, c.generator.config.Dir, r.tool)
	}
	if r.run.Raw != "" {
		c.names = append(c.names, r.run.Raw)
	}
	c.addScript(r)
	c.generator.parse(r)
	if r.run.Measurement != nil {
		r.run.Measurement.ToolVersion = c.versions[kind]
	}
}

func toolVersions(versions map[record.Tool]string) string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(versions)) {
		out = append(out, string(kind)+" "+versions[kind])
	}
	return strings.Join(out, ", ")
}

func (c *conclusion) finish() (record.GeneratorResult, []string) {
	// The order of the levels differs between trials.
	c.result.Environment.ToolVersion = toolVersions(c.versions)
	return c.result, c.names
}
