package program

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/base/timing"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const (
	profileLead = 20 * time.Millisecond
	// leastStart is the minimum limit for a server's first answer, whatever its readiness.timeoutSeconds: a profiler slows the start.
	// stopGrace bounds its end after a stop signal.
	leastStart = 60 * time.Second
	stopGrace  = 20 * time.Second
	leastLeft  = 5 * time.Second
	maxProfile = 64 << 20
	ownFile    = 0o600
)

// MonitorConfig is a monitor's configuration.
type MonitorConfig struct {
	// Config describes the server and its parent.
	launch.Config
	Task record.Profile
	// TLS: the server speaks HTTPS. Its certificate is not verified.
	TLS bool
	// StopSignal tells the server to end. Default: SIGTERM.
	StopSignal string
	// StartLimit bounds the time from start to first answer without a profiler.
	StartLimit time.Duration
}

// Monitor runs a server under a profiler, sends requests, ends it, and reads the profiler's files.
type Monitor struct {
	*launch.Launched
	config MonitorConfig
}

// NewMonitor makes a monitor that shares a process namespace and a folder with the server's parent.
func NewMonitor(c MonitorConfig) *Monitor {
	return &Monitor{Launched: launch.NewLaunched(c.Config), config: c}
}

// Measure launches the server under the profiler as often as its profile says, within its slot. A failure of the server is a finding, not an
// error.
func (m *Monitor) Measure(ctx context.Context, start protocol.Start, done func(cell record.Cell, failure string)) (any, []string, error) {
	if len(start.Slots) != 1 || len(start.Targets) != 1 {
		return nil, nil, fmt.Errorf("the start has %d slots and %d targets: a profile has one of each", len(start.Slots), len(start.Targets))
	}
	slot, clock := start.Slots[0], timing.From(start.At)
	session := &profiling{Monitor: m, server: httpcheck.Unverified(start.Targets[0], m.config.TLS), deadline: clock.At(slot.Measured), program: programFacts(m.Binary())}
	if err := timing.SleepUntil(ctx, clock.At(slot.Measure)); err != nil {
		return nil, nil, err
	}
	if err := session.run(ctx); err != nil {
		return nil, nil, err
	}
	if err := m.config.Exchange.Collected(); err != nil {
		return nil, nil, err
	}
	result := record.ObserverResult{Environment: kernel.Environment(os.DirFS("/"), ""), Binary: m.Binary(), Profiled: &session.found}
	result.Environment.Node, result.Environment.AgentVersion = m.config.Node, util.Version
	done(slot.Cell, "")
	return result, session.files, nil
}

func programFacts(b *record.Binary) profiler.Program {
	if b == nil {
		return profiler.Program{}
	}
	p := profiler.Program{Static: b.Build.Static.Is == record.Yes, Go: b.Go != nil}
	if !slices.Contains([]string{"", "glibc", "musl", "Go runtime", record.Unknown}, b.Allocator) {
		p.Allocator = b.Allocator
	}
	p.IOUring = slices.ContainsFunc(b.Libraries, func(l string) bool { return strings.HasPrefix(l, "liburing") })
	return p
}

var archNames = map[string]string{"amd64": "x86-64", "arm64": "arm64"}

// foreign says that a program is for another processor than this node's; empty if it is not, or unknown.
func foreign(b *record.Binary, goarch string) string {
	own := archNames[goarch]
	if b == nil || b.Arch == "" || own == "" || b.Arch == own || b.Arch == "x86" && own == "x86-64" {
		return ""
	}
	return fmt.Sprintf("it was not launched: %s is a program for %s, but the node's CPUs are %s: use an image for %s", b.Path, b.Arch, own, own)
}

type profiling struct {
	*Monitor
	server   httpcheck.Server
	deadline time.Time
	program  profiler.Program
	// launches includes those of a failed profiler.
	launches int
	found    record.Profiled
	files    []string
}

// run makes all launches. If the profiler itself fails at the first, another replaces it.
func (s *profiling) run(ctx context.Context) error {
	s.found.Tool, s.found.Remarks = profiler.Suited(s.config.Task.Tool, s.program)
	if why, blind := profiler.Blind(s.found.Tool, s.program); blind {
		s.found.Cut = why.Sentence
		return nil
	}
	if s.found.Cut = foreign(s.Binary(), runtime.GOARCH); s.found.Cut != "" {
		return nil
	}
	for i, requests := range s.config.Task.Counts() {
		if left := time.Until(s.deadline); i > 0 && left < leastLeft {
			s.found.Cut = fmt.Sprintf("%d of %d launches were made within limitSeconds %d: raise it, or lower requests", i, len(s.config.Task.Counts()), s.config.Task.LimitSeconds)
			return nil
		}
		one, err := s.launch(ctx, requests)
		if err != nil {
			return err
		}
		if instead, remark, found := one.Instead(); i == 0 && found {
			s.found.Tool, s.found.Remarks = instead, append(s.found.Remarks, remark)
			if one, err = s.launch(ctx, requests); err != nil {
				return err
			}
		}
		s.keep(one)
		if late := !time.Now().Before(s.deadline); one.TimedOut || late && one.Asked < requests {
			s.found.Cut = fmt.Sprintf("limitSeconds %d was over after %d of %d requests of launch %d of %d: raise it, or lower requests",
				s.config.Task.LimitSeconds, one.Asked, requests, i+1, len(s.config.Task.Counts()))
			return nil
		}
	}
	return nil
}

// keep adds a launch. Functions and stacks are kept from the last launch only; they would be about the same in all.
func (s *profiling) keep(one record.Launch) {
	if n := len(s.found.Launches); n > 0 && one.Costs != nil && s.found.Launches[n-1].Costs != nil {
		costs := s.found.Launches[n-1].Costs
		costs.Self, costs.Inclusive, costs.Lines, costs.Calls = nil, nil, nil, nil
	}
	s.found.Launches = append(s.found.Launches, one)
	if len(one.Profiles) > 0 && s.found.Tool == profiler.Callgrind {
		most := slices.MaxFunc(one.Profiles, func(a, b callgrind.Profile) int { return cmp.Compare(a.Total.At(0), b.Total.At(0)) })
		graph := callgrind.OfCalls(most, 0)
		s.found.Flame = &graph
	}
}

func (s *profiling) launch(ctx context.Context, requests int64) (record.Launch, error) {
	index := s.launches
	s.launches++
	name := fmt.Sprintf("launch-%d", index)
	folder := s.config.Exchange.Path(name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return record.Launch{}, fmt.Errorf("making the profiler's folder: %w", err)
	}
	asked, err := s.config.Exchange.Program()
	if err != nil {
		return record.Launch{}, err
	}
	wrapped, err := profiler.Command(s.found.Tool, profiler.Folders{Toolbox: s.toolbox(), Output: folder}, asked.Argv)
	if err != nil {
		return record.Launch{}, err
	}
	at := time.Now().Add(profileLead)
	command := launch.Command{
		At: at, Limit: time.Until(s.deadline) + stopGrace + launch.ExitGrace, Argv: wrapped.Argv, Env: wrapped.Env,
		StopSignal: s.config.StopSignal, StopGrace: stopGrace, Counters: wrapped.Counters,
	}
	if err := s.config.Exchange.Give(index, command); err != nil {
		return record.Launch{}, err
	}
	one := record.Launch{Started: at.UTC()}
	right, err := s.ask(ctx, index, at, requests, &one)
	if err != nil {
		return one, err
	}
	exit, err := s.end(ctx, index)
	if err != nil {
		return one, err
	}
	one.Ended, one.Killed, one.TimedOut, one.OutOfMemory = exit.Ended.UTC(), exit.Killed, exit.TimedOut, exit.OutOfMemory
	if exit.Code != 0 || one.Asked == 0 {
		one.Said = s.config.Exchange.Tail(launch.ErrorsFile, launch.Quoted)
	}
	run := profiler.Run{Tool: s.found.Tool, Requests: right, Unanswered: one.Wrong, Exit: exitOf(*exit), Program: s.program}
	one.Result = profiler.Read(os.DirFS(folder), run)
	if one.Files, err = s.keepFiles(folder, name); err != nil {
		return one, err
	}
	s.files = append(s.files, one.Files...)
	return one, os.RemoveAll(folder)
}

// toolbox returns the folder of provided profilers; empty means that installed ones are used.
func (s *profiling) toolbox() string {
	folder := s.config.Exchange.Path(profiler.ToolboxFolder)
	if _, err := os.Stat(folder); err != nil {
		return ""
	}
	return folder
}

// ask waits for the server's first answer, sends the requests, and returns the number of right answers, the first one included. It stops
// waiting if the server ends.
func (s *profiling) ask(ctx context.Context, index int, at time.Time, requests int64, one *record.Launch) (int64, error) {
	alive, gone := context.WithCancel(ctx)
	defer gone()
	go func() {
		for alive.Err() == nil {
			if exit, err := s.config.Exchange.Exited(index); exit != nil || err != nil {
				gone()
			}
			_ = timing.SleepUntil(alive, time.Now().Add(launch.ExitPoll)) // It ends with the loop.
		}
	}()
	limit := at.Add(max(leastStart, s.config.StartLimit))
	if limit.After(s.deadline) {
		limit = s.deadline
	}
	first, err := httpcheck.Await(alive, s.server, s.config.Task.Request, limit)
	if err != nil {
		one.Example = err.Error()
		return 0, ctx.Err()
	}
	one.FirstAnswerMillis = max(first.Sub(at).Milliseconds(), 1)
	audit, err := httpcheck.Counted(alive, s.server, s.config.Task.Request, requests, int(s.config.Task.Connections), s.deadline)
	if err != nil {
		return 0, err
	}
	one.Asked, one.Wrong, one.Example = audit.Requests, audit.WrongStatus+audit.WrongBody+audit.Failed, audit.Example
	return one.Asked - one.Wrong + 1, ctx.Err()
}

func (s *profiling) end(ctx context.Context, index int) (*launch.Exit, error) {
	if err := s.config.Exchange.Stop(index); err != nil {
		return nil, err
	}
	exit, err := s.Ended(ctx, index, time.Now().Add(stopGrace+launch.ExitGrace))
	if err == nil && exit == nil {
		err = fmt.Errorf("the server's parent did not say within %s how the server ended", stopGrace+launch.ExitGrace)
	}
	return exit, err
}

func exitOf(e launch.Exit) profiler.Exit {
	if e.Signal == "" {
		return profiler.Exit{Code: e.Code}
	}
	return profiler.Exit{Code: e.Code, Signal: unix.SignalName(syscall.Signal(e.Code - launch.KilledBySignal))}
}

// keepFiles copies the profiler's files to the agent's, with a name prefix for each launch.
func (s *profiling) keepFiles(folder, prefix string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("keeping the profiler's files: %w", err)
	}
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxProfile || !protocol.PlainName(e.Name()) || len(names) == profiler.MaxProcesses {
			continue
		}
		name := prefix + "." + e.Name()
		if err := launch.CopyFile(filepath.Join(folder, e.Name()), filepath.Join(s.config.Dir, name), ownFile); err != nil {
			return nil, fmt.Errorf("keeping the profiler's files: %w", err)
		}
		names = append(names, name)
	}
	return names, nil
}
