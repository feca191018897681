package observe

import (
	"context"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/launch"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timing"
)

// launched is what is known of a program beside whose parent an agent works.
type launched struct {
	config   Config
	exchange launch.Exchange
	proc     kernel.Proc

	mu sync.Mutex
	// binary is the program's, nil until its parent is ready.
	binary *record.Binary
}

// Member is the member of its trial whose program this is.
func (l *launched) Member() string { return record.MemberServer(l.config.Server) }

// Watch waits for the program's parent, and reads the program's executable before anything runs.
func (l *launched) Watch(ctx context.Context, update func(func(*protocol.State))) {
	for {
		program, err := l.exchange.Program()
		if err != nil {
			update(func(s *protocol.State) { s.Phase, s.Message = protocol.Failed, err.Error() })
			return
		}
		if program.Path != "" {
			found := l.readProgram(program.Path)
			l.mu.Lock()
			l.binary = &found
			l.mu.Unlock()
			update(func(s *protocol.State) { s.Listening, s.Build = true, &found.Build })
			return
		}
		if timing.SleepUntil(ctx, time.Now().Add(listenPoll)) != nil {
			return
		}
	}
}

// executable is what was read of the program's executable; nil if its parent was never ready.
func (l *launched) executable() *record.Binary {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.binary
}

// readProgram reads an executable as the program's parent sees it.
func (l *launched) readProgram(path string) record.Binary {
	parent, err := l.config.FindServer(l.proc)
	if err != nil {
		return unread(err.Error())
	}
	found := openBinary(l.proc.Path(parent, "root", path), l.config.Symbols)
	found.Path = path
	if isInterpreter(path) {
		found.Script = record.Unknown
		found.Build = unread("the program is run by an interpreter").Build
	}
	return found
}
