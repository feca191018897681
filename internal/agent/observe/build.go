package observe

import (
	"context"
	"net"
	"slices"
	"strconv"
	"time"

	"loadstone.dev/loadstone/internal/agent/binary"
	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// startResolution is to what a start-up time is right: the process's start and the time since boot are in ticks of 10 ms, and the port is
// looked at every so often.
const startResolution = 10*time.Millisecond + 10*time.Millisecond + listenPoll

// Watch waits for the server's port, and for its first answer: until it says that it is ready, if it is to be asked for that, and for a second
// otherwise. It reads the server's executable then, asks for what claims are about, and says all at once, so that nobody starts the load in between.
func (o *Observer) Watch(ctx context.Context, update func(func(*protocol.State))) {
	began := started{atOnce: true}
	for !o.proc.Listening(o.config.Port) {
		began.atOnce = false
		if timing.SleepUntil(ctx, time.Now().Add(listenPoll)) != nil {
			return
		}
	}
	began.listens = o.sinceBoot()
	server := httpcheck.Unverified(net.JoinHostPort("127.0.0.1", strconv.Itoa(o.config.Port)), o.config.TLS)
	server.Protocol = o.config.Protocol
	if asked := o.askFirst(ctx, server); asked > 0 {
		began.answers, began.answered = o.sinceBoot(), began.atOnce && asked == 1
	}
	if ctx.Err() != nil {
		return
	}
	update(func(s *protocol.State) { s.Up = true })
	seen := o.readServer(began)
	seen.replies = askAll(ctx, server, o.config.Replies)
	o.mu.Lock()
	o.seen = &seen
	o.mu.Unlock()
	update(func(s *protocol.State) { s.Listening, s.Build = true, &seen.binary.Build })
}

// askFirst asks a server until it says that it is ready, if it is to be asked for that, and once for any answer otherwise. It returns how often
// it has asked; 0 if there was no answer.
func (o *Observer) askFirst(ctx context.Context, server httpcheck.Server) int {
	if path := o.config.ReadyPath; path != "" {
		return httpcheck.Ready(ctx, server, path)
	}
	if httpcheck.Answers(ctx, server, "/") {
		return 1
	}
	return 0
}

// started is when a server did what, since the boot; 0 where that is not known.
type started struct {
	listens, answers time.Duration
	// atOnce says that it listened when it was first looked at, and answered that it answered its first request besides.
	atOnce, answered bool
}

// since is how long a process that began at some instant since the boot took; nil if that is not known.
func (s started) since(begin time.Duration) *record.StartUp {
	if s.listens == 0 {
		return nil
	}
	up := &record.StartUp{Millis: max(s.listens-begin, 0).Milliseconds(), ResolutionMillis: startResolution.Milliseconds(), AtMost: s.atOnce}
	if s.answers > 0 {
		// A clock of ticks may count none of them.
		up.AnswerMillis, up.AnswerAtMost = max((s.answers-begin).Milliseconds(), up.Millis, 1), s.answered
	}
	return up
}

// sinceBoot is the time since the boot; 0 if nobody can tell.
func (o *Observer) sinceBoot() time.Duration {
	now, err := o.proc.SinceBoot()
	if err != nil {
		return 0
	}
	return now
}

// atRest is what is known of a server before anything is measured.
type atRest struct {
	binary  record.Binary
	startUp *record.StartUp
	replies []record.Reply
}

// readServer reads how the server was built and how long it took to start.
func (o *Observer) readServer(began started) atRest {
	pid, err := o.config.FindServer(o.proc)
	if err != nil {
		return atRest{binary: binary.Unread(err.Error())}
	}
	all, err := o.proc.Processes()
	if err != nil {
		return atRest{binary: binary.Unread(err.Error())}
	}
	seen := atRest{}
	if i := slices.IndexFunc(all, func(p kernel.Process) bool { return p.PID == pid }); i >= 0 {
		seen.startUp = began.since(all[i].Start())
	}
	// A server that a shell has started, and not become, is the shell's child.
	if listener, ok := o.proc.Listener(kernel.Family(all, pid), o.config.Port); ok {
		pid = listener
	}
	seen.binary = binary.OfProcess(o.proc, pid, o.config.Symbols)
	return seen
}

// describeRest fills in what was known of the server before the load, and what it holds in memory now.
func (o *Observer) describeRest(result *record.ObserverResult) {
	o.mu.Lock()
	seen := o.seen
	o.mu.Unlock()
	if seen != nil {
		result.Binary, result.StartUp, result.Replies = &seen.binary, seen.startUp, seen.replies
	}
	if o.locate() != nil {
		return // Each cell says that the server is gone.
	}
	s, err := openServer(o.proc, o.server, o.config)
	if err != nil {
		return
	}
	defer s.close()
	if n, err := s.residentBytes(); err == nil {
		result.IdleBytes = n
	}
}
