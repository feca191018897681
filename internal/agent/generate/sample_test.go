package generate

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/tool/wrk"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

type answered struct{}

// cheating answers rightly to the first requests of each connection, and then with as many bytes of garbage. An auditor's connection never
// gets that far.
func cheating(t *testing.T, honest int64) (address string, accepted *atomic.Int64) {
	t.Helper()
	accepted = &atomic.Int64{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := "helloworld"
		if r.Context().Value(answered{}).(*atomic.Int64).Add(1) > honest {
			body = "yyyyyyyyyy"
		}
		_, _ = io.WriteString(w, body) // The tool may be gone.
	}))
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		accepted.Add(1)
		return context.WithValue(ctx, answered{}, new(atomic.Int64))
	}
	server.Start()
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), accepted
}

// sampledCell is a load of a tool without a warm-up: an audit would send many requests on one connection there.
func sampledCell(name record.Tool) record.Cell {
	c := cell(4, 0)
	c.Tool, c.Connection, c.DurationSeconds = name, record.KeepAlive, 2
	if name == record.ToolVegeta { // It only sustains rates.
		c.RequestsPerSecond = 200
	}
	return c
}

func TestWrongAnswersToTheLoadAloneAreSeen(t *testing.T) {
	const always, honest = 1 << 40, 10
	for _, name := range []record.Tool{record.ToolWrk, record.ToolAb, record.ToolH2load, record.ToolK6, record.ToolVegeta} {
		testbed.Programs(t, string(name))
		for server, first := range map[string]int64{"a good server": always, "a server that cheats on busy connections": honest} {
			t.Run(string(name)+", "+server, func(t *testing.T) {
				b := newBench(t, withTools)
				c := sampledCell(name)
				target, accepted := cheating(t, first)
				if checked := b.generator.Check(t.Context(), protocol.Check{Targets: []string{target}, Requests: []record.Request{c.Request}, Cells: []record.Cell{c}}); !checked.OK() {
					t.Fatalf("the check says %q", checked.Message)
				}
				result := b.again(protocol.Start{Targets: []string{target}, Slots: timetable.Of([]record.Cell{c})}, func(o outcome) bool {
					a := o.Cells[0].LoadAudit
					return o.Cells[0].Error == "" && a != nil && (first == always || a.WrongBody > 0)
				})
				got := result.Cells[0]
				if got.Error != "" || got.Measurement == nil {
					t.Fatalf("the cell was not measured: %q", got.Error)
				}
				needsPeek(t, got.Measurement.Unknown)
				a := got.LoadAudit
				if a == nil || a.Requests == 0 || a.WrongStatus+a.Failed > 0 || a.Connections < 1 || a.Connections > accepted.Load() || (a.WrongBody > 0) == (first == always) {
					t.Fatalf("%d requests, and the answers sampled are %+v, unknown %q", got.Measurement.Requests, a, got.Measurement.Unknown)
				}
				if m := got.MeasuredAudit; m != nil && m.WrongBody+m.WrongStatus > 0 || got.Measurement.Errors.Body+got.Measurement.Errors.Status > 0 {
					t.Errorf("the tool or the audit has seen the fault, too: %+v, %+v", got.Measurement.Errors, m)
				}
				const want = `GET / answered the body "yyyyyyyyyy" instead of "helloworld" (`
				if first != always && !strings.HasPrefix(a.Example, want) {
					t.Errorf("the example is %q, want %q", a.Example, want)
				}
			})
		}
	}
}

// needsPeek skips a test where a seccomp profile or Yama refuses what sampling needs, but not in continuous integration, which allows it.
func needsPeek(t *testing.T, unknown []string) {
	t.Helper()
	if text := strings.Join(unknown, " "); strings.Contains(text, unix.EPERM.Error()) && os.Getenv("CI") == "" {
		t.Skip(text)
	}
}

func TestADuetSamplesBothServers(t *testing.T) {
	testbed.Programs(t, "wrk")
	b := newBench(t, withTool(wrk.Tool{}))
	good, _ := cheating(t, 1<<40)
	bad, _ := cheating(t, 50)
	targets := []string{good, bad}
	c := duetCell(2, 0)
	if checked := b.generator.Check(t.Context(), protocol.Check{Targets: targets, Requests: []record.Request{c.Request}}); !checked.OK() {
		t.Fatalf("the check says %q", checked.Message)
	}
	result := b.again(protocol.Start{Targets: targets, Slots: timetable.Of([]record.Cell{c})}, func(o outcome) bool {
		return len(o.Cells) == 2 && o.Cells[0].LoadAudit != nil && o.Cells[1].LoadAudit != nil && o.Cells[1].LoadAudit.WrongBody > 0
	})
	for i, got := range result.Cells {
		if got.Error != "" || got.Measurement == nil {
			t.Fatalf("the cell was not measured: %q", got.Error)
		}
		needsPeek(t, got.Measurement.Unknown)
		if a := got.LoadAudit; a == nil || a.Requests == 0 || (a.WrongBody > 0) != (i == 1) {
			t.Errorf("of server %d it was sampled that %+v, unknown %q", i, a, got.Measurement.Unknown)
		}
	}
}

func TestALoadThatCannotBeSampledIsNamed(t *testing.T) {
	ended := &process{cmd: exec.CommandContext(t.Context(), "true")}
	if err := ended.cmd.Run(); err != nil {
		t.Fatal(err)
	}
	body := "hello"
	compared, differs := cell(1, 0), cell(1, 0)
	compared.Request.Expect.Body = &body
	differs.Request.Expect.AnyBody = true
	tls := &record.TLS{}
	const unknown = "The answers on the load's own connections are unknown: "
	for name, tc := range map[string]struct {
		tool record.Tool
		cell record.Cell
		tls  *record.TLS
		want string
	}{
		"TLS":                                 {record.ToolWrk, compared, tls, unknown + "TLS encrypts them."},
		"TLS, and a body for k6 to compare":   {record.ToolK6, compared, tls, ""},
		"TLS, and no body for k6 to compare":  {record.ToolK6, cell(1, 0), tls, unknown + "TLS encrypts them."},
		"TLS, and vegeta that takes any body": {record.ToolVegeta, differs, tls, ""},
		"a script":                            {record.ToolWrk, scripted("web"), nil, ""},
		"a tool that has ended":               {record.ToolWrk, compared, nil, unknown + "opening the process (pidfd_open): no such process."},
		"k6 that has ended":                   {record.ToolK6, compared, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(Config{Trial: testTrial}, nil, nil)
			r := &cellRun{
				slot: timetable.Slot{Cell: tc.cell}, share: tc.cell, tool: tools.All("")[tc.tool],
				server: httpcheck.Server{Address: "127.0.0.1:1", TLS: tc.tls},
			}
			if got := g.beginSampling(ended, r)(); got != nil {
				t.Errorf("it is %+v", got)
			}
			if got := strings.Join(r.unknown, "|"); got != tc.want {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
		})
	}
}

// A container's default seccomp profile forbids sampling.
func TestAForbiddenSampleIsNamed(t *testing.T) {
	running := &process{cmd: exec.CommandContext(t.Context(), "cat")}
	if _, err := running.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := running.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.cmd.Process.Kill(); _ = running.cmd.Wait() })
	c := cell(1, 0)
	r := &cellRun{slot: timetable.Slot{Cell: c}, share: c, tool: wrk.Tool{}, server: httpcheck.Server{Address: "127.0.0.1:1"}}
	ended := make(chan error)
	go func() {
		runtime.LockOSThread() // The filter holds for this thread, which ends with its goroutine.
		err := forbid(unix.SYS_PIDFD_GETFD)
		if err == nil {
			New(Config{Trial: testTrial}, nil, nil).beginSampling(running, r)()
		}
		ended <- err
	}()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	const want = "The answers on the load's own connections are unknown: the kernel, a seccomp profile or Yama refuses pidfd_getfd: operation not permitted."
	if got := strings.Join(r.unknown, "|"); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// forbid makes a system call fail with EPERM in this thread.
func forbid(call uint32) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // The number of the system call.
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// playedLooker plays a process of ten seconds. Waking up and looking have a cost.
type playedLooker struct {
	now, own time.Duration
	looks    int
}

func (p *playedLooker) Pause(d time.Duration) bool {
	p.now += d
	p.own += 60 * time.Microsecond
	return p.now > 10*time.Second
}

func (p *playedLooker) Look(time.Duration, func(int, []byte)) {
	p.own += 150 * time.Microsecond
	p.looks++
}

func TestSamplingSpendsItsShareOnLooks(t *testing.T) {
	for share, least := range map[float64]int{1: 35, 0.5: 17, 0.1: 3} {
		p := &playedLooker{}
		own := func() (int64, error) { return p.own.Nanoseconds(), nil }
		all := func() (int64, error) { return int64(share * float64(p.now.Nanoseconds())), nil }
		if err := sample(p, own, all, httpcheck.NewSampler(nil, time.Time{})); err != nil {
			t.Fatal(err)
		}
		allowed := share*10e9/sampleShare + 270e3
		if p.looks < least || float64(p.own.Nanoseconds()) > allowed {
			t.Errorf("a cell that uses %v of a CPU is looked at %d times for %v, want at least %d for at most %v ns", share, p.looks, p.own, least, allowed)
		}
	}
}

// BenchmarkSampling prints the CPU time of sampling as a share of that of tool and server, and how many answers are compared per second.
func BenchmarkSampling(b *testing.B) {
	program := buildFaulty(b)
	for name, connections := range map[string]int32{"duplicated": 4, "handed over": 4, "64 handed over": 64} {
		b.Run(name, func(b *testing.B) { benchmarkSampling(b, program, connections, name != "duplicated") })
	}
}

func benchmarkSampling(b *testing.B, program string, connections int32, handedOver bool) {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	server, port := faultyServer(b, program)
	raw, err := os.Create(b.TempDir() + "/raw")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = raw.Close() })
	cpu := func(n int64, err error) float64 {
		if err != nil {
			b.Fatal(err)
		}
		return float64(n)
	}
	g, c := New(Config{Trial: testTrial, Dir: b.TempDir()}, nil, nil), sampledCell(record.ToolWrk)
	c.Connections, c.WarmupSeconds, g.duplicates = connections, 1, !handedOver
	r := &cellRun{slot: timetable.Slot{Cell: c}, share: c, server: httpcheck.Server{Address: "127.0.0.1:" + strconv.Itoa(port)}}
	args := wrk.Tool{}.Args(c, tool.Target{Address: r.server.Address}, tool.Measure)
	var own, cell, answers, seconds, opening, sockets float64
	for b.Loop() {
		p, err := g.launch(b.Context(), r, args, tool.Warmup, nil, raw, time.Now().Add(patience))
		if err != nil {
			b.Fatal(err)
		}
		ended, began, served := inBackground(p.wait), time.Now(), cpu(kernel.ProcessCPUNanos(server))
		peek, err := g.openPeek(p, r)
		if err != nil {
			b.Fatal(err)
		}
		s := httpcheck.NewSampler([]httpcheck.Expectation{httpcheck.Expect(c.Request)}, began)
		sampling, err := p.samplingCPU()
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(sample(peek, sampling, used(p.cmd.Process.Pid, r), s), peek.Close()); err != nil {
			b.Fatal(err)
		}
		own += cpu(sampling())
		if err := ended(); err != nil {
			b.Fatal(err)
		}
		seconds += time.Since(began).Seconds()
		cell += float64(p.cmd.ProcessState.UserTime()+p.cmd.ProcessState.SystemTime()) + cpu(kernel.ProcessCPUNanos(server)) - served
		o := p.opened(r)
		opening, sockets = opening+float64(o.own.Microseconds()), sockets+float64(o.sockets)
		if found := s.Found(); found != nil {
			answers += float64(found.Requests)
		}
	}
	b.ReportMetric(100*own/cell, "%ofTheCell")
	b.ReportMetric(answers/seconds, "answers/s")
	b.ReportMetric(opening/max(sockets, 1), "µs/socket")
}
