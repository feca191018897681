package generate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// openingShare is half of what sampling may use.
const openingShare = 2.0 * sampleShare

var (
	errRefused  = errors.New("this container may not duplicate the tool's connections (pidfd_getfd)")
	errPerOne   = errors.New("opening them for the tool costs too much, since each serves one request")
	errNoWarmup = errors.New("without a warm-up, it is unknown what opening them for the tool costs")
)

// launch starts the tool of a cell. Where this process may not duplicate the tool's sockets, it opens them for the tool if that is cheap. The
// warm-up shows what it costs.
func (g *Generator) launch(ctx context.Context, r *cellRun, args []string, purpose tool.Purpose, in, out *os.File, deadline time.Time) (*process, error) {
	var handover *kernel.Handover
	if !g.duplicates && r.refused == nil && r.slot.Cell.Script == nil && r.server.TLS == nil {
		if r.refused = r.tooCostly(purpose, g.openingShare); r.refused == nil {
			handover, r.refused = kernel.NewHandover()
		}
		if r.refused != nil { // It holds for the measured time as well.
			handover, r.refused = nil, fmt.Errorf("%w: %w", errRefused, r.refused)
		}
	}
	return launch(ctx, g.config.Dir, args, r.share, in, out, deadline, handover)
}

// opening is what a tool's sockets cost so far.
type opening struct {
	sockets int64
	// own is this process's CPU time for them. It is the whole cost, within a tenth: the tool saves what it pays for waiting.
	own time.Duration
	// cell is the CPU time that the cell has used.
	cell time.Duration
}

func (p *process) opened(r *cellRun) (o opening) {
	if p.handover == nil {
		return o
	}
	o.sockets, o.own = p.handover.Spent()
	o.cell = p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	if alwaysBusy(r) {
		o.cell = time.Since(p.began)
	}
	return o
}

// tooCostly returns why the tool's sockets cannot be opened for it; nil if they can.
func (r *cellRun) tooCostly(purpose tool.Purpose, part float64) error {
	c := r.share
	switch {
	case c.Connection != record.KeepAlive:
		return errPerOne
	case c.WarmupSeconds == 0:
		return errNoWarmup
	case purpose == tool.Warmup:
		return nil
	}
	return r.warmed.affordable(int64(c.Connections), float64(c.DurationSeconds)/float64(c.WarmupSeconds), part)
}

// affordable returns an error if connecting, and connecting again as often as in the warm-up, costs more than one part in so many. longer is the
// measured time in units of the warm-up.
func (o opening) affordable(connections int64, longer, part float64) error {
	if o.sockets == 0 {
		return errors.New("the tool opened none in the warm-up")
	}
	expected := float64(min(o.sockets, connections)) + float64(max(o.sockets-connections, 0))*longer
	share := expected * float64(o.own) / float64(o.sockets) / (float64(o.cell) * longer)
	if share*part > 1 {
		return fmt.Errorf("opening %.0f for the tool costs %.2g%% of the CPU time", expected, 100*share)
	}
	return nil
}

// alwaysBusy reports whether either the tool or the server is busy all the time.
func alwaysBusy(r *cellRun) bool {
	return r.share.RequestsPerSecond == 0 && timetable.Servers(r.slot.Cell) == 1
}
