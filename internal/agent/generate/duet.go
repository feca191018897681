package generate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// duet is a cell whose two servers take turns under one load: disturbances affect both alike.
type duet struct {
	generator *Generator
	slot      timetable.Slot
	peers     [2]*peerLoad
	chance    *rand.Rand
}

// newDuet gives each peer a tool that lasts for the turns of both.
func (g *Generator) newDuet(slot timetable.Slot, start protocol.Start) *duet {
	long := slot
	long.Cell = timetable.Whole(slot.Cell)
	d := &duet{generator: g, slot: slot, chance: chance(g.config.Trial, slot.Cell)}
	for i := range d.peers {
		d.peers[i] = &peerLoad{cellRun: g.newCellRun(long, serverAt(start.Targets, start.TLS, i))}
		d.peers[i].run.Server = i
	}
	return d
}

// chance returns a random source for each cell of each trial. Repeated calls return the same sequence.
func chance(trial string, c record.Cell) *rand.Rand {
	sum := sha256.Sum256([]byte(trial + "/" + timetable.CellName(c)))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}

func (g *Generator) measureDuet(ctx context.Context, clock timing.Clock, start protocol.Start, done func(record.Cell, string)) (any, []string, error) {
	duets, hung := make([]*duet, 0, len(start.Slots)), false
	for _, slot := range start.Slots {
		d := g.newDuet(slot, start)
		err := d.run(ctx, clock)
		if ctx.Err() != nil {
			return nil, nil, fmt.Errorf("measuring: %w", ctx.Err())
		}
		for _, p := range d.peers {
			p.fail(err, hung) // A measurement of one side alone is no comparison.
		}
		hung = hung || errors.Is(err, errHung)
		duets = append(duets, d)
		done(slot.Cell, d.peers[0].run.Error)
	}
	result, names := g.concludeDuets(ctx, duets)
	return result, names, nil
}

// run takes one cell through its slot. The error says why it is not measured. No tool runs after it returns.
func (d *duet) run(ctx context.Context, clock timing.Clock) (err error) {
	if d.peers[0].tool == nil {
		return fmt.Errorf("this agent has no tool %q", d.slot.Cell.Tool)
	}
	for i := range d.peers {
		name := timetable.RawFile(d.slot.Cell, i)
		raw, errCreate := os.Create(filepath.Join(d.generator.config.Dir, name))
		if errCreate != nil {
			return fmt.Errorf("creating the raw output: %w", errCreate)
		}
		defer func() { err = errors.Join(err, raw.Close()) }()
		d.peers[i].raw, d.peers[i].run.Raw = raw, name
	}
	defer d.stop()
	if d.slot.Measure > d.slot.Warmup {
		if err := d.warmUp(ctx, clock); err != nil {
			return err
		}
	}
	return d.load(ctx, clock)
}

func (d *duet) stop() {
	for _, p := range d.peers {
		p.stop()
	}
}

// warmUp lets both tools take turns until WarmupGap before the measured time, then clears their outputs.
func (d *duet) warmUp(ctx context.Context, clock timing.Clock) error {
	from, until := clock.At(d.slot.Warmup), clock.At(d.slot.Measure-timetable.WarmupGap)
	if err := d.generator.punctual(ctx, from); err != nil {
		return err
	}
	if err := d.takeTurns(ctx, tool.Warmup, from, until, until.Add(d.generator.grace)); err != nil {
		return fmt.Errorf("the warm-up ended before its time: %w", err)
	}
	d.stop()
	for _, p := range d.peers {
		if err := p.raw.Truncate(0); err != nil {
			return fmt.Errorf("clearing the warm-up's output: %w", err)
		}
		if _, err := p.raw.Seek(0, 0); err != nil {
			return fmt.Errorf("clearing the warm-up's output: %w", err)
		}
	}
	return nil
}

// load runs the measured tools. The tool that started first ends first; each runs to its end in that order.
func (d *duet) load(ctx context.Context, clock timing.Clock) error {
	from := clock.At(d.slot.Measure)
	if err := d.generator.punctual(ctx, from); err != nil {
		return err
	}
	until := clock.At(d.slot.Measured)
	if err := d.takeTurns(ctx, tool.Measure, from, until, clock.At(d.slot.End+d.generator.grace)); err != nil {
		return err
	}
	first, second := d.peers[0], d.peers[1]
	if second.run.Started.Before(first.run.Started) {
		first, second = second, first
	}
	if err := first.finish(); err != nil {
		return err
	}
	return second.finish()
}

// takeTurns alternates the tools between two instants, which must span whole pairs of slices. A tool that ends in between is an error.
func (d *duet) takeTurns(ctx context.Context, purpose tool.Purpose, from, until, deadline time.Time) error {
	for at := from; at.Before(until); {
		first := d.chance.IntN(2)
		for _, p := range []*peerLoad{d.peers[first], d.peers[1-first]} {
			at = at.Add(timetable.DuetSlice)
			args := p.tool.Args(p.share, targetOf(p.server), purpose)
			launch := func() (*process, error) {
				return d.generator.launch(ctx, p.cellRun, args, purpose, nil, p.raw, deadline)
			}
			if err := p.takeTurn(launch, at); err != nil {
				return err
			}
			if purpose == tool.Measure && p.sampled == nil {
				p.sampled = d.generator.beginSampling(p.process, p.cellRun)
			}
		}
	}
	return nil
}

func (g *Generator) concludeDuets(ctx context.Context, duets []*duet) (record.GeneratorResult, []string) {
	c := g.conclude()
	for _, d := range duets {
		for _, p := range d.peers {
			c.add(ctx, p.cellRun)
			if p.run.Measurement != nil {
				p.run.ActiveNanos, p.run.Turns = p.active().Nanoseconds(), int64(len(p.turns))
			}
		}
		c.result.Cells = append(c.result.Cells, d.peers[0].run, d.peers[1].run)
	}
	return c.finish()
}
