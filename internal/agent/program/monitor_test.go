package program

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// serverOfProfiles is a variable that makes the test binary a server: "ADDRESS MODE NUMBER".
const serverOfProfiles = "LOADSTONE_TEST_PROFILED"

const (
	// well: answers all; encrypted: the same over TLS; stubborn: the same, but ignores stop signals; odd: answers wrongly; mortal: ends; mute:
	// sends nothing.
	well      = "well"
	encrypted = "encrypted"
	stubborn  = "stubborn"
	odd       = "odd"
	mortal    = "mortal"
	mute      = "mute"
)

const aMinute = time.Minute

func TestMain(m *testing.M) {
	if asked := os.Getenv(serverOfProfiles); asked != "" {
		serveProfiled(asked)
	}
	os.Exit(m.Run())
}

func serveProfiled(asked string) {
	var address, mode string
	var right int64
	if _, err := fmt.Sscan(asked, &address, &mode, &right); err != nil {
		panic(err)
	}
	told := make(chan os.Signal, 1)
	if signal.Notify(told, syscall.SIGTERM); mode != stubborn {
		go func() {
			<-told
			os.Exit(0)
		}()
	}
	var answered atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := answered.Add(1); {
		case n <= right || mode == well || mode == stubborn || mode == encrypted:
			_, _ = io.WriteString(w, "hello from "+r.URL.Path)
		case mode == mortal:
			fmt.Fprintln(os.Stderr, "out of answers")
			os.Exit(3)
		case mode == mute:
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	})
	if mode != encrypted {
		panic(http.ListenAndServe(address, handler))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener = listener
	server.StartTLS()
	select {} // It is ended from outside.
}

func somewhere(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // Nobody has connected.
	octet := func() string { return strconv.Itoa(1 + rand.IntN(250)) }
	return net.JoinHostPort("127."+octet()+"."+octet()+"."+octet(), strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// serves returns the command of a server. A shell starts it, so that it is not taken for a Go program.
func serves(t *testing.T, address, mode string, right int) []string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`%s='%s %s %d' exec "$0"`, serverOfProfiles, address, mode, right)
	return []string{"/bin/sh", "-c", script, own}
}

// launcher fakes valgrind's launcher and is named after it: it writes recorded files to the requested place, and becomes the program. Tool
// FAILS fails instead.
const launcher = `#!/bin/sh
write() { cp "RECORDED/$1" "$(echo "${2#*=}" | sed s/%p/7/)"; }
for arg; do
	case "$arg" in
	--tool=FAILS) fails=yes ;;
	--log-file=*) log=$arg; write testdata/messages/planted.log "$arg" ;;
	--callgrind-out-file=*) [ -n "$fails" ] || write callgrind/testdata/planted.out "$arg" ;;
	--cachegrind-out-file=*) write callgrind/testdata/cachegrind.out "$arg" ;;
	--massif-out-file=*) write massif/testdata/planted.out "$arg" ;;
	--xml-file=*) write memcheck/testdata/planted.xml "$arg" ;;
	--xtree-memory-file=*) write memcheck/testdata/planted.xtree "$arg" ;;
	--*) ;;
	*) break ;;
	esac
	shift
done
[ -z "$fails" ] || { write testdata/messages/crash.log "$log"; exit 1; }
exec "$@"
`

const loader = `#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp RECORDED/testdata/strace/planted.txt "$2"
shift 3
exec "$@"
`

// monitored is a monitor with its exchange folder and a toolbox whose tools include one that fails.
type monitored struct {
	*Monitor
	x    launch.Exchange
	task record.Profile
}

func monitoring(t *testing.T, tool, fails profiler.Tool) monitored {
	t.Helper()
	m := monitored{x: launch.Exchange(t.TempDir())}
	recorded, err := filepath.Abs("../../profiler")
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("RECORDED", recorded, "FAILS", string(fails))
	for file, text := range map[string]string{"valgrind/launcher": launcher, "lib/loader": loader} {
		path := filepath.Join(m.x.Path(profiler.ToolboxFolder), file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fill.Replace(text)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.task = record.Profile{
		Name: "p", Tool: tool, Request: record.Request{Path: "/path", Expect: record.Expect{Status: 200, Body: new("hello from /path")}}, Requests: 20,
		Connections: 1, Repeats: 1, LimitSeconds: 300,
	}
	parent := func(kernel.Proc) (int, error) { return os.Getpid(), nil }
	m.Monitor = NewMonitor(MonitorConfig{Config: launch.Config{Dir: t.TempDir(), Node: "here", FindParent: parent, Exchange: m.x}, Task: m.task})
	return m
}

func (m monitored) profile(t *testing.T, limit time.Duration, target string, argv ...string) (record.Profiled, []string) {
	t.Helper()
	m.config.Task = m.task
	parent := make(chan error, 1)
	go func() {
		code, err := launch.Run(t.Context(), m.x, argv, io.Discard)
		if err == nil && code != 0 {
			err = fmt.Errorf("exit code %d", code)
		}
		parent <- err
	}()
	m.Watch(t.Context(), func(f func(*protocol.State)) { f(new(protocol.State)) })
	done := 0
	start := protocol.Start{At: time.Now(), Targets: []string{target}, Slots: []timetable.Slot{{Measured: limit, End: limit}}}
	result, files, err := m.Measure(t.Context(), start, func(_ record.Cell, failure string) {
		if done++; failure != "" {
			t.Errorf("the cell failed: %s", failure)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-parent; err != nil || done != 1 {
		t.Errorf("everything was collected, %d cells are done, and the parent ends with %v", done, err)
	}
	of := result.(record.ObserverResult)
	if of.Profiled == nil || of.Binary == nil || of.Environment.Node != "here" {
		t.Fatalf("the result is %+v", of)
	}
	return *of.Profiled, files
}

func TestAServerThatSpeaksTLSIsProfiled(t *testing.T) {
	t.Parallel()
	m := monitoring(t, profiler.Callgrind, "")
	m.config.TLS, m.task.Connections = true, 2
	address := somewhere(t)
	got, _ := m.profile(t, aMinute*5, address, serves(t, address, encrypted, 0)...)
	if diff := cmp.Diff([]told{{20, 0, 21, 0, false, true}, {40, 0, 41, 0, false, true}}, tellings(got.Launches)); diff != "" {
		t.Errorf("launches (-want +got):\n%s", diff)
	}
}

type told struct {
	Asked, Wrong, Right int64
	Code                int
	Killed, Answered    bool
}

func tellings(launches []record.Launch) []told {
	var all []told
	for _, l := range launches {
		all = append(all, told{l.Asked, l.Wrong, l.Requests, l.Exit.Code, l.Killed, l.FirstAnswerMillis > 0})
	}
	return all
}

func TestACountingToolSeesEveryNumberOfRequestsAsOftenAsAsked(t *testing.T) {
	t.Parallel()
	m := monitoring(t, profiler.Callgrind, "")
	m.task.Repeats, m.task.Connections = 2, 3
	address := somewhere(t)
	got, files := m.profile(t, aMinute*5, address, serves(t, address, well, 0)...)
	fewer, more := told{20, 0, 21, 0, false, true}, told{40, 0, 41, 0, false, true}
	if diff := cmp.Diff([]told{fewer, more, fewer, more}, tellings(got.Launches)); diff != "" {
		t.Fatalf("launches (-want +got):\n%s", diff)
	}
	if got.Tool != profiler.Callgrind || got.Cut != "" || got.Flame == nil {
		t.Errorf("%s, cut %q, flame %v", got.Tool, got.Cut, got.Flame)
	}
	var want []string
	for i, l := range got.Launches {
		own := []string{fmt.Sprintf("launch-%d.callgrind.7.out", i), fmt.Sprintf("launch-%d.valgrind.7.log", i)}
		want = append(want, own...)
		if diff := cmp.Diff(own, l.Files); diff != "" {
			t.Errorf("files of launch %d (-want +got):\n%s", i, diff)
		}
		if last := i == 3; l.Costs == nil || len(l.Costs.Total) == 0 || (len(l.Costs.Self) > 0) != last || (len(l.Costs.Lines) > 0) != last {
			t.Errorf("launch %d has the costs %+v: want those of all, and functions of the last alone", i, l.Costs)
		}
		if l.Said != "" || len(l.Unread) != 0 || !l.Ended.After(l.Started) {
			t.Errorf("launch %d said %q, left %+v unread, and lasted from %s to %s", i, l.Said, l.Unread, l.Started, l.Ended)
		}
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(m.config.Dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
}

func TestWhatAServerDoesUnderAProfilerIsTold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		mode    string
		right   int
		want    told
		example string
		said    string
	}{
		"it answers":                      {well, 0, told{20, 0, 21, 0, false, true}, "", ""},
		"it answers wrongly after a time": {odd, 10, told{20, 11, 10, 0, false, true}, "GET /path answered 404 instead of 200", ""},
		"it ends after a time":            {mortal, 10, told{10, 1, 10, 3, false, true}, "GET /path got no answer", "out of answers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := monitoring(t, profiler.Memcheck, "")
			address := somewhere(t)
			got, _ := m.profile(t, aMinute*5, address, serves(t, address, tc.mode, tc.right)...)
			if diff := cmp.Diff([]told{tc.want}, tellings(got.Launches)); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			l := got.Launches[0]
			if !strings.HasPrefix(l.Example, tc.example) || (l.Example == "") != (tc.example == "") || l.Said != tc.said {
				t.Errorf("example %q, said %q", l.Example, l.Said)
			}
			if l.Memcheck == nil || l.Memcheck.Verdicts.Errors.Answer != profiler.Found || got.Flame != nil {
				t.Errorf("memcheck has found %+v", l.Memcheck)
			}
		})
	}
}

func TestAServerThatEndsAtOnceIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	m := monitoring(t, profiler.Strace, "")
	got, _ := m.profile(t, time.Hour, somewhere(t), "/bin/sh", "-c", "echo no configuration >&2; exit 3")
	want := told{Code: 3}
	if diff := cmp.Diff([]told{want, want}, tellings(got.Launches)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	for _, l := range got.Launches {
		if l.Said != "no configuration" || !strings.Contains(l.Example, "GET /path got no answer") || l.Calls == nil {
			t.Errorf("it said %q, example %q, calls %v", l.Said, l.Example, l.Calls)
		}
	}
}

// The number of launches depends on the machine, but missing ones must be reported.
func TestALimitCutsOffTheLaunchesThatHaveNoTime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limit time.Duration
		most  int
	}{
		"little time is left for the first": {leastLeft / 2, 1},
		"the first uses it up":              {leastLeft + 2*time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := monitoring(t, profiler.Callgrind, "")
			m.task.Repeats, m.task.LimitSeconds = 3, 7
			address := somewhere(t)
			got, files := m.profile(t, tc.limit, address, serves(t, address, mute, 0)...)
			n := len(got.Launches)
			if n == 0 || !strings.Contains(got.Cut, "limitSeconds 7") || !strings.HasSuffix(got.Cut, "raise it, or lower requests") || n > tc.most {
				t.Errorf("%d launches, cut %q", n, got.Cut)
			}
			for _, l := range got.Launches {
				if l.Asked != 0 || l.FirstAnswerMillis != 0 || !strings.Contains(l.Example, "GET /path got no answer") {
					t.Errorf("of a server that never answers is told %+v", tellings(got.Launches))
				}
			}
			if len(files) != 2*n {
				t.Errorf("of %d launches there are the files %v", n, files)
			}
		})
	}
}

func TestAServerThatDoesNotEndWhenItIsToldToIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("the grace of a server is 20 s")
	}
	t.Parallel()
	m := monitoring(t, profiler.Memcheck, "")
	address := somewhere(t)
	got, _ := m.profile(t, aMinute*5, address, serves(t, address, stubborn, 0)...)
	if diff := cmp.Diff([]told{{20, 0, 21, 137, true, true}}, tellings(got.Launches)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if e := got.Launches[0].Exit; e.Signal != "SIGKILL" {
		t.Errorf("it ended with %+v", e)
	}
}

func TestAProgramOfGoGetsTheToolThatSeesIt(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// It lists nothing and ends at once.
	program := []string{own, "-test.run=^$"}
	for name, tc := range map[string]struct {
		asked, used profiler.Tool
		launches    int
		remarks     int
		cut         string
	}{
		"callgrind, which fails at Go":        {profiler.Callgrind, profiler.Cachegrind, 2, 1, ""},
		"massif, which does not see its heap": {profiler.Massif, profiler.MassifPages, 1, 1, ""},
		"memcheck, which sees nothing of it":  {profiler.Memcheck, profiler.Memcheck, 0, 0, "memcheck was not run"},
		"strace, which sees all of it":        {profiler.Strace, profiler.Strace, 2, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := monitoring(t, tc.asked, "")
			got, files := m.profile(t, aMinute*5, somewhere(t), program...)
			if got.Tool != tc.used || len(got.Launches) != tc.launches || len(got.Remarks) != tc.remarks || !strings.HasPrefix(got.Cut, tc.cut) || (got.Cut == "") != (tc.cut == "") {
				t.Errorf("%d launches under %s, remarks %+v, cut %q", len(got.Launches), got.Tool, got.Remarks, got.Cut)
			}
			if _, err := os.Stat(m.x.Path(launch.OutputFile)); (err == nil) != (tc.launches > 0) || (len(files) > 0) != (tc.launches > 0) {
				t.Errorf("whether it was launched is not what is told: %v, files %v", err, files)
			}
			for _, l := range got.Launches {
				if l.Tool != tc.used || len(l.Unread) != 0 {
					t.Errorf("a launch is of %s, unread %+v", l.Tool, l.Unread)
				}
			}
		})
	}
}

func TestWhereAProfilerFailsAtTheFirstLaunchAnotherTakesItsPlace(t *testing.T) {
	t.Parallel()
	m := monitoring(t, profiler.Callgrind, profiler.Callgrind)
	address := somewhere(t)
	got, files := m.profile(t, aMinute*5, address, serves(t, address, well, 0)...)
	if diff := cmp.Diff([]told{{20, 0, 21, 0, false, true}, {40, 0, 41, 0, false, true}}, tellings(got.Launches)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Tool != profiler.Cachegrind || len(got.Remarks) != 1 || got.Remarks[0].Code != profiler.ToolCrashed || got.Flame != nil {
		t.Errorf("%s with the remarks %+v", got.Tool, got.Remarks)
	}
	for _, l := range got.Launches {
		if l.Tool != profiler.Cachegrind || l.Costs == nil {
			t.Errorf("a launch is of %s with the costs %v", l.Tool, l.Costs)
		}
	}
	if !slices.Contains(files, "launch-0.valgrind.7.log") || !slices.Contains(files, "launch-1.cachegrind.7.out") {
		t.Errorf("what failed leaves its files, too: %v", files)
	}
}

func TestAProfileHasOneSlotAndOneTarget(t *testing.T) {
	m := monitoring(t, profiler.Strace, "")
	for name, start := range map[string]protocol.Start{
		"nothing":     {At: time.Now()},
		"no target":   {At: time.Now(), Slots: make([]timetable.Slot, 1)},
		"two slots":   {At: time.Now(), Slots: make([]timetable.Slot, 2), Targets: []string{"a:1"}},
		"two targets": {At: time.Now(), Slots: make([]timetable.Slot, 1), Targets: []string{"a:1", "b:1"}},
	} {
		if _, _, err := m.Measure(t.Context(), start, func(record.Cell, string) { t.Errorf("%s: a cell is done", name) }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAProgramForOtherCPUsIsNotLaunched(t *testing.T) {
	of := func(arch string) *record.Binary { return &record.Binary{Path: "/srv/server", Arch: arch} }
	for name, tc := range map[string]struct {
		binary *record.Binary
		goarch string
		want   string
	}{
		"the node's own":              {of("x86-64"), "amd64", ""},
		"another one's":               {of("arm64"), "amd64", "it was not launched: /srv/server is a program for arm64, but the node's CPUs are x86-64: use an image for x86-64"},
		"the other way round":         {of("x86-64"), "arm64", "it was not launched: /srv/server is a program for x86-64, but the node's CPUs are arm64: use an image for arm64"},
		"what the node's CPUs run":    {of("x86"), "amd64", ""},
		"nobody could read the file":  {of(""), "amd64", ""},
		"nobody has looked":           {nil, "amd64", ""},
		"a node that nobody can name": {of("x86-64"), "mips", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := foreign(tc.binary, tc.goarch); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// An executable of another architecture is not started; the result says so.
func TestAnImageForOtherCPUsIsAFinding(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(own[18:], uint16(elf.EM_S390))
	program := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(program, own, 0o700); err != nil {
		t.Fatal(err)
	}
	m := monitoring(t, profiler.Strace, "")
	got, files := m.profile(t, aMinute*5, somewhere(t), program)
	if len(got.Launches) != 0 || len(files) != 0 || !strings.Contains(got.Cut, "is a program for S390") {
		t.Errorf("%d launches, cut %q", len(got.Launches), got.Cut)
	}
}

func TestWhatABinaryTellsProfilersOfItself(t *testing.T) {
	static := record.Binary{Build: record.Build{Static: record.Fact{Is: record.Yes}}}
	for name, tc := range map[string]struct {
		binary *record.Binary
		want   profiler.Program
	}{
		"it was not read":                 {nil, profiler.Program{}},
		"nothing is known":                {&record.Binary{Allocator: record.Unknown}, profiler.Program{}},
		"the C library's allocator":       {&record.Binary{Allocator: "glibc"}, profiler.Program{}},
		"another C library's":             {&record.Binary{Allocator: "musl"}, profiler.Program{}},
		"an allocator of its own":         {&record.Binary{Allocator: "mimalloc"}, profiler.Program{Allocator: "mimalloc"}},
		"Go":                              {&record.Binary{Allocator: "Go runtime", Go: &record.GoBuild{}}, profiler.Program{Go: true}},
		"it is static":                    {&static, profiler.Program{Static: true}},
		"io_uring":                        {&record.Binary{Libraries: []string{"libc.so.6", "liburing.so.2"}}, profiler.Program{IOUring: true}},
		"a library with a similar ending": {&record.Binary{Libraries: []string{"xliburing.so.2"}}, profiler.Program{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := programFacts(tc.binary); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestOnlyOrdinaryFilesOfAProfilerAreKept(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"callgrind.7.out", "valgrind.7.log", "with space"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(folder, "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(large.Truncate(maxProfile+1), large.Close()); err != nil {
		t.Fatal(err)
	}
	s := &profiling{Monitor: monitoring(t, profiler.Callgrind, "").Monitor}
	kept, err := s.keepFiles(folder, "launch-3")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "sub", "large"} {
		if slices.Contains(kept, "launch-3."+name) {
			t.Errorf("%s is kept", name)
		}
	}
	for _, name := range []string{"callgrind.7.out", "valgrind.7.log"} {
		text, err := os.ReadFile(filepath.Join(s.config.Dir, "launch-3."+name))
		if err != nil || string(text) != name || !slices.Contains(kept, "launch-3."+name) {
			t.Errorf("%s is not kept: %q, %v", name, text, err)
		}
	}
}
