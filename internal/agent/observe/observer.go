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
	// listenPoll is the pause between two looks for the server's listening socket.
	listenPoll = 20 * time.Millisecond
	// sampleEvery is the distance of samples within a cell.
	sampleEvery = 100 * time.Millisecond
	// leadMeasure and leadEnd are how much before a slot's Measure and End the snapshots are taken: between the warm-up's end
	// and the measured tool's start, and between that tool's end and the next cell.
	leadMeasure = 10 * time.Millisecond
	leadEnd     = 20 * time.Millisecond
)

// Config is what an observer is told.
type Config struct {
	// Server is the place of the observed server among those of its trial, from 0.
	Server int
	// Node is the name of the node, or "unknown".
	Node string
	// Dir is where the observer's files lie; it must exist.
	Dir string
	// Port is where the server listens.
	Port int
	// TLS says that it speaks HTTPS there. Nobody verifies its certificate here: the check before the trial does.
	TLS bool
	// Protocol is the version of HTTP in which it is asked.
	Protocol record.Protocol
	// ReadyPath is asked of the server until it answers with a status of 2xx, before which it has not started; empty asks nothing.
	ReadyPath string
	// FindServer finds the server's first process.
	FindServer func(kernel.Proc) (pid int, err error)
	// Cgroup is where the server's processes see the cgroup of their container. It is empty if they have none of their own: then their CPU
	// time is read from their CPU clocks, to which a child of the server counts only while it lives, and a quota cannot be seen.
	Cgroup string
	// SharedNetwork is true if other programs use the server's network namespace: connections that it counts may be theirs, and so are left out.
	SharedNetwork bool
	// Symbols are those that claims about the server ask for.
	Symbols []string
	// Replies are the answers that claims about the server are about, of which nothing is known yet.
	Replies []record.Reply
	// Dependencies are the names of the containers that were started before the server's, in that order.
	Dependencies []string
}

// Observer reads what a server costs while others put load on it.
type Observer struct {
	config Config
	proc   kernel.Proc
	// sys is /sys, or a test's.
	sys string
	// sockets reads the connections to a port, of which those hang that have waited for longer than patience.
	sockets func(port int, patience time.Duration) (*record.Sockets, error)
	// server is what FindServer found; 0 before. A process that appears after the server has ended is not the server.
	server int
	// cpu is where the server is put; nil leaves it where it is.
	cpu *int32

	mu sync.Mutex
	// seen is what was read of the server when somebody listened on its port; nil before.
	seen *atRest
}

// New makes an observer. It shares the server's process and network namespaces.
func New(c Config) *Observer {
	return &Observer{config: c, proc: "/proc", sys: "/sys", sockets: kernel.ReadSockets}
}

// Member is the member of its trial whose observer this is.
func (o *Observer) Member() string { return record.MemberServer(o.config.Server) }

// Measure observes every slot and writes the samples. It returns the record, a record.ObserverResult, and the names of its files; done is
// called after each cell with what went wrong in it, if anything did.
func (o *Observer) Measure(ctx context.Context, start protocol.Start, done func(cell record.Cell, failure string)) (any, []string, error) {
	series, err := createSamples(o.config.Dir)
	if err != nil {
		return nil, nil, err
	}
	clock := timing.From(start.At)
	o.cpu = start.ServerCPU
	_ = o.pin() // Every cell pins again, and says what stands against it.
	var result record.ObserverResult
	o.describeRest(&result)
	work, _ := o.work(clock.At(0)) // Why it could not be done is said where the work after the cell was not done either.
	for _, slot := range start.Slots {
		cell := record.CellObservation{Point: record.PointOf(slot.Cell), WorkBefore: work}
		if err := o.observe(ctx, clock, slot, series, &cell); err != nil {
			cell.Error = err.Error()
			// The slot is waited for, so that all agents have ended the same cells.
			_ = timing.SleepUntil(ctx, clock.At(slot.End-leadEnd)) // The context's end is looked at below.
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

// observe takes one cell from its first snapshot to its last. The error says why the observation is incomplete.
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
		const reason = "The server's cgroup cannot be read, so its CPU time is that of its processes to 10 ms: "
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
	return s.describeEnd(cell)
}

// locate finds the server's first process, once.
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

// sample reads the fast counters until the end of the slot, and the connections shortly before the end of the measured time.
func (o *Observer) sample(ctx context.Context, clock timing.Clock, slot timetable.Slot, s *server, series *samples, cell *record.CellObservation) error {
	end, half := slot.End-leadEnd, (slot.Measured-slot.Measure)/2
	middle, look := slot.Measure+half, slot.SocketsAt()
	run, looked := newCourse(), false
	for at := slot.Measure; at < end; at += sampleEvery {
		if at > look && !looked {
			if err := timing.SleepUntil(ctx, clock.At(look)); err != nil {
				return err
			}
			o.lookAtSockets(cell, time.Since(clock.At(look)), half)
			looked = true
		}
		if err := timing.SleepUntil(ctx, clock.At(at)); err != nil {
			return err
		}
		late := time.Since(clock.At(at))
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
	return timing.SleepUntil(ctx, clock.At(end))
}

// lookAtSockets reads the server's connections. Too late, they are those of a tool that closes them.
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

// describeEnd fills in how the server stands at the end of a cell.
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
