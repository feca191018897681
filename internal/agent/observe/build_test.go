package observe

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const helperPort = "listen"

func listenUntilKilled() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_, _ = os.Stdout.WriteString(port + "\n")
	for {
		if conn, err := l.Accept(); err == nil {
			_, _ = conn.Read(make([]byte, 1024))
			_, _ = conn.Write([]byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
			_ = conn.Close()
		}
	}
}

func listening(t *testing.T, name string, args ...string) (pid, port int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), helperServer+"="+helperPort)
	// A shell's children would survive it, with their open files.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Cancel(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if port, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, port
}

func watched(t *testing.T, pid, port int) (*Observer, protocol.State) {
	t.Helper()
	o := observing(t, "/proc", pid)
	o.config.Port = port
	var s protocol.State
	o.Watch(t.Context(), func(change func(*protocol.State)) { change(&s) })
	if !s.Listening || s.Build == nil {
		t.Fatalf("its state is %+v", s)
	}
	return o, s
}

func TestAServerIsDescribedBeforeTheLoad(t *testing.T) {
	pid, port := listening(t, os.Args[0])
	o, s := watched(t, pid, port)
	if s.Build.Optimized.Is != record.Yes || s.Build.Stripped.Is == record.Unknown {
		t.Errorf("it was built %+v", *s.Build)
	}
	r := seen(t, o, starting(100*time.Millisecond, cell(1)), nothing)
	if r.Binary == nil || r.Binary.Go == nil || r.Binary.Path != os.Args[0] || r.Binary.Script != "" || r.Binary.Unknown != "" {
		t.Errorf("the record has the binary %+v", r.Binary)
	}
	if r.IdleBytes < 1<<20 {
		t.Errorf("at rest it holds %d bytes", r.IdleBytes)
	}
	if up := r.StartUp; up == nil || !up.AtMost || up.Millis < 0 || up.Millis > time.Minute.Milliseconds() || up.ResolutionMillis != 40 || up.AnswerMillis < max(up.Millis, 1) || !up.AnswerAtMost {
		t.Errorf("it started in %+v", r.StartUp)
	}
}

func TestClaimsGetWhatTheyAskFor(t *testing.T) {
	pid, port := listening(t, "/bin/sh", "-c", os.Args[0]+" & wait")
	o := observing(t, "/proc", pid)
	o.config.Port, o.config.Symbols, o.config.Replies = port, []string{"main.main"}, []record.Reply{{Path: "/", Text: "x"}}
	var states []protocol.State
	o.Watch(t.Context(), func(change func(*protocol.State)) {
		var s protocol.State
		change(&s)
		states = append(states, s)
	})
	if len(states) != 2 || !states[0].Up || states[0].Listening || !states[1].Listening {
		t.Errorf("it says %+v, want that the server is up before what claims ask for is known", states)
	}
	if got := o.seen.binary.Symbols; len(got) != 1 || got[0].Name != "main.main" || got[0].There.Is == "" {
		t.Errorf("the symbols are %+v", got)
	}
	var r record.ObserverResult
	o.describeRest(&r)
	if len(r.Replies) != 1 || r.Replies[0].Path != "/" || r.Replies[0].There.By == "" {
		t.Errorf("the replies are %+v", r.Replies)
	}
}

func TestTheProcessThatListensIsDescribed(t *testing.T) {
	pid, port := listening(t, "/bin/sh", "-c", os.Args[0]+" & wait")
	o, _ := watched(t, pid, port)
	if got := o.seen.binary; got.Path != os.Args[0] || got.Go == nil {
		t.Errorf("the binary is %+v", got)
	}
}

func TestAServerThatIsWatchedFromTheBeginningIsTimed(t *testing.T) {
	dir := kerneltest.Proc(t, map[string]string{
		"net/tcp6": "", "uptime": "5.25 9.00\n",
		"listens": "   0: 00000000:0001 00000000:0000 0A 0:0 0:0 0 65532 0 77 1\n",
	})
	table := filepath.Join(dir, "net/tcp")
	if err := syscall.Mkfifo(table, 0o600); err != nil {
		t.Fatal(err)
	}
	o := observing(t, kernel.Proc(dir), 7)
	o.config.Port = 1
	go func() {
		// The open succeeds at the observer's first look; the observer then sees a server that listens already.
		first, err := os.OpenFile(table, os.O_WRONLY, 0)
		if err := errors.Join(err, os.Rename(filepath.Join(dir, "listens"), table), first.Close()); err != nil {
			t.Error(err)
		}
	}()
	var s protocol.State
	o.Watch(t.Context(), func(change func(*protocol.State)) { change(&s) })
	if got := o.seen.startUp; got == nil || *got != (record.StartUp{Millis: 250, ResolutionMillis: 40}) {
		t.Errorf("it started in %+v", got)
	}
	if s.Build == nil || s.Build.Optimized.Is != record.Unknown || o.seen.binary.Unknown == "" {
		t.Errorf("a process without an executable was built %+v", s.Build)
	}
}

func TestAServerThatIsGoneIsUnknown(t *testing.T) {
	o := observing(t, kernel.Proc(kerneltest.Proc(t, nil)), 7)
	o.config.FindServer = func(kernel.Proc) (int, error) { return 0, errors.New("there is no server") }
	got := o.readServer(started{listens: time.Second})
	if got.startUp != nil || got.binary.Unknown != "there is no server" || got.binary.Build.PIE.By != "there is no server" {
		t.Errorf("got %+v", got)
	}
}
