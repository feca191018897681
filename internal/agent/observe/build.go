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

// startResolution bounds the error of a start-up time: two clocks in ticks of 10 ms, and the polling of the port.
const startResolution = 10*time.Millisecond + 10*time.Millisecond + listenPoll

// Watch waits for the server's port and first answer: until it is ready if a ready path is set, or else for a second. It then reads the
// executable and the replies for claims, and publishes all at once, so that the load does not start in between.
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

// askFirst polls the ready path, or else asks once for any answer. It returns the number of requests; 0 without an answer.
func (o *Observer) askFirst(ctx context.Context, server httpcheck.Server) int {
	if path := o.config.ReadyPath; path != "" {
		return httpcheck.Ready(ctx, server, path)
	}
	if httpcheck.Answers(ctx, server, "/") {
		return 1
	}
	return 0
}

// started holds times of start-up events since boot; 0 if unknown.
type started struct {
	listens, answers time.Duration
	// atOnce: it listened at the first look. answered: its first request was answered too.
	atOnce, answered bool
}

// since returns the durations since a process began (time since boot); nil if unknown.
func (s started) since(begin time.Duration) *record.StartUp {
	if s.listens == 0 {
		return nil
	}
	up := &record.StartUp{Millis: max(s.listens-begin, 0).Milliseconds(), ResolutionMillis: startResolution.Milliseconds(), AtMost: s.atOnce}
	if s.answers > 0 {
		// The clock may have counted no tick.
		up.AnswerMillis, up.AnswerAtMost = max((s.answers-begin).Milliseconds(), up.Millis, 1), s.answered
	}
	return up
}

func (o *Observer) sinceBoot() time.Duration {
	now, err := o.proc.SinceBoot()
	if err != nil {
		return 0
	}
	return now
}

type atRest struct {
	binary  record.Binary
	startUp *record.StartUp
	replies []record.Reply
}

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
	// A shell that started the server without exec is its parent.
	if listener, ok := o.proc.Listener(kernel.Family(all, pid), o.config.Port); ok {
		pid = listener
	}
	seen.binary = binary.OfProcess(o.proc, pid, o.config.Symbols)
	return seen
}

func (o *Observer) describeRest(result *record.ObserverResult) {
	o.mu.Lock()
	seen := o.seen
	o.mu.Unlock()
	if seen != nil {
		result.Binary, result.StartUp, result.Replies = &seen.binary, seen.startUp, seen.replies
	}
	if o.locate() != nil {
		return // Each cell reports that the server is gone.
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
