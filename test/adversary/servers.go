package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The faults of planted servers. The empty one is the honest server.
const (
	slowStart   = "slow-start"
	fastFirst   = "fast-first"
	aging       = "aging"
	stall       = "stall"
	collector   = "garbage-collection"
	wrongLater  = "wrong-later"
	wrongHeader = "wrong-by-header"
	wrongFew    = "wrong-1-in-1000"
	smaller     = "smaller-later"
	lonely      = "lonely"
	daemon      = "daemon"
	offload     = "offload"
	child       = "child"
)

const (
	answerBytes = 1000
	// busyFrom requests begin the life of a server: checks before the load make fewer.
	busyFrom = 200
	// phase is how long slowStart is slow and fastFirst fast, under load.
	phase = 2 * time.Second
	// pauseEvery and pause are the rhythm of stall.
	pauseEvery, pause = time.Second, 190 * time.Millisecond
	// honestFor requests of a connection get the right answer from wrongLater, and a few from smaller.
	honestFor, honestFew = 2000, 3
	// fewConnections are treated well by smaller, and badly by lonely, which lets each request wait.
	fewConnections, lonelyWait = 4, time.Millisecond
	// wrongEvery is the rhythm of wrongFew.
	wrongEvery = 1000
	// heap is what collector allocates in steps before it forgets all.
	heapSteps, heapStep, heapPause = 200, 1 << 20, 5 * time.Millisecond
	slower                         = 4
)

// server answers requests of HTTP/1.1 with a fixed page, after some work.
type server struct {
	fault             string
	work              time.Duration
	good, wrong, tiny []byte

	requests, connections atomic.Int64
	// begun is when the load began, in nanoseconds since 1970; 0 before.
	begun  atomic.Int64
	paused atomic.Bool
	// helper does the work of offload.
	helper *helper
}

func page(fill byte, size int) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", size, bytes.Repeat([]byte{fill}, size))
}

// serve runs a planted server on a port until it is killed.
func serve(fault string, port int, work time.Duration) error {
	if fault == child {
		return help(os.Stdin, os.Stdout)
	}
	if fault == daemon {
		return daemonize(port, work)
	}
	s := &server{fault: fault, work: work, good: page('x', answerBytes), wrong: page('y', answerBytes), tiny: page('x', answerBytes/slower)}
	switch fault {
	case stall:
		go s.pauseAgain()
	case collector:
		go litter()
	case offload:
		h, err := startHelper()
		if err != nil {
			return err
		}
		s.helper = h
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go s.connection(c)
	}
}

// daemonize starts a server in a new session, whose parent ends at once, and waits.
func daemonize(port int, work time.Duration) error {
	const again = "LOADSTONE_ADVERSARY_DAEMON"
	arguments := []string{"serve", "--fault=" + daemon, "--port=" + strconv.Itoa(port), "--work=" + work.String()}
	next := map[string]string{"": "parent", "parent": "daemon"}[os.Getenv(again)]
	if next == "" {
		return serve("", port, work)
	}
	cmd := exec.Command(os.Args[0], arguments...) //nolint:noctx // Whoever started this process ends all.
	cmd.Env = append(os.Environ(), again+"="+next)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	if next == "daemon" {
		return nil // The daemon is an orphan now.
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	for {
		time.Sleep(time.Hour)
	}
}

func (s *server) pauseAgain() {
	for {
		time.Sleep(pauseEvery - pause)
		s.paused.Store(true)
		time.Sleep(pause)
		s.paused.Store(false)
	}
}

func litter() {
	var kept [][]byte
	for {
		kept = append(kept, make([]byte, heapStep))
		if len(kept) == heapSteps {
			kept = nil
			runtime.GC()
		}
		time.Sleep(heapPause)
	}
}

func (s *server) connection(c net.Conn) {
	s.connections.Add(1)
	defer func() {
		s.connections.Add(-1)
		_ = c.Close() // The client is gone.
	}()
	in := bufio.NewReader(c)
	for n := 1; ; n++ {
		named, err := readRequest(in)
		if err != nil {
			return
		}
		if s.requests.Add(1) == busyFrom {
			s.begun.Store(time.Now().UnixNano())
		}
		out, work := s.answer(n, named)
		if s.helper != nil {
			s.helper.spin(work)
		} else {
			spin(work)
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

// readRequest reads a request without a body. named means that the client gives its name in a header, which wrk does not.
func readRequest(in *bufio.Reader) (named bool, err error) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return named, err
		}
		if len(line) <= len("\r\n") {
			return named, nil
		}
		named = named || strings.HasPrefix(strings.ToLower(string(line)), "user-agent:")
	}
}

// age is how long the server has been under load.
func (s *server) age() time.Duration {
	begun := s.begun.Load()
	if begun == 0 {
		return 0
	}
	return time.Duration(time.Now().UnixNano() - begun)
}

// answer returns the answer to the nth request of a connection, and the work before it.
func (s *server) answer(n int, named bool) ([]byte, time.Duration) {
	switch s.fault {
	case slowStart:
		if s.age() < phase {
			return s.good, slower * s.work
		}
	case fastFirst:
		if s.age() >= phase {
			return s.good, slower * s.work
		}
	case aging: // A tenth slower in each second.
		return s.good, time.Duration(float64(s.work) * (1 + s.age().Seconds()/10))
	case stall:
		for s.paused.Load() {
			time.Sleep(time.Millisecond)
		}
	case wrongLater:
		if n > honestFor {
			return s.wrong, 0
		}
	case wrongHeader:
		if !named {
			return s.wrong, 0
		}
	case wrongFew:
		if s.requests.Load()%wrongEvery == 0 {
			return s.wrong, s.work
		}
	case smaller:
		if n > honestFew && s.connections.Load() > fewConnections {
			return s.tiny, 0
		}
	case lonely:
		if s.connections.Load() < fewConnections {
			time.Sleep(lonelyWait)
		}
	}
	return s.good, s.work
}

// spin uses a CPU for some time.
func spin(d time.Duration) {
	for until := monotonic() + int64(d); d > 0 && monotonic() < until; {
	}
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // This clock always exists.
	return t.Nano()
}

// helper is a child that works for a server: each order is a number of nanoseconds, each answer one byte.
type helper struct {
	mu  sync.Mutex
	in  io.Writer
	out io.Reader
}

func startHelper() (*helper, error) {
	cmd := exec.Command(os.Args[0], "serve", "--fault="+child) //nolint:noctx // Whoever started this process ends all.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return nil, err
	}
	return &helper{in: in, out: out}, cmd.Start()
}

func (h *helper) spin(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, errIn := h.in.Write(binary.NativeEndian.AppendUint64(nil, uint64(d)))
	_, errOut := io.ReadFull(h.out, make([]byte, 1))
	if err := errors.Join(errIn, errOut); err != nil {
		panic(err) // The server is useless without its child.
	}
}

func help(in io.Reader, out io.Writer) error {
	order := make([]byte, 8)
	for {
		if _, err := io.ReadFull(in, order); err != nil {
			return nil //nolint:nilerr // The server has ended.
		}
		spin(time.Duration(binary.NativeEndian.Uint64(order)))
		if _, err := out.Write([]byte{1}); err != nil {
			return err
		}
	}
}
