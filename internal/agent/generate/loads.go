package generate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	// spareDescriptors is how many descriptors a tool needs in addition to its connections.
	spareDescriptors = 64
	probeLimit       = 10 * time.Second
	// probeFile is the raw output of a trial run, relative to the agent's folder.
	probeFile = "probe.txt"
)

type machine struct {
	descriptors func() (uint64, error)
	ports       func() (int32, error)
}

func thisMachine() machine {
	return machine{descriptors: kernel.DescriptorLimit, ports: kernel.Proc("/proc").LocalPorts}
}

// checkLoads checks that this generator can open the connections of each cell and has the scripts. The error is a sentence.
func (g *Generator) checkLoads(cells []record.Cell) error {
	descriptors, err := g.machine.descriptors()
	if err != nil {
		return err
	}
	ports, err := g.machine.ports()
	if err != nil {
		return err
	}
	for _, c := range cells {
		share := timetable.Share(c, g.config.Index).Connections
		if need := uint64(share) + spareDescriptors; share > 0 && need > descriptors {
			return fmt.Errorf("loads[%s].levels: %d connections in a generator need %d descriptors, but its container may open only %d: lower connections, or raise generators.pods", c.Load, share, need, descriptors)
		}
		if share > ports {
			return fmt.Errorf("loads[%s].levels: %d connections in a generator need as many local ports, but its pod has only %d: lower connections, or raise generators.pods", c.Load, share, ports)
		}
		script := tool.ScriptPath(g.scripts, c)
		if script == "" {
			continue
		}
		if _, err := os.Stat(script); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("loads[%s].script: the operator did not send it: use operator and agent of the same version", c.Load)
		} else if err != nil {
			return fmt.Errorf("loads[%s].script: %w", c.Load, err)
		}
	}
	return nil
}

// tryScripts runs each load's script once, for the shortest time its tool allows. The error is a sentence.
func (g *Generator) tryScripts(ctx context.Context, c protocol.Check) error {
	// A tool dies with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tried := map[string]bool{}
	for _, cell := range c.Cells {
		share := timetable.Share(cell, g.config.Index)
		t, able := g.tools[cell.Tool]
		if cell.Script == nil || tried[cell.Load] || share.Connections == 0 || !able {
			continue
		}
		tried[cell.Load] = true
		if share.Search != nil {
			share.RequestsPerSecond = share.Search.StartRequestsPerSecond
		}
		if err := g.try(ctx, t, share, targetOf(serverAt(c.Targets, c.TLS, 0))); err != nil {
			return fmt.Errorf("loads[%s].script: %w", cell.Load, err)
		}
	}
	return nil
}

func (g *Generator) try(ctx context.Context, t tool.Tool, share record.Cell, target tool.Target) (err error) {
	if err := g.writeFiles(t, share, target); err != nil {
		return err
	}
	path := filepath.Join(g.config.Dir, probeFile)
	raw, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("creating the probe's output: %w", err)
	}
	defer func() { err = errors.Join(err, raw.Close(), os.Remove(path)) }()
	defer g.discard(t, share, target)
	args := t.Args(share, target, tool.Probe)
	p, err := launch(ctx, g.config.Dir, args, share, nil, raw, time.Now().Add(probeLimit), nil)
	if err != nil {
		return err
	}
	if err := p.wait(); errors.Is(err, errKilled) {
		return fmt.Errorf("%s had not ended after %v", args[0], probeLimit)
	} else if err != nil {
		return ended(err, raw)
	}
	if err := g.collect(t, share, raw); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the probe's output: %w", err)
	}
	_, err = t.Parse(text)
	return err
}
