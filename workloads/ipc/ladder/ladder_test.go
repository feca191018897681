package ladder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
)

// TestMain lets the test binary be the other process: a server, or one that neither receives nor exits.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "ladder-peer":
			if err := Peer(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case "deaf":
			time.Sleep(time.Hour) // It is killed.
		}
	}
	// The race detector sleeps a second at each exit, to catch late races. Here there are none.
	if err := os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// aWhile exceeds everything here on a busy machine: longer means a hang.
const aWhile = 2 * time.Minute

func within(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(aWhile):
		t.Fatal("it hangs")
	}
}

func connect(t *testing.T, rung Rung) (a, b *Conn) {
	t.Helper()
	first, second, err := rung.descriptors()
	if err != nil {
		t.Fatal(err)
	}
	a, err = rung.conn(first, true)
	b, err2 := rung.conn(second, false)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// onEachRung runs a test per rung.
func onEachRung(t *testing.T, test func(t *testing.T, rung Rung)) {
	t.Helper()
	for _, rung := range Rungs() {
		t.Run(rung.Name, func(t *testing.T) { test(t, rung) })
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

func TestMessagesOfAllSizesArriveInOrderBothWaysAtOnce(t *testing.T) {
	onEachRung(t, func(t *testing.T, rung Rung) {
		t.Helper()
		a, b := connect(t, rung)
		const rounds = 20 // Together they are larger than any buffer on the way.
		sizes := []int{Smallest, 63, 64, 4092, 4096, 4097, ringBytes - header, Largest}
		results := make(chan error)
		send := func(c *Conn, seed byte) {
			for n := range rounds {
				for _, size := range sizes {
					if err := c.Send(newScript(size, seed).number(uint64(n))); err != nil {
						results <- err
						return
					}
				}
			}
			results <- c.End()
		}
		receive := func(c *Conn, seed byte) {
			for n := range rounds {
				for _, size := range sizes {
					m, err := c.Receive()
					if err == nil {
						err = newScript(size, seed).check(m, uint64(n))
					}
					if err != nil {
						results <- err
						return
					}
				}
			}
			if m, err := c.Receive(); !errors.Is(err, io.EOF) {
				results <- fmt.Errorf("after the last message: %d bytes, %w", len(m), err)
				return
			}
			results <- nil
		}
		go send(a, 1)
		go send(b, 2)
		go receive(b, 1)
		go receive(a, 2)
		within(t, func() {
			for range 4 {
				if err := <-results; err != nil {
					t.Error(err)
					a.Close()
					b.Close()
				}
			}
		})
	})
}

func TestAMessageThatNoBufferHoldsIsRefusedAndNothingOfItIsSent(t *testing.T) {
	onEachRung(t, func(t *testing.T, rung Rung) {
		t.Helper()
		a, b := connect(t, rung)
		if err := a.Send(make([]byte, Largest+1)); !errors.Is(err, ErrTooLong) {
			t.Errorf("got %v, want %v", err, ErrTooLong)
		}
		if err := a.Send(nil); !errors.Is(err, ErrEmpty) {
			t.Errorf("got %v, want %v", err, ErrEmpty)
		}
		if err := a.Send([]byte("next")); err != nil {
			t.Fatal(err)
		}
		within(t, func() {
			if m, err := b.Receive(); err != nil || string(m) != "next" {
				t.Errorf("got %q, %v", m, err)
			}
		})
	})
}

func TestWhatIsNoMessageIsAnErrorFromThenOn(t *testing.T) {
	long := binary.LittleEndian.AppendUint32(nil, Largest+1)
	tests := map[string]struct {
		sent    []byte
		packets bool // It is wrong only if the kernel keeps messages apart.
		want    error
	}{
		"longer than the buffer":  {sent: append(long, 1), want: ErrTooLong},
		"a packet without length": {sent: []byte{1, 0}, packets: true, want: ErrTorn},
		"a packet cut short":      {sent: []byte{9, 0, 0, 0, 1}, packets: true, want: ErrTorn},
		"a packet of two":         {sent: []byte{1, 0, 0, 0, 1, 1, 0, 0, 0, 2}, packets: true, want: ErrTorn},
	}
	onEachRung(t, func(t *testing.T, rung Rung) {
		t.Helper()
		for name, tc := range tests {
			if tc.packets && !rung.packets {
				continue
			}
			a, b := connect(t, rung)
			if _, err := a.link.Write(tc.sent); err != nil {
				t.Fatal(err)
			}
			within(t, func() {
				for range 2 {
					if m, err := b.Receive(); !errors.Is(err, tc.want) {
						t.Errorf("%s: got %q, %v, want %v", name, m, err, tc.want)
					}
				}
			})
		}
	})
}

type trickle struct{ link }

func (l trickle) Read(p []byte) (int, error) { return l.link.Read(p[:1]) }

func TestShortReadsMakeWholeMessages(t *testing.T) {
	onEachRung(t, func(t *testing.T, rung Rung) {
		t.Helper()
		if rung.packets {
			t.Skip("a packet is read as a whole")
		}
		a, b := connect(t, rung)
		b.link = trickle{b.link}
		within(t, func() {
			for n := range uint64(3) {
				if err := a.Send(newScript(300, 7).number(n)); err != nil {
					t.Error(err)
					return
				}
			}
			if err := a.End(); err != nil {
				t.Error(err)
				return
			}
			for n := range uint64(3) {
				m, err := b.Receive()
				if err == nil {
					err = newScript(300, 7).check(m, n)
				}
				if err != nil {
					t.Error(err)
				}
			}
			if _, err := b.Receive(); !errors.Is(err, io.EOF) {
				t.Errorf("got %v, want the end", err)
			}
		})
	})
}

func TestAnEndThatNobodySaidIsAnErrorAfterAllThatWasSentBefore(t *testing.T) {
	onEachRung(t, func(t *testing.T, rung Rung) {
		t.Helper()
		before := openFiles(t)
		a, b := connect(t, rung)
		within(t, func() {
			for _, m := range []string{"first", "second"} {
				if err := a.Send([]byte(m)); err != nil {
					t.Error(err)
					return
				}
			}
			if err := a.Close(); err != nil {
				t.Error(err)
				return
			}
			for _, want := range []string{"first", "second"} {
				if m, err := b.Receive(); err != nil || string(m) != want {
					t.Errorf("got %q, %v, want %q", m, err, want)
				}
			}
			if err := b.SetDeadline(time.Now().Add(aWhile)); err != nil {
				t.Error(err)
			}
			for range 2 {
				if _, err := b.Receive(); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("got %v, want %v", err, io.ErrUnexpectedEOF)
				}
			}
			for b.Send(make([]byte, Largest)) == nil { // A socket may accept one more before it notices.
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		if after := openFiles(t); after > before+1 { // The runtime's poller may have been added.
			t.Errorf("%d descriptors were left open", after-before)
		}
	})
}

func TestAWaitEndsAtItsDeadlineAndTheConnectionHolds(t *testing.T) {
	onEachRung(t, func(t *testing.T, rung Rung) {
		t.Helper()
		a, b := connect(t, rung)
		within(t, func() {
			if err := b.SetDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
				t.Error(err)
				return
			}
			if _, err := b.Receive(); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("receiving what nobody sent: got %v", err)
			}
			if err := errors.Join(b.SetDeadline(time.Time{}), a.Send([]byte("late"))); err != nil {
				t.Error(err)
				return
			}
			if m, err := b.Receive(); err != nil || string(m) != "late" {
				t.Errorf("after the deadline: %q, %v", m, err)
			}
			if err := a.SetDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
				t.Error(err)
				return
			}
			var err error
			for err == nil {
				err = a.Send(make([]byte, Largest))
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("sending to one that does not receive: got %v", err)
			}
		})
	})
}

// sendAfterAPart sends a message that does not fit until a deadline, then another one, and returns its error.
func sendAfterAPart(t *testing.T, rung Rung) (ended error) {
	t.Helper()
	a, b := connect(t, rung)
	within(t, func() {
		if err := a.SetDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			t.Error(err)
		}
		if err := a.Send(make([]byte, Largest)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := b.SetDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Error(err)
		}
		if m, err := b.Receive(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("received %d bytes, %v", len(m), err)
		}
		ended = errors.Join(a.SetDeadline(time.Time{}), a.Send([]byte("x")))
	})
	return ended
}

func TestAfterAPartOfAMessageNoneIsSent(t *testing.T) {
	for _, name := range []string{"memory-futex", "memory-eventfd", "pipe"} { // These have less room than a message.
		t.Run(name, func(t *testing.T) {
			rung, _ := Find(name)
			// If the machine stalls until the deadline, no part is sent: then retry.
			err := sendAfterAPart(t, rung)
			for end := time.Now().Add(aWhile); err == nil && time.Now().Before(end); {
				err = sendAfterAPart(t, rung)
			}
			if !errors.Is(err, ErrTorn) {
				t.Errorf("got %v, want %v", err, ErrTorn)
			}
		})
	}
}

func TestCloseEndsTheWaitsOfItsOwnSide(t *testing.T) {
	onEachRung(t, func(t *testing.T, rung Rung) {
		t.Helper()
		a, _ := connect(t, rung)
		results := make(chan error, 2)
		go func() {
			_, err := a.Receive()
			results <- err
		}()
		go func() {
			var err error
			for err == nil {
				err = a.Send(make([]byte, Largest))
			}
			results <- err
		}()
		time.Sleep(5 * time.Millisecond) // Usually both wait by then; if not, they must end all the same.
		within(t, func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			for range 2 {
				if err := <-results; err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			}
		})
	})
}

func TestTheDeathOfTheOtherProcessEndsAllWaits(t *testing.T) {
	onEachRung(t, func(t *testing.T, rung Rung) {
		t.Helper()
		p, err := start(rung, 2, aWhile, "deaf")
		if err != nil {
			t.Fatal(err)
		}
		results := make(chan error, 2)
		go func() {
			_, err := p.conns[0].Receive()
			results <- err
		}()
		go func() {
			var err error
			for err == nil {
				err = p.conns[1].Send(make([]byte, Largest))
			}
			results <- err
		}()
		time.Sleep(5 * time.Millisecond) // Mostly, both wait then.
		if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		within(t, func() {
			for range 2 {
				if err := <-results; err == nil || errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got %v, want that the other side is gone", err)
				}
			}
			if err := p.end(); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Errorf("got %v, want that the process was killed", err)
			}
		})
	})
}

func TestEveryCaseEndsOnEveryRungAndLeavesNothingOpen(t *testing.T) {
	for _, rung := range Rungs() {
		for _, c := range Cases() {
			t.Run(rung.Name+"/"+c.Name, func(t *testing.T) {
				if testing.Short() && c.hello.size != 64 {
					t.Skip("one size is enough for the race detector")
				}
				before := openFiles(t)
				r, err := c.Do(rung, 2*time.Millisecond)
				if err != nil {
					t.Fatal(err)
				}
				if r.Operations < look || r.Bytes != r.Operations*uint64(c.hello.size) || r.Wall <= 0 || r.CPU <= 0 {
					t.Errorf("got %+v", r)
				}
				if after := openFiles(t); after > before+3 { // The first use leaves the runtime's poller and process descriptors.
					t.Errorf("%d descriptors were left open", after-before)
				}
			})
		}
	}
}

func TestAServerThatIsToldNonsenseSaysSo(t *testing.T) {
	good := hello{size: 64, limit: aWhile}
	tests := map[string]struct {
		say  [][]byte
		want string
	}{
		"no greeting":            {say: [][]byte{{1, 2, 3}}, want: "begins with 3 bytes"},
		"a size beyond all":      {say: [][]byte{hello{size: Largest + 1}.bytes()}, want: "want 8 to 65536"},
		"a message of no number": {say: [][]byte{hello{size: 1}.bytes()}, want: "want 8 to 65536"},
		"a wrong message":        {say: [][]byte{good.bytes(), newScript(64, askSeed+1).number(0)}, want: "message 0 is not what was sent"},
		"a message too short":    {say: [][]byte{good.bytes(), newScript(63, askSeed).number(0)}, want: "63 bytes, want 64"},
		"a message that is lost": {say: [][]byte{good.bytes(), newScript(64, askSeed).number(1)}, want: "message 0 is not what was sent"},
		"gone in the middle":     {say: [][]byte{good.bytes()}, want: "unexpected EOF"},
	}
	rung, _ := Find("unix-seqpacket")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := connect(t, rung)
			for _, m := range tc.say {
				if err := a.Send(m); err != nil {
					t.Fatal(err)
				}
			}
			if err := a.link.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			within(t, func() {
				if err := serve(b); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %s", err, tc.want)
				}
			})
		})
	}
}

func TestAnAnswerOrACountThatIsWrongIsNoticed(t *testing.T) {
	tests := map[string]struct {
		answer func(s *script, n uint64) []byte
		lost   uint64
		want   string
	}{
		"a byte that differs": {answer: func(s *script, n uint64) []byte { m := slices.Clone(s.number(n)); m[40]++; return m }, want: "message 0 is not what was sent"},
		"an answer too long":  {answer: func(s *script, n uint64) []byte { return append(slices.Clone(s.number(n)), 0) }, want: "65 bytes, want 64"},
		"an answer of before": {answer: func(s *script, n uint64) []byte { return s.number(max(n, 3) - 1) }, want: "is not what was sent"},
		"a message lost":      {answer: func(s *script, n uint64) []byte { return s.number(n) }, lost: 1, want: "received"},
	}
	rung, _ := Find("pipe")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := connect(t, rung)
			go func() { // Errors here show on the other side.
				answers := newScript(64, answerSeed)
				n := uint64(0)
				for {
					if _, err := b.Receive(); err != nil {
						break
					}
					_ = b.Send(tc.answer(&answers, n))
					n++
				}
				s := &server{conn: b, status: status{Messages: n - tc.lost, Bytes: 64 * n}}
				_ = s.report()
			}()
			within(t, func() {
				_, _, err := newClient(a, hello{answers: true, size: 64}).ask(past)
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %s", err, tc.want)
				}
			})
		})
	}
}

func TestOneConversationThatFailsEndsTheOthers(t *testing.T) {
	rung, _ := Find("unix-stream")
	good, server1 := connect(t, rung)
	bad, server2 := connect(t, rung)
	h := hello{answers: true, size: 64, limit: aWhile}
	go func() { _ = serve(server1) }()
	clients := []client{newClient(good, h), newClient(bad, h)}
	if _, err := clients[0].greet(); err != nil {
		t.Fatal(err)
	}
	server2.Close()
	within(t, func() {
		if _, _, err := ask(clients, time.Now().Add(time.Hour)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want the failure that was the first", err)
		}
	})
}

func TestDamagedMemoryIsAnError(t *testing.T) {
	rung, _ := Find("memory-futex")
	a, _ := connect(t, rung)
	s := a.link.(*shared)
	s.in.written.Store(s.in.read.Load() + ringBytes + 1)
	s.out.read.Store(s.out.written.Load() + 1)
	if _, err := a.Receive(); !errors.Is(err, errDamaged) {
		t.Errorf("got %v, want %v", err, errDamaged)
	}
	if err := a.Send([]byte("x")); !errors.Is(err, errDamaged) {
		t.Errorf("got %v, want %v", err, errDamaged)
	}
}

func TestARingCountsOnWhereItsNumbersWrap(t *testing.T) {
	r := newRing(make([]byte, ringSize))
	near := ^uint32(0) - 10
	r.written.Store(near)
	r.read.Store(near)
	sent := newScript(1000, 3).number(5)
	got := make([]byte, 2000)
	if n, err := r.put(sent); n != 1000 || err != nil {
		t.Fatalf("put %d, %v", n, err)
	}
	if n, err := r.take(got); n != 1000 || err != nil || !bytes.Equal(got[:n], sent) {
		t.Errorf("took %d, %v", n, err)
	}
	if n, err := r.put(make([]byte, ringBytes+5)); n != ringBytes || err != nil {
		t.Errorf("put %d in an empty ring, %v", n, err)
	}
	if n, err := r.put(sent); n != 0 || err != nil {
		t.Errorf("put %d in a full ring, %v", n, err)
	}
}

func TestAllRungsPrintTheSameCasesInJSONLines(t *testing.T) {
	var names []string
	for _, rung := range Rungs() {
		var out bytes.Buffer
		if err := Print(&out, rung, time.Millisecond); err != nil {
			t.Fatal(err)
		}
		read, err := cases.Read(record.JSONLines, out.Bytes())
		if err != nil {
			t.Fatalf("%s: %v\n%s", rung.Name, err, out.String())
		}
		var own []string
		for _, c := range read.Cases {
			own = append(own, c.Name)
			var metrics []string
			for _, v := range c.Values {
				metrics = append(metrics, v.Metric)
			}
			want := []string{"Time", "CPU time", "Bytes allocated", "Allocations"}
			if strings.HasPrefix(c.Name, "transfer/") {
				want = append(want, "Throughput")
			}
			if c.Failure != "" || !slices.Equal(metrics, want) {
				t.Errorf("%s: %s has %q, %s", rung.Name, c.Name, metrics, c.Failure)
			}
		}
		if names == nil {
			names = own
		}
		if len(own) != len(Cases()) || !slices.Equal(own, names) {
			t.Errorf("%s has the cases %q, want %q", rung.Name, own, names)
		}
	}
}
