package generate

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

// peerLoad is the tool against one peer of a duet, during one cell. One peer runs at a time; SIGSTOP freezes the other.
type peerLoad struct {
	*cellRun
	raw *os.File
	// process is nil until the tool's first turn; ended receives its end, once.
	process *process
	ended   chan error
	turns   []turn
	// sampled waits for the answers that were seen on the measured tool's connections; nil before its first turn is over.
	sampled func() *record.Audit
}

type turn struct{ from, to time.Time }

// takeTurn lets the tool run until an instant, and starts it in its first turn. It fails if the tool has ended or cannot run.
func (p *peerLoad) takeTurn(launch func() (*process, error), until time.Time) error {
	from := time.Now()
	if p.process == nil {
		if err := p.start(launch); err != nil {
			return err
		}
	} else if err := p.signal(syscall.SIGCONT); err != nil {
		return err
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case err := <-p.ended:
		p.process = nil
		return ended(err, p.raw)
	case <-timer.C:
	}
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	p.turns = append(p.turns, turn{from, time.Now()})
	return nil
}

func (p *peerLoad) start(launch func() (*process, error)) error {
	process, err := launch()
	if err != nil {
		return err
	}
	p.process, p.turns, p.run.Started = process, nil, time.Now()
	p.run.CPUsAllowed = process.cpusAllowed()
	// Buffered, since no receiver may be waiting yet.
	p.ended = make(chan error, 1)
	go func() { p.ended <- process.wait() }()
	return nil
}

// signal freezes or resumes the tool. The wait reports a tool that has ended.
func (p *peerLoad) signal(s syscall.Signal) error {
	if err := p.process.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %v to %s: %w", s, p.args[0], err)
	}
	return nil
}

func (p *peerLoad) finish() error {
	from := time.Now()
	if err := p.signal(syscall.SIGCONT); err != nil {
		return err
	}
	process := p.process
	err := <-p.ended
	p.process, p.run.Ended = nil, time.Now()
	p.run.LoadAudit = p.sampled()
	p.turns = append(p.turns, turn{from, p.run.Ended})
	switch {
	case errors.Is(err, errKilled):
		return fmt.Errorf("%s %w", p.args[0], errHung)
	case err != nil:
		return ended(err, p.raw)
	}
	state := process.cmd.ProcessState
	p.run.CPUNanos = int64(state.UserTime() + state.SystemTime())
	return nil
}

// stop kills the tool, frozen or not, and returns when it is gone.
func (p *peerLoad) stop() {
	if p.process == nil {
		return
	}
	p.process.cancel()
	<-p.ended //nolint:errcheck // It was killed: that is no news.
	p.warmed, p.process = p.process.opened(p.cellRun), nil
}

// active returns how long the tool loaded its server: its turns within the time that it says it measured. That time ends with the tool, except
// for the millisecond that it needs to print.
func (p *peerLoad) active() time.Duration {
	begin := p.run.Ended.Add(-time.Duration(p.run.Measurement.DurationMicros) * time.Microsecond)
	var sum time.Duration
	for _, t := range p.turns {
		if t.from.Before(begin) {
			t.from = begin
		}
		sum += max(t.to.Sub(t.from), 0)
	}
	return sum
}
