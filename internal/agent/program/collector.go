package program

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const (
	leadProgram = 20 * time.Millisecond
	maxOutput   = 8 << 20
	// goFailed is the exit code of a Go test binary with a failed benchmark.
	goFailed      = 1
	programOutput = "output.txt"
	programErrors = "errors.txt"
)

// CollectorConfig is a collector's configuration.
type CollectorConfig struct {
	// Config describes the program and its parent.
	launch.Config
	Cgroup string
	// SharedNetwork: other programs use the program's network namespace.
	SharedNetwork bool
	Format        record.CaseFormat
}

// Collector starts a program that measures itself, records its costs, and parses its output.
type Collector struct {
	*launch.Launched
	config CollectorConfig
}

// NewCollector makes a collector that shares a process namespace and a folder with the program's parent.
func NewCollector(c CollectorConfig) *Collector {
	return &Collector{Launched: launch.NewLaunched(c.Config), config: c}
}

// Measure runs the program once. The program's own failure is a *protocol.ProgramFault, with its output files.
func (c *Collector) Measure(ctx context.Context, start protocol.Start, done func(cell record.Cell, failure string)) (any, []string, error) {
	if len(start.Slots) != 1 {
		return nil, nil, fmt.Errorf("the start has %d slots: a program runs once", len(start.Slots))
	}
	slot, clock := start.Slots[0], timing.From(start.At)
	limit := slot.Measured - slot.Measure
	if err := c.config.Exchange.Give(0, launch.Command{At: clock.At(slot.Measure), Limit: limit}); err != nil {
		return nil, nil, err
	}
	var cell record.CellObservation
	exit, err := c.observe(ctx, clock, slot.Measure, limit, &cell)
	if err != nil {
		return nil, nil, err
	}
	if err := c.config.Exchange.Collected(); err != nil {
		return nil, nil, err
	}
	program, err := c.read(*exit, limit)
	if err != nil {
		return nil, c.keepFailed(err), err
	}
	cell.VoluntarySwitches, cell.InvoluntarySwitches = exit.VoluntarySwitches, exit.InvoluntarySwitches
	cell.PeakMemoryBytes = exit.PeakMemoryBytes
	result := record.ObserverResult{Environment: kernel.Environment(os.DirFS("/"), cell.CPUsAllowed), Cells: []record.CellObservation{cell}, Program: program}
	result.Environment.Node, result.Environment.AgentVersion = c.config.Node, util.Version
	result.Binary = c.Binary()
	done(slot.Cell, "")
	return result, []string{programOutput}, nil
}

func (c *Collector) observe(ctx context.Context, clock timing.Clock, at, limit time.Duration, cell *record.CellObservation) (*launch.Exit, error) {
	parent, err := c.config.FindParent("/proc")
	if err != nil {
		return nil, fmt.Errorf("finding the program's parent: %w", err)
	}
	window, err := observe.OpenWindow(parent, c.config.Cgroup, c.config.SharedNetwork)
	if err != nil {
		return nil, err
	}
	defer window.Close()
	// The program inherits its parent's CPUs.
	cell.CPUsAllowed = window.CPUsAllowed()
	if err := timing.SleepUntil(ctx, clock.At(at-leadProgram)); err != nil {
		return nil, err
	}
	window.Begin()
	exit, err := c.Ended(ctx, 0, clock.At(at+limit+launch.ExitGrace))
	switch {
	case err != nil:
		return nil, err
	case exit == nil:
		return nil, fmt.Errorf("the program's parent did not say within %s how the program ended", limit+launch.ExitGrace)
	}
	if whole := window.End(cell); !whole {
		cell.CPUNanos = exit.UserNanos + exit.SystemNanos
	}
	return exit, nil
}

// read makes an ended program's record, and keeps its output. Errors of the program itself are faults.
func (c *Collector) read(exit launch.Exit, limit time.Duration) (*record.ProgramRun, error) {
	switch {
	case exit.TimedOut:
		return nil, &protocol.ProgramFault{Fault: protocol.FaultLimit, Message: fmt.Sprintf("it had not ended after %s", limit)}
	case exit.Code != 0 && (c.config.Format != record.GoTest && c.config.Format != record.Auto || exit.Code != goFailed):
		return nil, &protocol.ProgramFault{Fault: protocol.FaultExit, Message: c.howItEnded(exit)}
	}
	output, cut, err := c.output()
	if err != nil {
		return nil, err
	}
	var found cases.Output
	if c.config.Format == record.TimeOnly {
		found.Cases = []record.Case{cases.OfProcess(exit.Ended.Sub(exit.Started), time.Duration(exit.UserNanos+exit.SystemNanos), exit.PeakMemoryBytes)}
	} else {
		found, err = cases.Read(c.config.Format, output)
	}
	failed := slices.ContainsFunc(found.Cases, func(one record.Case) bool { return one.Failure != "" })
	switch {
	case exit.Code != 0 && (err != nil || !failed || found.Outside > 0 || c.config.Format == record.Auto && found.Format != record.GoTest):
		return nil, &protocol.ProgramFault{Fault: protocol.FaultExit, Message: c.howItEnded(exit)}
	case err != nil:
		return nil, &protocol.ProgramFault{Fault: protocol.FaultOutput, Message: strings.TrimPrefix(cut+"; "+err.Error(), "; ")}
	}
	if err := os.WriteFile(filepath.Join(c.config.Dir, programOutput), output, 0o600); err != nil {
		return nil, fmt.Errorf("keeping the program's output: %w", err)
	}
	run := &record.ProgramRun{
		Started: exit.Started, Ended: exit.Ended, UserNanos: exit.UserNanos, SystemNanos: exit.SystemNanos, PeakMemoryBytes: exit.PeakMemoryBytes,
		VoluntarySwitches: exit.VoluntarySwitches, InvoluntarySwitches: exit.InvoluntarySwitches, Output: programOutput,
	}
	if cut != "" {
		run.Unread = append(run.Unread, record.Unread{Why: cut})
	}
	found.Record(run)
	return run, nil
}

func (c *Collector) howItEnded(exit launch.Exit) string {
	how := fmt.Sprintf("exit code %d", exit.Code)
	if exit.Signal != "" {
		how = "ended by signal: " + exit.Signal
	}
	if exit.OutOfMemory {
		how = "killed because it exceeded its memory: raise implementations[].memory"
	}
	for _, file := range []string{launch.ErrorsFile, launch.OutputFile} {
		if said := c.config.Exchange.Tail(file, launch.Quoted); said != "" {
			return fmt.Sprintf("%s, last output: %q", how, said)
		}
	}
	return how
}
