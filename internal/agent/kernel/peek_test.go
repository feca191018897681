package kernel_test

import (
	"bufio"
	"errors"
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

// heldDescriptor is the connection's number in the child that TestPeek starts.
const heldDescriptor = 3

// holding starts a child that holds one end of a connection without reading from it. It returns the other end, and its port.
func holding(t *testing.T) (*exec.Cmd, net.Conn, int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	dialed, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.Close()
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	own, err := dialed.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.ExtraFiles = []*os.File{own}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if err := own.Close(); err != nil { // Otherwise the connection outlives the process.
		t.Fatal(err)
	}
	return cmd, far, listener.Addr().(*net.TCPAddr).Port
}

func peeking(t *testing.T, cmd *exec.Cmd, port int) *kernel.Peek {
	t.Helper()
	p, err := kernel.OpenPeek(cmd.Process.Pid, port, 1, rand.New(rand.NewPCG(1, 2)))
	if errors.Is(err, unix.EPERM) && os.Getenv("CI") == "" {
		t.Skipf("a seccomp profile or Yama refuses it: %v", err)
	}
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

const patience = time.Minute

func TestPeekConsumesNothing(t *testing.T) {
	cmd, far, port := holding(t)
	p := peeking(t, cmd, port)
	if _, err := io.WriteString(far, "answer"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		seen := ""
		for end := time.Now().Add(patience); seen == "" && time.Now().Before(end); {
			p.Look(time.Second, func(descriptor int, waiting []byte) {
				if descriptor != heldDescriptor {
					t.Errorf("it is the descriptor %d, want %d", descriptor, heldDescriptor)
				}
				seen = string(waiting)
			})
		}
		if seen != "answer" {
			t.Fatalf("it sees %q", seen)
		}
	}
}

func TestPeekSeesOnlyConnectionsToTheServer(t *testing.T) {
	cmd, far, port := holding(t)
	p := peeking(t, cmd, port+1)
	if _, err := io.WriteString(far, "answer"); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		p.Look(time.Millisecond, func(_ int, waiting []byte) { t.Fatalf("it sees %q of another port", waiting) })
	}
}

func TestPeekLeavesNoConnectionOpen(t *testing.T) {
	cmd, far, port := holding(t)
	p := peeking(t, cmd, port)
	for range 100 {
		p.Look(0, func(int, []byte) {})
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); !p.Pause(time.Second); {
		if time.Now().After(end) {
			t.Fatal("it does not see that the process has ended")
		}
	}
	if err := far.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(far).ReadByte(); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("the connection is still open: %v", err)
	}
	p.Look(0, func(_ int, waiting []byte) { t.Errorf("it sees %q after the end", waiting) })
}

func TestPeekOfAnEndedProcessIsRefused(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	_, err := kernel.OpenPeek(cmd.Process.Pid, 1, 1, rand.New(rand.NewPCG(1, 2)))
	if err == nil || !strings.Contains(err.Error(), unix.ESRCH.Error()) {
		t.Errorf("the error is %v", err)
	}
}
