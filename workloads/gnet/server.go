package main

import (
	"context"
	"errors"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

const (
	drainMax = 1 << 20
	// recheck is the polling interval of a connection that waits for its last answer to be sent.
	recheck = 5 * time.Millisecond
)

// server answers requests. All methods except OnBoot's goroutine and OnTick run in the one event loop.
type server struct {
	gnet.BuiltinEventEngine
	ctx    context.Context // whose end ends the server
	limit  int             // of connections
	clock  clock
	open   int    // connections
	epoll  int    // gnet's epoll set; 0 before the first connection
	out    []byte // room for the answers to what was read at once
	broken error  // why the server cannot go on
}

type client struct {
	timer
	ending  ending // once its last answer is written, or waits to be
	unread  bool   // The client may have sent more than will be answered.
	shut    bool   // All answers are sent, and the client was told.
	paused  bool   // It must take answers before it is read from again.
	drained int    // bytes thrown away
}

// OnBoot stops the server when the context ends.
func (s *server) OnBoot(engine gnet.Engine) gnet.Action {
	go func() {
		<-s.ctx.Done()
		_ = engine.Stop(context.Background()) // It fails if the server has ended.
	}()
	return gnet.None
}

// OnOpen accepts a connection, or answers that there are too many. Without gnet's epoll set the server cannot pause clients, so it ends.
func (s *server) OnOpen(c gnet.Conn) ([]byte, gnet.Action) {
	s.open++
	state := &client{}
	c.SetContext(state)
	s.clock.add(c, &state.timer)
	if s.epoll == 0 {
		if s.epoll = findEpoll(c.Fd()); s.epoll == 0 {
			s.broken = errors.New("gnet's epoll set is not where it was: clients that do not read could not be held back")
			return nil, gnet.Shutdown
		}
	}
	if s.open > s.limit {
		return overloaded, gnet.Close
	}
	return nil, gnet.None
}

// OnClose forgets a connection.
func (s *server) OnClose(c gnet.Conn, _ error) gnet.Action {
	s.open--
	s.clock.remove(c)
	return gnet.None
}

// OnTraffic answers the input. The rest is an incomplete head of less than headMax bytes.
func (s *server) OnTraffic(c gnet.Conn) gnet.Action {
	state := c.Context().(*client)
	if s.clock.late(&state.timer) {
		return s.letGo(c, state)
	}
	if state.ending != goesOn {
		return s.finish(c, state)
	}
	input, err := c.Peek(-1)
	if err != nil {
		return gnet.Close
	}
	var used int
	s.out, used, state.ending = respond(s.out[:0], input)
	state.unread = state.ending == refused
	if used > 0 {
		if _, err := c.Discard(used); err != nil {
			return gnet.Close
		}
	}
	if len(s.out) > 0 {
		if _, err := c.Write(s.out); err != nil {
			return gnet.Close
		}
		s.clock.allow(&state.timer, answerTicks)
	}
	if state.ending != goesOn {
		return s.finish(c, state)
	}
	if state.paused = c.OutboundBuffered() > 0; state.paused {
		return s.pause(c)
	}
	s.clock.await(&state.timer, used > 0, c.InboundBuffered() > 0)
	return gnet.None
}

// letGo disconnects an expired client, with an answer if half a request is there.
func (s *server) letGo(c gnet.Conn, state *client) gnet.Action {
	if state.paused && c.OutboundBuffered() == 0 {
		// It has taken all answers. gnet does not report when the rest is sent.
		state.paused = false
		s.clock.await(&state.timer, true, c.InboundBuffered() > 0)
		return gnet.None
	}
	if !state.begun || state.ending != goesOn {
		return gnet.Close
	}
	state.ending, state.unread = refused, true
	if _, err := c.Write(tooLate); err != nil {
		return gnet.Close
	}
	return s.finish(c, state)
}

// finish ends a connection after its last answer: at once if no input is unread, else after telling the client and discarding its input.
// Closing with unread input would reset the connection, and could lose the answer.
func (s *server) finish(c gnet.Conn, state *client) gnet.Action {
	arrived := c.InboundBuffered()
	state.drained += arrived
	state.unread = state.unread || arrived > 0
	if arrived > 0 {
		if _, err := c.Discard(arrived); err != nil {
			return gnet.Close
		}
	}
	switch {
	case c.OutboundBuffered() > 0:
		// Waking an ended connection does nothing.
		time.AfterFunc(recheck, func() { _ = c.Wake(nil) })
		return s.pause(c)
	case !state.unread || state.drained > drainMax:
		return gnet.Close
	case !state.shut:
		state.shut = true
		s.clock.allow(&state.timer, requestTicks)
		if unix.Shutdown(c.Fd(), unix.SHUT_WR) != nil {
			return gnet.Close
		}
	}
	return gnet.None
}

// pause stops reading until the client has read its answers. gnet itself would keep reading and buffer all answers. After they are sent it
// asks for input again by itself, so one call suffices.
func (s *server) pause(c gnet.Conn) gnet.Action {
	event := unix.EpollEvent{Events: unix.EPOLLOUT, Fd: int32(c.Fd())}
	if unix.EpollCtl(s.epoll, unix.EPOLL_CTL_MOD, c.Fd(), &event) != nil {
		return gnet.Close
	}
	return gnet.None
}

// findEpoll finds a connection's epoll set by trying a no-op change on each low descriptor; 0 if there is none.
func findEpoll(connection int) int {
	for fd := 3; fd < 256; fd++ {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLPRI, Fd: int32(connection)}
		if unix.EpollCtl(fd, unix.EPOLL_CTL_MOD, connection, &event) == nil {
			return fd
		}
	}
	return 0
}
