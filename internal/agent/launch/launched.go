package launch

import (
	"context"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/agent/binary"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const (
	parentPoll = 20 * time.Millisecond
	// ExitPoll is the pause between checks for a launch's end, from CPUs other than the program's.
	ExitPoll = 50 * time.Millisecond
	// ExitGrace bounds the parent's report after a launch must have ended.
	ExitGrace = 3 * time.Second
	// Quoted bounds the quoted bytes of a program's last output.
	Quoted = 300
)

// Config is the configuration of an agent that works with a program's parent.
type Config struct {
	// Server is the program's index among the trial's servers, from 0.
	Server     int
	Node       string
	Dir        string
	FindParent func(kernel.Proc) (pid int, err error)
	Symbols    []string
	Exchange   Exchange
}

// Launched is a program that its parent launches on the agent's command.
type Launched struct {
	config Config

	mu sync.Mutex
	// binary is nil until the parent is ready.
	binary *record.Binary
}

// NewLaunched returns a program with no facts yet. The agent shares a process namespace with its parent.
func NewLaunched(c Config) *Launched { return &Launched{config: c} }

// Member returns the program's member of its trial.
func (p *Launched) Member() string { return record.MemberServer(p.config.Server) }

// Watch waits for the program's parent, and reads the executable before anything runs.
func (p *Launched) Watch(ctx context.Context, update func(func(*protocol.State))) {
	for {
		program, err := p.config.Exchange.Program()
		if err != nil {
			update(func(s *protocol.State) { s.Phase, s.Message = protocol.Failed, err.Error() })
			return
		}
		if program.Path != "" {
			found := p.read(program.Path)
			p.mu.Lock()
			p.binary = &found
			p.mu.Unlock()
			update(func(s *protocol.State) { s.Listening, s.Build = true, &found.Build })
			return
		}
		if timing.SleepUntil(ctx, time.Now().Add(parentPoll)) != nil {
			return
		}
	}
}

// Binary returns facts of the program's executable; nil if its parent was never ready.
func (p *Launched) Binary() *record.Binary {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.binary
}

// Ended waits for a launch's end; nil if its parent has not reported it by the deadline.
func (p *Launched) Ended(ctx context.Context, index int, deadline time.Time) (*Exit, error) {
	for {
		exit, err := p.config.Exchange.Exited(index)
		if exit != nil || err != nil {
			return exit, err
		}
		if time.Now().After(deadline) {
			return nil, nil //nolint:nilnil // Nobody has said anything, and nothing is wrong with the exchange.
		}
		if err := timing.SleepUntil(ctx, time.Now().Add(ExitPoll)); err != nil {
			return nil, err
		}
	}
}

func (p *Launched) read(path string) record.Binary {
	const proc = kernel.Proc("/proc")
	parent, err := p.config.FindParent(proc)
	if err != nil {
		return binary.Unread(err.Error())
	}
	return binary.InProcess(proc, parent, path, p.config.Symbols)
}
