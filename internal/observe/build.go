package observe

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/binary"
	"loadstone.dev/loadstone/internal/httpcheck"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timing"
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
		return atRest{binary: unread(err.Error())}
	}
	all, err := o.proc.Processes()
	if err != nil {
		return atRest{binary: unread(err.Error())}
	}
	seen := atRest{}
	if i := slices.IndexFunc(all, func(p kernel.Process) bool { return p.PID == pid }); i >= 0 {
		seen.startUp = began.since(all[i].Start())
	}
	// A server that a shell has started, and not become, is the shell's child.
	if listener, ok := o.proc.Listener(kernel.Family(all, pid), o.config.Port); ok {
		pid = listener
	}
	seen.binary = readBinary(o.proc, pid, o.config.Symbols)
	return seen
}

// readBinary reads the executable of a process, which its container may have deleted or replaced since.
func readBinary(proc kernel.Proc, pid int, symbols []string) record.Binary {
	path := proc.Path(pid, "exe")
	name, err := os.Readlink(path)
	if err != nil {
		return unread(err.Error())
	}
	b := openBinary(path, symbols)
	b.Path, b.Script = name, script(proc, pid, name)
	b.Loaded, _ = proc.Libraries(pid) // None are known of a process that may not be read.
	return b
}

// openBinary reads an executable; of one that cannot be read nothing is known.
func openBinary(path string, symbols []string) record.Binary {
	b, err := binary.Open(path, symbols...)
	if err != nil {
		return unread(err.Error())
	}
	return b
}

// unread is a binary of which nothing is known, for a reason.
func unread(why string) record.Binary {
	f := record.Fact{Is: record.Unknown, By: why}
	return record.Binary{
		Unknown: why, BindNow: f, StackProtector: f, StackClash: f, Fortify: f, BranchTargets: f, ShadowStack: f,
		Build: record.Build{Optimized: f, DebugInfo: f, Coverage: f, Sanitizers: f, Assertions: f, Stripped: f, PIE: f, Static: f},
	}
}

// interpreters are programs that run others, by their names without a version.
var interpreters = []string{"sh", "bash", "dash", "ash", "busybox", "python", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "java", "tclsh"}

func isInterpreter(executable string) bool {
	return slices.Contains(interpreters, strings.TrimRight(filepath.Base(executable), "0123456789."))
}

// maxScript bounds the name of a script.
const maxScript = 200

// script is what an interpreter runs, by its first argument that is no flag; empty for any other program.
func script(proc kernel.Proc, pid int, executable string) string {
	if !isInterpreter(executable) {
		return ""
	}
	text, err := os.ReadFile(proc.Path(pid, "cmdline"))
	if err != nil {
		return record.Unknown
	}
	args := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	for _, arg := range args[1:] {
		switch {
		case arg == "-c", arg == "-e":
			return "an inline program" // Its text may hold anything, and be long.
		case arg != "" && !strings.HasPrefix(arg, "-"):
			return strings.ToValidUTF8(arg[:min(len(arg), maxScript)], "")
		}
	}
	return record.Unknown
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
