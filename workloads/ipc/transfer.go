package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"loadstone.dev/loadstone/workloads/ipc/socket"
)

// transfer is a case in which one goroutine sends and another receives.
type transfer struct {
	kind    socket.Kind
	polled  bool // through the net package and the runtime's poller
	perRecv bool // a goroutine for each receive
	pooled  bool // each receive by a goroutine that waits for the next one
	fds     bool // a descriptor with each message
	cred    bool // credentials with each message
}

func pair(kind socket.Kind, polled bool) (a, b endpoint, err error) {
	if polled {
		return pairOf(socket.PolledPair(kind))
	}
	return pairOf(socket.Pair(kind))
}

func pairOf[E endpoint](a, b E, err error) (endpoint, endpoint, error) { return a, b, err }

func (t transfer) do(r *run) (sent uint64, err error) {
	from, to, err := pair(t.kind, t.polled)
	if err != nil {
		return 0, err
	}
	end := closer(from, to)
	defer func() { err = errors.Join(err, end()) }()
	beside, err := t.beside(to)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, beside.close()) }()
	check, buffer := newChecker(r.size), newBuffer(t.kind, r.size)
	next := func() error { return t.next(to, buffer, check, beside) }
	if t.perRecv {
		next = inGoroutine(next)
	}
	if t.pooled {
		pooled, stop := inPool(next)
		defer stop()
		next = pooled
	}
	err = r.together(
		func() { _ = end() },
		func() (err error) { sent, err = send(r, from, beside.msg); return err },
		func() error { return untilEnd(next) },
	)
	if err == nil {
		err = check.all(sent)
	}
	return sent, err
}

// closer returns a function that closes both ends, once.
func closer(a, b endpoint) func() error {
	return sync.OnceValue(func() error { return errors.Join(a.Close(), b.Close()) })
}

func send(r *run, to endpoint, m socket.Msg) (sent uint64, err error) {
	message := newMessage(r.size)
	for ; r.more(sent); sent++ {
		stamp(message, sent)
		if err := to.SendMsg(message, m); err != nil {
			return sent, err
		}
	}
	return sent, to.CloseWrite()
}

func untilEnd(next func() error) error {
	for {
		if err := next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func inGoroutine(next func() error) func() error {
	var err error // One for all calls, which are sequential.
	return func() error {
		done := make(chan struct{})
		go func() {
			defer close(done)
			err = next()
		}()
		<-done
		return err
	}
}

// inPool runs each call in an existing goroutine, until stop.
func inPool(next func() error) (call func() error, stop func()) {
	calls, results := make(chan struct{}), make(chan error)
	go func() {
		for range calls {
			results <- next()
		}
	}()
	call = func() error {
		calls <- struct{}{}
		return <-results
	}
	return call, func() { close(calls) }
}

func (t transfer) next(from endpoint, buffer []byte, check *checker, beside *beside) error {
	n, m, err := receive(from, t.kind, buffer)
	if err != nil {
		return err
	}
	if t.fds || t.cred {
		if err := beside.check(m, check.close()); err != nil {
			return err
		}
	}
	return check.check(buffer[:n])
}

type beside struct {
	msg  socket.Msg
	file *os.File // whose descriptor is sent
	stat unix.Stat_t
}

func (t transfer) beside(to endpoint) (*beside, error) {
	b := &beside{}
	if t.cred {
		b.msg.Cred, b.msg.HasCred = socket.Self(), true
		if err := to.(*socket.Socket).PassCred(); err != nil {
			return nil, err
		}
	}
	if t.fds {
		var err error
		if b.file, err = os.Open(os.DevNull); err != nil {
			return nil, fmt.Errorf("opening a file to pass: %w", err)
		}
		b.msg.Fds = []int{int(b.file.Fd())}
		if err := unix.Fstat(b.msg.Fds[0], &b.stat); err != nil {
			return nil, errors.Join(fmt.Errorf("looking at a file to pass: %w", err), b.file.Close())
		}
	}
	return b, nil
}

// check verifies and closes received descriptors. Closely, it also checks that a descriptor is of the sent file.
func (b *beside) check(m socket.Msg, closely bool) (err error) {
	for _, fd := range m.Fds {
		if closely {
			var stat unix.Stat_t
			if err := unix.Fstat(fd, &stat); err != nil || stat.Ino != b.stat.Ino || stat.Dev != b.stat.Dev {
				return fmt.Errorf("the descriptor that came is of another file: %w", err)
			}
		}
		if err := unix.Close(fd); err != nil {
			return fmt.Errorf("closing a descriptor that came: %w", err)
		}
	}
	if len(m.Fds) != len(b.msg.Fds) || m.HasCred != b.msg.HasCred || m.Cred != b.msg.Cred {
		return fmt.Errorf("descriptors or credentials are not what was sent: %d descriptors, credentials %v", len(m.Fds), m.Cred)
	}
	return nil
}

func (b *beside) close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}

// roundTrip is a case in which each message comes back before the next is sent.
type roundTrip struct {
	polled bool // through the net package and the runtime's poller
}

func (t roundTrip) do(r *run) (trips uint64, err error) {
	here, there, err := pair(socket.SeqPacket, t.polled)
	if err != nil {
		return 0, err
	}
	end := closer(here, there)
	defer func() { err = errors.Join(err, end()) }()
	check := newChecker(r.size)
	err = r.together(
		func() { _ = end() },
		func() (err error) { trips, err = ping(r, here); return err },
		func() error { return echo(there, check) },
	)
	if err == nil {
		err = check.all(trips)
	}
	return trips, err
}

func ping(r *run, to endpoint) (trips uint64, err error) {
	message, buffer, check := newMessage(r.size), newBuffer(socket.SeqPacket, r.size), newChecker(r.size)
	for ; r.more(trips); trips++ {
		stamp(message, trips)
		if err := to.SendMsg(message, socket.Msg{}); err != nil {
			return trips, err
		}
		n, _, err := to.RecvMsg(buffer)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return trips, err
		}
		if err := check.check(buffer[:n]); err != nil {
			return trips, err
		}
	}
	return trips, to.CloseWrite()
}

func echo(with endpoint, check *checker) error {
	buffer := newBuffer(socket.SeqPacket, len(check.want))
	return untilEnd(func() error {
		n, _, err := with.RecvMsg(buffer)
		if err != nil {
			return err
		}
		if err := check.check(buffer[:n]); err != nil {
			return err
		}
		return with.SendMsg(buffer[:n], socket.Msg{})
	})
}
