package main

import (
	"context"
	"errors"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

const (
	// drainMax is how many bytes are read and thrown away after a refusal.
	drainMax = 1 << 20
	// recheck is how long a connection that only waits for its last answer to leave goes unlooked at.
	recheck = 5 * time.Millisecond
)

// server answers requests. All its methods but OnBoot's goroutine and OnTick run in the one event loop.
type server struct {
	gnet.BuiltinEventEngine
	ctx    context.Context // whose end ends the server
	limit  int             // of connections
	clock  clock
	open   int    // connections
	epoll  int    // gnet's epoll set; 0 until the first connection has found it
	out    []byte // room for the answers to what was read at once
	broken error  // why the server cannot go on
}

// client is the state of a connection.
type client struct {
	timer
	ending  ending // once its last answer is written, or waits to be
	unread  bool   // The client may have sent more than it will get answers to.
	shut    bool   // All answers have left, and the client was told.
	paused  bool   // It has answers to take before it is read from again.
	drained int    // bytes thrown away
}

// OnBoot makes the end of the context the end of the server.
func (s *server) OnBoot(engine gnet.Engine) gnet.Action {
	go func() {
		<-s.ctx.Done()
		_ = engine.Stop(context.Background()) // It fails if the server has already ended.
	}()
	return gnet.None
}

// OnOpen takes a connection, or says that there are too many. Without gnet's epoll set the server would do harm, and ends.
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

// OnTraffic answers what has arrived. What is left is an incomplete head, and less than headMax bytes.
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

// letGo ends the connection of a client whose time is up. One that has sent half a request is told so.
func (s *server) letGo(c gnet.Conn, state *client) gnet.Action {
	if state.paused && c.OutboundBuffered() == 0 {
		// It has taken all answers. gnet says nothing when the rest has left.
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

// finish ends a connection whose last answer is written: at once if there is nothing unread, else by telling the client and throwing
// away what it still sends. Closing with unread input would reset the connection and might take the answer away from the client.
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
		// gnet says nothing when the rest has left. Waking a connection that has ended does nothing.
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

// pause stops reading from a client until it has read its answers. gnet itself would go on reading, and keep all answers in memory;
// but when they have left it asks for input again by itself, so that telling the kernel once is enough.
func (s *server) pause(c gnet.Conn) gnet.Action {
	event := unix.EpollEvent{Events: unix.EPOLLOUT, Fd: int32(c.Fd())}
	if unix.EpollCtl(s.epoll, unix.EPOLL_CTL_MOD, c.Fd(), &event) != nil {
		return gnet.Close
	}
	return gnet.None
}

// findEpoll finds the epoll set that a connection is in, by asking each low descriptor to change nothing for it. It returns 0 if
// there is none.
func findEpoll(connection int) int {
	for fd := 3; fd < 256; fd++ {
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLPRI, Fd: int32(connection)}
		if unix.EpollCtl(fd, unix.EPOLL_CTL_MOD, connection, &event) == nil {
			return fd
		}
	}
	return 0
}
