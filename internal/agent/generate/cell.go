package generate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

type cellRun struct {
	slot   timetable.Slot
	server httpcheck.Server
	share  record.Cell
	tool   tool.Tool
	args   []string
	run    record.CellRun
	// warmed is the cost of opening the sockets of the warm-up. refused is why this process could not open those of the tool.
	warmed  opening
	refused error
	// unknown holds sentences on what could not be read.
	unknown []string
}

func (g *Generator) newCellRun(slot timetable.Slot, server httpcheck.Server) *cellRun {
	r := &cellRun{
		slot: slot, server: server, share: timetable.Share(slot.Cell, g.config.Index), run: record.CellRun{Point: record.PointOf(slot.Cell)},
	}
	if t, ok := g.tools[slot.Cell.Tool]; ok && r.share.Connections > 0 {
		r.tool, r.args = t, t.Args(r.share, targetOf(server), tool.Measure)
	}
	return r
}

func (g *Generator) put(ctx context.Context, clock timing.Clock, r *cellRun) (err error) {
	name := timetable.RawFile(r.slot.Cell, 0)
	raw, err := os.Create(filepath.Join(g.config.Dir, name))
	if err != nil {
		return fmt.Errorf("creating the raw output: %w", err)
	}
	r.run.Raw = name
	defer func() { err = errors.Join(err, raw.Close()) }()
	if r.slot.Measure > r.slot.Warmup {
		if err := g.warmUp(ctx, clock, r, raw); err != nil {
			return err
		}
	}
	err = g.load(ctx, clock, r, raw)
	return errors.Join(err, g.collect(r.tool, r.share, raw))
}

// warmUp runs the tool until WarmupGap before the measured time. A warm-up that ends early is an error, and its output is kept.
func (g *Generator) warmUp(ctx context.Context, clock timing.Clock, r *cellRun, raw *os.File) error {
	if err := g.punctual(ctx, clock.At(r.slot.Warmup)); err != nil {
		return err
	}
	defer g.discard(r.tool, r.share, targetOf(r.server))
	args := r.tool.Args(r.share, targetOf(r.server), tool.Warmup)
	end := clock.At(r.slot.Measure - timetable.WarmupGap)
	p, err := g.launch(ctx, r, args, tool.Warmup, nil, raw, end)
	if err != nil {
		return err
	}
	audited := g.beginAudit(p.ctx, r, end.Add(-auditLead))
	err = p.wait()
	r.run.Audit, r.warmed = audited(), p.opened(r)
	if !errors.Is(err, errKilled) {
		return fmt.Errorf("the warm-up ended before its time: %w", toolEnded(r.tool, err, raw))
	}
	if err := raw.Truncate(0); err != nil {
		return fmt.Errorf("clearing the warm-up's output: %w", err)
	}
	if _, err := raw.Seek(0, 0); err != nil {
		return fmt.Errorf("clearing the warm-up's output: %w", err)
	}
	return nil
}

const (
	// waitLead is how long before its instant a waiting tool is started. wrk needs 3 to 8 ms until it waits; four of them on one CPU need four
	// times as long. Started at the instant, their first connections lie 7 ms apart in the median, 20 at worst.
	waitLead  = 35 * time.Millisecond
	countLead = 2 * time.Millisecond
)

type beginning struct {
	process *process
	// counted holds the counters just before; probe watches for the first connection.
	counted counts
	probe   *connectionProbe
}

func (g *Generator) load(ctx context.Context, clock timing.Clock, r *cellRun, raw *os.File) error {
	begin := g.begin
	if r.tool.Waits() {
		begin = g.beginWaiting
	}
	b, err := begin(ctx, clock, r, raw)
	if err != nil {
		return err
	}
	r.run.CPUsAllowed = b.process.cpusAllowed()
	audited, sampled := g.beginMeasuredAudit(b.process.ctx, clock, r, b.probe), g.beginSampling(b.process, r)
	err = b.process.wait()
	r.run.Ended = time.Now()
	r.run.FirstConnection, r.run.MeasuredAudit, r.run.LoadAudit = b.probe.end(), audited(), sampled()
	g.difference(r, b.counted)
	if errors.Is(err, errKilled) {
		return fmt.Errorf("%s %w", r.args[0], errHung)
	}
	if err != nil {
		return toolEnded(r.tool, err, raw)
	}
	return nil
}

func (g *Generator) begin(ctx context.Context, clock timing.Clock, r *cellRun, raw *os.File) (b beginning, err error) {
	if err := g.punctual(ctx, clock.At(r.slot.Measure)); err != nil {
		return b, err
	}
	b.counted = g.count()
	r.run.Started = time.Now()
	b.process, err = g.launch(ctx, r, r.args, tool.Measure, nil, raw, clock.At(r.slot.End+g.grace))
	if err == nil {
		b.probe = g.probe(ctx, b.counted.network, 0)
	}
	return b, err
}

// beginWaiting starts a tool before its instant, then resumes it.
func (g *Generator) beginWaiting(ctx context.Context, clock timing.Clock, r *cellRun, raw *os.File) (b beginning, err error) {
	if err := timing.SleepUntil(ctx, clock.At(r.slot.Measure-waitLead)); err != nil {
		return b, err
	}
	in, gate, err := os.Pipe()
	if err != nil {
		return b, fmt.Errorf("making the pipe that the tool waits for: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	before := g.networkCounts()
	b.process, err = g.launch(ctx, r, r.args, tool.Measure, in, raw, clock.At(r.slot.End+g.grace))
	if err != nil {
		return b, errors.Join(err, gate.Close())
	}
	err = timing.SleepUntil(ctx, clock.At(r.slot.Measure-countLead))
	b.counted = g.count()
	if err == nil {
		err = g.punctual(ctx, clock.At(r.slot.Measure))
	}
	started := time.Now()
	if err = errors.Join(err, gate.Close()); err != nil {
		b.process.cancel()
		b.process.wait() //nolint:errcheck // It was killed: that is no news.
		return b, err
	}
	r.run.Started, b.probe = started, g.probe(ctx, before, 1)
	return b, nil
}

// probe starts a probe for the first connection after the given number of others; nil if it cannot be seen.
func (g *Generator) probe(ctx context.Context, before reading[record.Network], but int64) *connectionProbe {
	if before.failed != nil {
		return nil
	}
	return probeConnections(ctx, g.network, before.value.ActiveOpens+but)
}

var (
	errLate = errors.New("the generator was late for the cell")
	// errHung is the error of a tool that did not end. It can make later cells late.
	errHung = fmt.Errorf("was killed, because it had not ended %v after its time", toolGrace)
)

// fail records why the cell has no measurement. After a hung tool, the hang is the reason for being late.
func (r *cellRun) fail(err error, hung bool) {
	if err != nil {
		r.run.Error, r.run.Late = err.Error(), errors.Is(err, errLate) && !hung
	}
}

// punctual waits for an instant and fails if it is late.
func (g *Generator) punctual(ctx context.Context, instant time.Time) error {
	if err := timing.SleepUntil(ctx, instant); err != nil {
		return err
	}
	if late := time.Since(instant); late > g.maxLate {
		return fmt.Errorf("%w: %v", errLate, late.Round(time.Millisecond))
	}
	return nil
}
