package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

const (
	listenPoll  = 20 * time.Millisecond
	sampleEvery = 100 * time.Millisecond
	// leadMeasure and leadEnd are how long before a slot's Measure and End snapshots are taken: between warm-up and measured tool, and between
	// that tool and the next cell.
	leadMeasure = 10 * time.Millisecond
	leadEnd     = 20 * time.Millisecond
)

// Config is an observer's configuration.
type Config struct {
	// Server is the observed server's index in its trial, from 0.
	Server int
	Node   string
	Dir    string
	Port   int
	// TLS: it speaks HTTPS. The check before the trial verifies its certificate, not the observer.
	TLS      bool
	Protocol record.Protocol
	// ReadyPath is polled until its status is 2xx; only then has the server started. Empty: no poll.
	ReadyPath  string
	FindServer func(kernel.Proc) (pid int, err error)
	// Keeper is the process that started the server and adopts its orphans; 0 in a pod.
	Keeper int
	// Cgroup is where the server's processes see their container's cgroup; empty if they have none. Then CPU time is the sum over the tree of
	// processes below the keeper, and a quota cannot be seen.
	Cgroup string
	// SharedNetwork: other programs use the server's network namespace; then connection counts are omitted.
	SharedNetwork bool
	Symbols       []string
	// Replies are the requests that claims about the server need, without results.
	Replies      []record.Reply
	Dependencies []string
}

// Observer reads what a server costs under load.
type Observer struct {
	config Config
	proc   kernel.Proc
	sys    string
	// sockets reads the connections to a port. Those that wait longer than patience count as hung.
	sockets func(port int, patience time.Duration) (*record.Sockets, error)
	// server is the process found by FindServer; 0 before. A later process is not the server.
	server int
	// cpu is the CPU that the server is pinned to; nil for none.
	cpu *int32

	mu sync.Mutex
	// seen is nil until the server's port is open.
	seen *atRest
}

// New makes an observer. It shares the server's process and network namespaces.
func New(c Config) *Observer {
	return &Observer{config: c, proc: "/proc", sys: "/sys", sockets: kernel.ReadSockets}
}

// Member returns the observed server's member of its trial.
func (o *Observer) Member() string { return record.MemberServer(o.config.Server) }

// Measure observes every slot and writes the samples.
func (o *Observer) Measure(ctx context.Context, start protocol.Start, done func(cell record.Cell, failure string)) (any, []string, error) {
	series, err := createSamples(o.config.Dir)
	if err != nil {
		return nil, nil, err
	}
	clock := timing.From(start.At)
	o.cpu = start.ServerCPU
	_ = o.pin() // Each cell pins again and reports errors.
	var result record.ObserverResult
	o.describeRest(&result)
	work, _ := o.work(clock.At(0)) // The reason is reported if the work after the cell is missing too.
	for _, slot := range start.Slots {
		cell := record.CellObservation{Point: record.PointOf(slot.Cell), WorkBefore: work}
		if err := o.observe(ctx, clock, slot, series, &cell); err != nil {
			cell.Error = err.Error()
			// All agents end each cell together, so wait for the slot.
			_ = timing.SleepUntil(ctx, clock.At(slot.End-leadEnd)) // The context's end is checked below.
		}
		if ctx.Err() != nil {
			return nil, nil, errors.Join(fmt.Errorf("observing: %w", ctx.Err()), series.close())
		}
		var errWork error
		work, errWork = o.work(clock.At(slot.End))
		cell.WorkAfter = work
		o.describeSpeed(&cell, errWork)
		result.Cells = append(result.Cells, cell)
		done(slot.Cell, cell.Error)
	}
	if err := series.close(); err != nil {
		return nil, nil, err
	}
	measured := ""
	if n := len(result.Cells); result.Cells[n-1].CPUsAllowed != record.Unknown {
		measured = result.Cells[n-1].CPUsAllowed
	}
	result.Environment = kernel.Environment(os.DirFS("/"), measured)
	result.Environment.Node, result.Environment.AgentVersion = o.config.Node, util.Version
	return result, []string{samplesFile}, nil
}

// observe takes one cell from first to last snapshot. The error says why the observation is incomplete.
func (o *Observer) observe(ctx context.Context, clock timing.Clock, slot timetable.Slot, series *samples, cell *record.CellObservation) error {
	if err := timing.SleepUntil(ctx, clock.At(slot.Measure-leadMeasure)); err != nil {
		return err
	}
	cell.Started, cell.CPUsAllowed = time.Now(), record.Unknown
	defer func() {
		if cell.Ended.IsZero() {
			cell.Ended = time.Now()
		}
	}()
	if err := o.locate(); err != nil {
		return err
	}
	if err := o.pin(); err != nil {
		return err
	}
	s, err := openServer(o.proc, o.server, o.config)
	if err != nil {
		return err
	}
	defer s.close()
	s.frequencies = kernel.OpenFrequencies(o.sys, s.allowedCPUs)
	cell.CPUsAllowed = s.allowed
	if s.group == nil && o.config.Cgroup != "" {
		const reason = "The server's cgroup cannot be read, so its CPU time is the sum of its processes, in steps of 10 ms: "
		cell.Unknown = append(cell.Unknown, reason+s.groupError.Error()+".")
	}
	for _, d := range s.dependencies {
		if why := d.coarse(); why != "" {
			cell.Unknown = append(cell.Unknown, why)
		}
	}
	if cell.RSSStartBytes, err = s.residentBytes(); err != nil {
		return err
	}
	before := s.snapshot()
	if err := o.sample(ctx, clock, slot, s, series, cell); err != nil {
		return err
	}
	after := s.snapshot()
	difference(cell, before, after)
	s.lookInside(cell, o.config.Cgroup != "" && o.config.Keeper == 0)
	return s.describeEnd(cell)
}

func (o *Observer) locate() error {
	if o.server != 0 {
		return nil
	}
	pid, err := o.config.FindServer(o.proc)
	if err != nil {
		return err
	}
	o.server = pid
	return nil
}

// sample reads the fast counters until the slot ends, and the connections shortly before the measured time ends.
func (o *Observer) sample(ctx context.Context, clock timing.Clock, slot timetable.Slot, s *server, series *samples, cell *record.CellObservation) error {
	end, half := slot.End-leadEnd, (slot.Measured-slot.Measure)/2
	middle, look := slot.Measure+half, slot.SocketsAt()
	run, looked := newCourse(), false
	watch := traffic{read: s.network.SegmentsOut, clock: func() time.Duration { return time.Since(clock.At(slot.Measure)) }}
	for at := slot.Measure; at < end; at += lookEvery {
		if at > look && !looked {
			if err := timing.SleepUntil(ctx, clock.At(look)); err != nil {
				return err
			}
			o.lookAtSockets(cell, time.Since(clock.At(look)), half)
			s.lookOutside(cell, o.config.Port)
			looked = true
		}
		if err := timing.SleepUntil(ctx, clock.At(at)); err != nil {
			return err
		}
		late := time.Since(clock.At(at))
		if late < lookEvery {
			watch.look()
		}
		if (at-slot.Measure)%sampleEvery != 0 {
			continue
		}
		shot, err := series.add(s, slot, clock)
		if err != nil {
			return err
		}
		run.add(shot, late)
		cell.PeakMemoryBytes = max(cell.PeakMemoryBytes, shot.resident)
		if cell.RSSMiddleBytes == 0 && at >= middle {
			cell.RSSMiddleBytes = shot.resident
		}
	}
	run.describe(cell)
	cell.Pauses = watch.pauses()
	if !looked {
		s.lookOutside(cell, o.config.Port)
	}
	return timing.SleepUntil(ctx, clock.At(end))
}

// lookAtSockets reads the server's connections. If it is late, the tool may already be closing them.
func (o *Observer) lookAtSockets(cell *record.CellObservation, late, patience time.Duration) {
	if late > timetable.SocketsLead {
		missing(cell, nameSockets, fmt.Errorf("the observer was %v late", late.Round(time.Millisecond)))
		return
	}
	found, err := o.sockets(o.config.Port, patience)
	if err != nil {
		missing(cell, nameSockets, err)
		return
	}
	cell.Sockets = found
}

func (s *server) describeEnd(cell *record.CellObservation) error {
	resident, err := s.residentBytes()
	if err != nil {
		return err
	}
	cell.RSSBytes = resident
	cell.PeakMemoryBytes = max(cell.PeakMemoryBytes, resident)
	for _, pid := range s.pids {
		p, err := s.proc.Process(pid)
		if err != nil && pid == s.root {
			missing(cell, nameThreads, err)
		}
		cell.Threads += p.Threads
	}
	if cell.Descriptors, err = s.descriptors(); err != nil {
		missing(cell, nameFiles, err)
	}
	return nil
}
