package socket

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const patience = 2 * time.Minute

// end is the common interface of both kinds.
type end interface {
	SendMsg(b []byte, m Msg) error
	RecvMsg(b []byte) (int, Msg, error)
	CloseWrite() error
	Close() error
}

func forBoth(t *testing.T, kind Kind, test func(t *testing.T, a, b end)) {
	t.Helper()
	run := func(name string, a, b end, err error) {
		t.Run(name, func(t *testing.T) {
			if err != nil {
				t.Fatal(err)
			}
			before := openFiles(t)
			t.Cleanup(func() {
				if after := openFiles(t); !t.Failed() && after != before-2 {
					t.Errorf("%d descriptors were left open", after-before+2)
				}
			})
			test(t, a, b)
			for _, e := range []end{a, b} {
				if err := e.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			}
		})
	}
	a, b, err := Pair(kind)
	run("Socket", a, b, err)
	c, d, err := PolledPair(kind)
	run("Polled", c, d, err)
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func null(t *testing.T) int {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return int(f.Fd())
}

func send(t *testing.T, to end, b []byte, m Msg) {
	t.Helper()
	if err := to.SendMsg(b, m); err != nil {
		t.Fatal(err)
	}
}

// within fails a test whose function does not return.
func within(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatalf("%s does not come back", what)
		return nil
	}
}

func TestMessagesArriveWholeInOrderAndThenTheEnd(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		messages := [][]byte{{1}, bytes.Repeat([]byte{2}, 1<<16), []byte("message")}
		for _, m := range messages {
			send(t, a, m, Msg{})
		}
		if err := a.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 1<<17)
		for _, want := range messages {
			n, m, err := b.RecvMsg(buffer)
			if err != nil || !bytes.Equal(buffer[:n], want) || len(m.Fds) > 0 || m.HasCred {
				t.Errorf("got %d bytes beside %v, %v; want %d bytes", n, m, err, len(want))
			}
		}
		for range 2 {
			if _, _, err := b.RecvMsg(buffer); !errors.Is(err, io.EOF) {
				t.Errorf("got %v, want the end", err)
			}
		}
		send(t, b, []byte("back"), Msg{})
		if n, _, err := a.RecvMsg(buffer); err != nil || string(buffer[:n]) != "back" {
			t.Errorf("the other direction: %q, %v", buffer[:n], err)
		}
	})
}

func TestALargeMessageOnAStreamArrivesInPartsWithItsDescriptorFirst(t *testing.T) {
	forBoth(t, Stream, func(t *testing.T, a, b end) {
		t.Helper()
		want := make([]byte, 1<<20)
		for i := range want {
			want[i] = byte(i * 7 / 5)
		}
		fd := null(t)
		sent := make(chan error, 1)
		go func() { sent <- errors.Join(a.SendMsg(want, Msg{Fds: []int{fd}}), a.CloseWrite()) }()
		var got []byte
		var fds []int
		for buffer := make([]byte, 1<<16); ; {
			n, m, err := b.RecvMsg(buffer)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Fds) > 0 && len(got) > 0 {
				t.Error("a descriptor came later than the first byte")
			}
			got, fds = append(got, buffer[:n]...), append(fds, m.Fds...)
		}
		if err := <-sent; err != nil || !bytes.Equal(got, want) || len(fds) != 1 {
			t.Fatalf("got %d bytes and %d descriptors, %v", len(got), len(fds), err)
		}
		_ = unix.Close(fds[0])
	})
}

func TestDescriptorsArriveOpenAndAreNotInherited(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		send(t, a, []byte("two"), Msg{Fds: []int{int(r.Fd()), int(w.Fd())}})
		_, m, err := b.RecvMsg(make([]byte, 10))
		if err = errors.Join(err, r.Close(), w.Close()); err != nil || len(m.Fds) != 2 {
			t.Fatalf("got %v, %v", m.Fds, err)
		}
		for _, fd := range m.Fds {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("a program started now would inherit descriptor %d: flags %x, %v", fd, flags, err)
			}
		}
		buffer := make([]byte, 10)
		_, err = unix.Write(m.Fds[1], []byte("through"))
		n, err2 := unix.Read(m.Fds[0], buffer)
		if err = errors.Join(err, err2, unix.Close(m.Fds[0]), unix.Close(m.Fds[1])); err != nil || string(buffer[:n]) != "through" {
			t.Errorf("through the pipe came %q, %v", buffer[:n], err)
		}
	})
}

func TestAsManyDescriptorsAsTheKernelTakesBesideCredentials(t *testing.T) {
	a, b, err := Pair(SeqPacket)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	defer a.Close()
	if err := b.PassCred(); err != nil {
		t.Fatal(err)
	}
	fds := make([]int, MaxFds, MaxFds+1)
	for i := range fds {
		fds[i] = null(t)
	}
	send(t, a, []byte("many"), Msg{Fds: fds, Cred: Self(), HasCred: true})
	_, m, err := b.RecvMsg(make([]byte, 10))
	if err != nil || len(m.Fds) != MaxFds || !m.HasCred || m.Cred != Self() {
		t.Errorf("got %d descriptors, credentials %v, %v", len(m.Fds), m.Cred, err)
	}
	m.drop()
	if err := a.SendMsg([]byte("more"), Msg{Fds: append(fds, fds[0])}); !errors.Is(err, ErrTooManyFds) {
		t.Errorf("one more: got %v", err)
	}
}

func TestTheKernelVouchesForCredentials(t *testing.T) {
	a, b, err := Pair(SeqPacket)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	defer a.Close()
	if err := b.PassCred(); err != nil {
		t.Fatal(err)
	}
	nobody := Self()
	nobody.Pid = 1<<31 - 1
	if err := a.SendMsg([]byte("lie"), Msg{Cred: nobody, HasCred: true}); err == nil {
		t.Error("the credentials of a process that is not there were sent")
	}
	send(t, a, []byte("plain"), Msg{})
	if _, m, err := b.RecvMsg(make([]byte, 10)); err != nil || m.Cred != Self() {
		t.Errorf("a message without credentials came with %v, %v", m.Cred, err)
	}
	if err := a.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.RecvMsg(make([]byte, 10)); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end", err)
	}
}

func TestABadDescriptorIsAnErrorAndNothingIsSent(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		if err := a.SendMsg([]byte("bad"), Msg{Fds: []int{null(t), 1 << 20}}); !errors.Is(err, unix.EBADF) {
			t.Errorf("got %v, want EBADF", err)
		}
		send(t, a, []byte("good"), Msg{})
		buffer := make([]byte, 10)
		if n, m, err := b.RecvMsg(buffer); err != nil || string(buffer[:n]) != "good" || len(m.Fds) > 0 {
			t.Errorf("got %q beside %v, %v", buffer[:n], m, err)
		}
	})
}

func TestAMessageThatDoesNotFitIsAnErrorAndItsDescriptorsAreClosed(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		fd := null(t)
		before := openFiles(t)
		send(t, a, []byte("message"), Msg{Fds: []int{fd, fd, fd}})
		if n, m, err := b.RecvMsg(make([]byte, 6)); !errors.Is(err, ErrTruncated) || n != 0 || len(m.Fds) > 0 {
			t.Errorf("got %d bytes beside %v, %v", n, m, err)
		}
		if after := openFiles(t); after != before {
			t.Errorf("%d descriptors were left open", after-before)
		}
		send(t, a, []byte("next"), Msg{})
		if n, _, err := b.RecvMsg(make([]byte, 6)); n != 4 || err != nil {
			t.Errorf("the next message: %d bytes, %v", n, err)
		}
	})
}

func TestDescriptorsWithoutRoomAreAnErrorAndTheOthersAreClosed(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		switch b := b.(type) {
		case *Socket:
			b.in.control = b.in.control[:unix.CmsgSpace(8)]
		case *Polled:
			b.in.control = b.in.control[:unix.CmsgSpace(8)]
		}
		fd := null(t)
		before := openFiles(t)
		send(t, a, []byte("message"), Msg{Fds: []int{fd, fd, fd}})
		if n, m, err := b.RecvMsg(make([]byte, 10)); !errors.Is(err, ErrControlTruncated) || n != 0 || len(m.Fds) > 0 {
			t.Errorf("got %d bytes beside %v, %v", n, m, err)
		}
		if after := openFiles(t); after != before {
			t.Errorf("%d descriptors were left open", after-before)
		}
	})
}

func TestAProcessThatMayOpenNoMoreFilesHearsOfDescriptorsThatItLost(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		fd := null(t)
		send(t, a, []byte("message"), Msg{Fds: []int{fd, fd, fd}})
		var old unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		few := old
		few.Cur = 64
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		var filler []int
		for {
			fd, err := unix.Open(os.DevNull, unix.O_CLOEXEC, 0)
			if err != nil {
				break
			}
			filler = append(filler, fd)
		}
		_ = unix.Close(filler[0]) // Room for one of three.
		n, m, err := b.RecvMsg(make([]byte, 10))
		_, opens := unix.Open(os.DevNull, unix.O_CLOEXEC, 0)
		for _, fd := range filler {
			_ = unix.Close(fd)
		}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(err, ErrControlTruncated) || n != 0 || len(m.Fds) > 0 {
			t.Errorf("got %d bytes beside %v, %v", n, m, err)
		}
		if opens != nil {
			t.Errorf("the descriptor that came was left open: %v", opens)
		}
	})
}

func TestAMessageOfNothingIsRefused(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		if err := a.SendMsg(nil, Msg{}); !errors.Is(err, ErrEmpty) {
			t.Errorf("sending: %v", err)
		}
		if _, _, err := b.RecvMsg(nil); !errors.Is(err, ErrEmpty) {
			t.Errorf("receiving: %v", err)
		}
	})
}

func TestCloseEndsAReceiverThatWaits(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, _ end) {
		t.Helper()
		got := make(chan error, 1)
		go func() {
			_, _, err := a.RecvMsg(make([]byte, 10))
			got <- err
		}()
		time.Sleep(50 * time.Millisecond)
		if err := within(t, "Close", a.Close); err != nil {
			t.Error(err)
		}
		if err := within(t, "RecvMsg", func() error { return <-got }); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want that it is closed", err)
		}
	})
}

func TestCloseEndsASenderThatWaits(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, _ end) {
		t.Helper()
		got := make(chan error, 1)
		go func() {
			for {
				if err := a.SendMsg(make([]byte, 1000), Msg{}); err != nil {
					got <- err
					return
				}
			}
		}()
		time.Sleep(50 * time.Millisecond)
		if err := within(t, "Close", a.Close); err != nil {
			t.Error(err)
		}
		if err := within(t, "SendMsg", func() error { return <-got }); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want that it is closed", err)
		}
	})
}

func TestAClosedEndIsOfNoUse(t *testing.T) {
	a, b, err := Pair(SeqPacket)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, received := a.RecvMsg(make([]byte, 1))
	_, file := a.Detach()
	for what, err := range map[string]error{
		"sending": a.SendMsg([]byte{1}, Msg{}), "receiving": received, "ending": a.CloseWrite(), "closing": a.Close(),
		"asking for credentials": a.PassCred(), "giving it away": file,
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: got %v, want that it is closed", what, err)
		}
	}
	if err := b.SendMsg([]byte{1}, Msg{}); !errors.Is(err, unix.EPIPE) {
		t.Errorf("sending to it: got %v, want EPIPE", err)
	}
	if _, _, err := b.RecvMsg(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("receiving from it: got %v, want the end", err)
	}
}

func TestSendersAndReceiversTakeTurns(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		const senders, receivers, each = 4, 3, 3000
		fd := null(t)
		var sending, receiving sync.WaitGroup
		var lock sync.Mutex
		seen := map[uint64]bool{}
		for s := range uint64(senders) {
			sending.Go(func() {
				for i := range uint64(each) {
					var m Msg
					if i%10 == s { // Alternate with and without control data: a shared buffer would mix them up.
						m.Fds = []int{fd}
					}
					if err := a.SendMsg(binary.LittleEndian.AppendUint64(nil, i<<8|s), m); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range receivers {
			receiving.Go(func() {
				for buffer := make([]byte, 100); ; {
					n, m, err := b.RecvMsg(buffer)
					if errors.Is(err, io.EOF) {
						return
					}
					if err != nil || n != 8 {
						t.Errorf("got %d bytes, %v", n, err)
						return
					}
					number := binary.LittleEndian.Uint64(buffer)
					if has := (number>>8)%10 == number&0xff; has != (len(m.Fds) == 1) {
						t.Errorf("message %x came with %d descriptors", number, len(m.Fds))
					}
					m.drop()
					lock.Lock()
					seen[number] = true
					lock.Unlock()
				}
			})
		}
		sending.Wait()
		if err := a.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		receiving.Wait()
		if len(seen) != senders*each {
			t.Errorf("%d different messages were received, and %d sent", len(seen), senders*each)
		}
	})
}

func TestAnInheritedCopyIsAnEndOfItsOwn(t *testing.T) {
	a, b, err := Pair(SeqPacket)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	file, err := a.Detach()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := a.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closing what was given away: got %v, want that it is closed", err)
	}
	fd, err := unix.Dup(int(file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	c := New(fd)
	defer c.Close()
	send(t, c, []byte("copy"), Msg{})
	if n, _, err := b.RecvMsg(make([]byte, 10)); n != 4 || err != nil {
		t.Errorf("got %d bytes, %v", n, err)
	}
}

func TestAPlainMessageAllocatesNothing(t *testing.T) {
	forBoth(t, SeqPacket, func(t *testing.T, a, b end) {
		t.Helper()
		message, buffer := []byte("message"), make([]byte, 1024)
		allocations := testing.AllocsPerRun(1000, func() {
			send(t, a, message, Msg{})
			if n, _, err := b.RecvMsg(buffer); n != len(message) || err != nil {
				t.Fatalf("got %d bytes, %v", n, err)
			}
		})
		if allocations != 0 {
			t.Errorf("got %v allocations", allocations)
		}
	})
}
