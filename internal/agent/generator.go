package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// toolGrace is how long a measured tool may take beyond its slot before it is killed.
	toolGrace = 2 * time.Second
	// versionLimit is how long a tool may take to print its version.
	versionLimit = 5 * time.Second
)

// Generator puts load on a server with the tools that it has.
type Generator struct {
	config Config
	tools  map[v1alpha1.Tool]tool.Tool
}

// NewGenerator makes a generator.
func NewGenerator(c Config, tools map[v1alpha1.Tool]tool.Tool) *Generator {
	return &Generator{config: c, tools: tools}
}

func (g *Generator) role() string { return protocol.RoleGenerator(g.config.Index) }

func (*Generator) watch(context.Context, func(func(*protocol.State))) {}

func (*Generator) check(ctx context.Context, c protocol.Check) (string, bool) {
	return checkAll(ctx, c), true
}

// attempt is one cell while it is run.
type attempt struct {
	slot protocol.Slot
	// share is this generator's part of the cell.
	share v1alpha1.Cell
	tool  tool.Tool
	args  []string
	run   record.CellRun
	// unknown is what could not be read meanwhile, in sentences.
	unknown []string
}

// measure follows the timetable. Outputs are parsed after the last cell, since the tool's CPU is the parser's too.
func (g *Generator) measure(ctx context.Context, start protocol.Start, done func(v1alpha1.Cell, string)) ([]string, error) {
	// A tool dies with the thread that started it (Pdeathsig): this goroutine keeps one thread until all tools have ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	if err := g.writeToolFiles(start); err != nil {
		return nil, err
	}
	clock := newTimetable(start.At)
	attempts := make([]*attempt, 0, len(start.Slots))
	for _, slot := range start.Slots {
		a := g.newAttempt(slot, start.Target)
		if err := g.run(ctx, clock, start.Target, a); err != nil {
			a.run.Error = err.Error()
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("measuring: %w", ctx.Err())
		}
		attempts = append(attempts, a)
		done(slot.Cell, a.run.Error)
	}
	return g.finish(ctx, attempts)
}

func (g *Generator) newAttempt(slot protocol.Slot, target string) *attempt {
	a := &attempt{slot: slot, share: protocol.Share(slot.Cell, g.config.Index), run: record.CellRun{Point: record.PointOf(slot.Cell)}}
	if t, ok := g.tools[slot.Cell.Tool]; ok {
		a.tool, a.args = t, t.Args(a.share, target, tool.Measure)
	}
	return a
}

func (g *Generator) writeToolFiles(start protocol.Start) error {
	for _, slot := range start.Slots {
		t, ok := g.tools[slot.Cell.Tool]
		if !ok {
			continue
		}
		for _, f := range t.Files(protocol.Share(slot.Cell, g.config.Index), start.Target) {
			if err := os.WriteFile(filepath.Join(g.config.Dir, f.Name), []byte(f.Text), 0o600); err != nil {
				return fmt.Errorf("writing a file of the tool: %w", err)
			}
		}
	}
	return nil
}

// run takes one cell through its slot. The error says why the cell is not measured.
func (g *Generator) run(ctx context.Context, clock timetable, target string, a *attempt) (err error) {
	if a.tool == nil {
		return fmt.Errorf("this agent has no tool %q", a.slot.Cell.Tool)
	}
	name := protocol.RawFile(a.slot.Cell)
	raw, err := os.Create(filepath.Join(g.config.Dir, name))
	if err != nil {
		return fmt.Errorf("creating the raw output: %w", err)
	}
	a.run.Raw = name
	defer func() { err = errors.Join(err, raw.Close()) }()
	if a.slot.Measure > a.slot.Warmup {
		if err := g.warmUp(ctx, clock, target, a, raw); err != nil {
			return err
		}
	}
	return g.load(ctx, clock, a, raw)
}

// warmUp runs the tool until WarmupGap before the measured time. A warm-up that ends by itself is an error, and its output is
// kept as the cell's; of a good one nothing is kept.
func (g *Generator) warmUp(ctx context.Context, clock timetable, target string, a *attempt, raw *os.File) error {
	if err := punctual(ctx, clock.instant(a.slot.Warmup)); err != nil {
		return err
	}
	args := a.tool.Args(a.share, target, tool.Warmup)
	p, err := launch(ctx, g.config.Dir, args, raw, clock.instant(a.slot.Measure-protocol.WarmupGap))
	if err != nil {
		return err
	}
	if err := p.wait(); !errors.Is(err, errKilled) {
		return fmt.Errorf("the warm-up ended before its time: %w", ended(err, raw))
	}
	if err := raw.Truncate(0); err != nil {
		return fmt.Errorf("clearing the warm-up's output: %w", err)
	}
	if _, err := raw.Seek(0, 0); err != nil {
		return fmt.Errorf("clearing the warm-up's output: %w", err)
	}
	return nil
}

// load runs the measured tool.
func (g *Generator) load(ctx context.Context, clock timetable, a *attempt, raw *os.File) error {
	if err := punctual(ctx, clock.instant(a.slot.Measure)); err != nil {
		return err
	}
	before, errBefore := ownCPUNanos()
	a.run.Started = time.Now()
	p, err := launch(ctx, g.config.Dir, a.args, raw, clock.instant(a.slot.End+toolGrace))
	if err != nil {
		return err
	}
	a.run.CPUsAllowed = p.cpusAllowed()
	err = p.wait()
	a.run.Ended = time.Now()
	after, errAfter := ownCPUNanos()
	a.run.CPUNanos = after - before
	if unread := errors.Join(errBefore, errAfter); unread != nil {
		a.run.CPUNanos = 0
		a.unknown = append(a.unknown, "The CPU time of the generator is unknown: "+unread.Error()+".")
	}
	if errors.Is(err, errKilled) {
		return fmt.Errorf("%s was killed, since it had not ended %v after its time", a.args[0], toolGrace)
	}
	if err != nil {
		return ended(err, raw)
	}
	return nil
}

// punctual waits for an instant and refuses to be late for it.
func punctual(ctx context.Context, instant time.Time) error {
	if err := sleepUntil(ctx, instant); err != nil {
		return err
	}
	if late := time.Since(instant); late > maxLate {
		return fmt.Errorf("the generator was %v late for the cell: what came before it took too long", late.Round(time.Millisecond))
	}
	return nil
}

// finish parses all outputs, writes the record and names the files.
func (g *Generator) finish(ctx context.Context, attempts []*attempt) ([]string, error) {
	result := record.GeneratorResult{Environment: readEnvironment(os.DirFS("/"), g.config.Node, "")}
	versions := map[v1alpha1.Tool]string{}
	var names []string
	for _, a := range attempts {
		if a.tool != nil && versions[a.slot.Cell.Tool] == "" {
			versions[a.slot.Cell.Tool] = toolVersion(ctx, a.tool)
			result.Environment.ToolVersion = versions[a.slot.Cell.Tool]
		}
		if a.run.Raw != "" {
			names = append(names, a.run.Raw)
		}
		if a.run.Error == "" {
			g.parse(a, versions[a.slot.Cell.Tool])
		}
		result.Cells = append(result.Cells, a.run)
	}
	if err := writeJSON(filepath.Join(g.config.Dir, record.ResultFile), result); err != nil {
		return nil, err
	}
	return append(names, record.ResultFile), nil
}

func (g *Generator) parse(a *attempt, version string) {
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
	m.Args, m.ToolVersion = a.args, version
	m.Unknown = append(m.Unknown, a.unknown...)
	a.run.Measurement = &m
}
