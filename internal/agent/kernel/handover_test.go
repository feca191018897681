package kernel_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/internal/agent/kernel"
)

// childAddress is set in the child processes of these tests.
const childAddress = "LOADSTONE_TEST_CHILD"

// tcpSockets is how many of its sockets TestHandoverChild opens with the right protocol.
const tcpSockets = 5

// TestHandoverChild is the child: it opens sockets, connects, and closes its connection on command.
func TestHandoverChild(t *testing.T) {
	address := os.Getenv(childAddress)
	if address == "" {
		return
	}
	for _, s := range [][3]int{
		{unix.AF_INET, unix.SOCK_STREAM, 0},
		{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_NONBLOCK, unix.IPPROTO_TCP},
		{unix.AF_INET6, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0},
		{unix.AF_INET6, unix.SOCK_STREAM | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK, 0},
		{unix.AF_INET, unix.SOCK_STREAM, 9999},
		{unix.AF_INET, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK, 0},
		{unix.AF_UNIX, unix.SOCK_STREAM, 0},
	} {
		fd, err := unix.Socket(s[0], s[1], s[2])
		if err != nil {
			fmt.Println(s, err)
			continue
		}
		status, errStatus := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		flags, errFlags := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		fmt.Println(s, status&unix.O_NONBLOCK, flags, errStatus, errFlags)
	}
	connection, err := net.Dial("tcp", address)
	fmt.Println("connected", err)
	in := bufio.NewReader(os.Stdin)
	_, _ = in.ReadString('\n')
	fmt.Println("closed", connection.Close())
	_, _ = io.Copy(io.Discard, in)
	os.Exit(0)
}

type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	far net.Conn
}

// handing starts a child by a function. It returns what the child has printed until it was connected.
func handing(t *testing.T, start func(*exec.Cmd) error) (c child, printed string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	c.cmd = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHandoverChild$")
	c.cmd.Env = append(os.Environ(), childAddress+"="+listener.Addr().String())
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := start(c.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.cmd.Process.Kill(); _ = c.cmd.Wait() })
	if c.far, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.far.Close() })
	for !strings.Contains(printed, "connected") {
		printed += c.line(t)
	}
	return c, printed
}

func (c child) line(t *testing.T) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func (c child) port() int { return c.far.LocalAddr().(*net.TCPAddr).Port }

// handedOver starts a child whose sockets this process opens.
func handedOver(t *testing.T) (*kernel.Handover, child, string) {
	t.Helper()
	h, err := kernel.NewHandover()
	if err != nil {
		t.Fatal(err)
	}
	c, printed := handing(t, h.Start)
	return h, c, printed
}

func TestAHandedOverSocketIsLikeTheChildsOwn(t *testing.T) {
	_, want := handing(t, (*exec.Cmd).Start)
	h, _, got := handedOver(t)
	if got != want {
		t.Errorf("the child sees\n%s, want\n%s", got, want)
	}
	if n, cost := h.Spent(); n != tcpSockets || cost <= 0 {
		t.Errorf("%d sockets were opened in %v, want %d", n, cost, tcpSockets)
	}
}

func peekAt(t *testing.T, h *kernel.Handover, port int) *kernel.Peek {
	t.Helper()
	p, err := h.Peek(port, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func ends(t *testing.T, far net.Conn, while func()) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := far.Read(make([]byte, 1))
		ended <- err
	}()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		while()
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the child has sent something")
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
	t.Error("the connection is still open")
}

func TestAHandedOverConnectionIsSeenUntilTheChildClosesIt(t *testing.T) {
	h, c, _ := handedOver(t)
	p := peekAt(t, h, c.port())
	if _, err := io.WriteString(c.far, "answer"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		seen := ""
		for end := time.Now().Add(patience); seen == "" && time.Now().Before(end); {
			p.Look(time.Second, func(_ int, waiting []byte) { seen = string(waiting) })
		}
		if seen != "answer" {
			t.Fatalf("it sees %q", seen)
		}
	}
	if _, err := io.WriteString(c.in, "close\n"); err != nil {
		t.Fatal(err)
	}
	if got := c.line(t); got != "closed <nil>\n" {
		t.Fatalf("the child says %q", got)
	}
	ends(t, c.far, func() {
		p.Look(0, func(_ int, waiting []byte) { t.Errorf("it sees %q in a closed connection", waiting) })
	})
}

func TestAHandedOverConnectionEndsWithTheChild(t *testing.T) {
	h, c, _ := handedOver(t)
	p := peekAt(t, h, c.port())
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ends(t, c.far, func() {})
	if err := h.Wait(); err != nil {
		t.Error(err)
	}
	if !p.Pause(patience) {
		t.Error("it does not see that the process has ended")
	}
	p.Look(0, func(_ int, waiting []byte) { t.Errorf("it sees %q after the end", waiting) })
}

func TestAHandoverOfAProgramThatIsMissingFails(t *testing.T) {
	h, err := kernel.NewHandover()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Start(exec.CommandContext(t.Context(), "/missing")); err == nil {
		t.Fatal("it starts")
	}
	if err := h.Wait(); err != nil {
		t.Error(err)
	}
}
