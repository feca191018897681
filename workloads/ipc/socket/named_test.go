package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func listen(t *testing.T, kind Kind) (*Listener, string) {
	t.Helper()
	name := fmt.Sprintf("socket-test-%d-%s", os.Getpid(), t.Name())
	l, err := Listen(kind, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l, name
}

func TestWhoConnectsToANameExchangesMessagesAsAPairDoes(t *testing.T) {
	for name, kind := range map[string]Kind{"packets": SeqPacket, "a stream": Stream} {
		t.Run(name, func(t *testing.T) {
			before := openFiles(t)
			l, at := listen(t, kind)
			a, err := Dial(kind, at)
			if err != nil {
				t.Fatal(err)
			}
			b, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if err := b.PassCred(); err != nil {
				t.Fatal(err)
			}
			// An established connection does not need the name.
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if err := a.SendMsg([]byte("hello"), Msg{Cred: Self(), HasCred: true}); err != nil {
				t.Fatal(err)
			}
			buffer := make([]byte, 10)
			n, m, err := b.RecvMsg(buffer)
			if err != nil || string(buffer[:n]) != "hello" || m.Cred != Self() {
				t.Errorf("got %q, %+v, %v", buffer[:n], m, err)
			}
			if err := errors.Join(a.Close(), b.Close()); err != nil {
				t.Error(err)
			}
			if after := openFiles(t); after != before {
				t.Errorf("%d descriptors were left open", after-before)
			}
		})
	}
}

func TestANameIsOnesAloneUntilItIsGivenBack(t *testing.T) {
	l, name := listen(t, SeqPacket)
	before := openFiles(t)
	if _, err := Listen(SeqPacket, name); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("got %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(SeqPacket, name); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
	if after := openFiles(t); after != before-1 {
		t.Errorf("%d descriptors were left open", after-before+1)
	}
	again, err := Listen(SeqPacket, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if err := again.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsAnAcceptThatWaits(t *testing.T) {
	l, _ := listen(t, Stream)
	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	time.Sleep(10 * time.Millisecond) // It may or may not wait by now: it ends all the same.
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it still waits")
	}
}

func TestNamesHaveLimits(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("n", 107)} {
		if _, err := Listen(SeqPacket, name); !errors.Is(err, ErrBadName) {
			t.Errorf("%d bytes: got %v", len(name), err)
		}
		if _, err := Dial(SeqPacket, name); !errors.Is(err, ErrBadName) {
			t.Errorf("%d bytes: got %v", len(name), err)
		}
	}
	longest := strings.Repeat("n", 99) + fmt.Sprintf("%07d", os.Getpid()%10_000_000)
	l, err := Listen(SeqPacket, longest)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
