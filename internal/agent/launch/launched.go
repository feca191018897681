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
	// parentPoll is the pause between two looks for the program's parent.
	parentPoll = 20 * time.Millisecond
	// ExitPoll is the pause between two looks for the end of a launch, from CPUs that are not the program's own.
	ExitPoll = 50 * time.Millisecond
	// ExitGrace is how long after a launch must have ended its parent may take to say how.
	ExitGrace = 3 * time.Second
	// Quoted is how much of a program's last words is quoted, in bytes.
	Quoted = 300
)

// Config is what an agent beside the parent of a program is told.
type Config struct {
	// Server is the place of the program among the servers of its trial, from 0.
	Server int
	// Node is the name of the node, or "unknown".
	Node string
	// Dir is where the agent's files lie; it must exist.
	Dir string
	// FindParent finds the program's parent.
	FindParent func(kernel.Proc) (pid int, err error)
	// Symbols are those that claims about the program ask for.
	Symbols []string
	// Exchange is the folder that the agent shares with the parent.
	Exchange Exchange
}

// Program is a program that its parent launches when an agent tells it to.
type Launched struct {
	config Config

	mu sync.Mutex
	// binary is the program's, nil until its parent is ready.
	binary *record.Binary
}

// New is a program of which nothing is known yet. The agent shares a process namespace with its parent.
func NewLaunched(c Config) *Launched { return &Launched{config: c} }

// Member is the member of its trial whose program this is.
func (p *Launched) Member() string { return record.MemberServer(p.config.Server) }

// Watch waits for the program's parent, and reads the program's executable before anything runs.
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

// Binary is what was read of the program's executable; nil if its parent was never ready.
func (p *Launched) Binary() *record.Binary {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.binary
}

// Ended waits for the end of a launch, and returns how it has ended: nil if its parent has not said so by the deadline.
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

// read reads the program's executable as its parent sees it.
func (p *Launched) read(path string) record.Binary {
	const proc = kernel.Proc("/proc")
	parent, err := p.config.FindParent(proc)
	if err != nil {
		return binary.Unread(err.Error())
	}
	return binary.InProcess(proc, parent, path, p.config.Symbols)
}
