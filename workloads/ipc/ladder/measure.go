package ladder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

const (
	// warmUp is how long a case runs before it is timed.
	warmUp = 50 * time.Millisecond
	// patience is how much longer than it should a conversation may last: a case that hangs fails.
	patience = 5 * time.Second
)

// Case is a conversation that every rung is asked to hold.
type Case struct {
	Name string
	// Connections are how many there are, each with a conversation of its own at the same time.
	Connections int
	hello       hello
}

// Cases are what rungs are compared by.
func Cases() (all []Case) {
	for _, size := range []int{64, 4096, 65536} {
		all = append(all, Case{fmt.Sprintf("request/size:%d", size), 1, hello{answers: true, size: size}})
	}
	for _, size := range []int{64, 4096, 65536} {
		all = append(all, Case{fmt.Sprintf("transfer/size:%d", size), 1, hello{size: size}})
	}
	return append(all, Case{"requests/connections:8/size:64", 8, hello{answers: true, size: 64}})
}

// Result is what a case took, of both processes.
type Result struct {
	Operations             uint64
	Wall, CPU              time.Duration
	Bytes                  uint64 // of all messages there
	Allocated, Allocations uint64 // bytes, and how often
}

// peer is another process and the connections to it.
type peer struct {
	conns []*Conn
	cmd   *exec.Cmd
	stop  context.CancelFunc
}

// start starts this program again, as the other process. Only that one has the other ends then, so that its death is their end.
func start(rung Rung, connections int, life time.Duration, command ...string) (p *peer, err error) {
	var here [][]int
	var there []int
	ctx, stop := context.WithTimeout(context.Background(), life)
	p = &peer{stop: stop}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.end())
		}
	}()
	for range connections {
		a, b, err := rung.descriptors()
		if err != nil {
			closeAll(there)
			for _, fds := range here {
				closeAll(fds)
			}
			return p, err
		}
		here, there = append(here, a), append(there, b...)
	}
	args := append(command, rung.Name, strconv.Itoa(connections), strconv.Itoa(len(there)/connections))
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = files(there)
	if err = cmd.Start(); err != nil {
		err = fmt.Errorf("starting the other process: %w", err)
	} else {
		p.cmd = cmd
	}
	for _, f := range cmd.ExtraFiles {
		f.Close() // Only the other process has them now.
	}
	for _, fds := range here {
		var c *Conn
		if err != nil {
			closeAll(fds)
		} else if c, err = rung.conn(fds, true); err == nil {
			p.conns = append(p.conns, c)
		}
	}
	return p, err
}

// close closes all connections, which ends calls that wait.
func (p *peer) close() (err error) {
	for _, c := range p.conns {
		err = errors.Join(err, c.Close())
	}
	return err
}

// end closes the connections and waits for the other process.
func (p *peer) end() error {
	err := p.close()
	if p.cmd != nil {
		if waited := p.cmd.Wait(); waited != nil {
			err = errors.Join(err, fmt.Errorf("waiting for the other process: %w", waited))
		}
	}
	p.stop()
	return err
}

// Do holds the conversation of a case, with another process that it starts.
func (c Case) Do(rung Rung, least time.Duration) (r Result, err error) {
	p, err := start(rung, c.Connections, least+2*patience, "ladder-peer")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	if _, err := p.talk(c.hello, min(warmUp, least)); err != nil {
		return r, fmt.Errorf("warming up: %w", err)
	}
	return p.talk(c.hello, least)
}

// talk holds a conversation over every connection, all at the same time.
func (p *peer) talk(h hello, least time.Duration) (r Result, err error) {
	h.limit = least + patience
	var first, last status // of the other process
	clients := make([]client, len(p.conns))
	for i, c := range p.conns {
		clients[i] = newClient(c, h)
		there, err := clients[i].greet()
		if err != nil {
			return r, fmt.Errorf("beginning: %w", err)
		}
		if i == 0 {
			first = there
		}
	}
	before, err := statusNow()
	if err != nil {
		return r, err
	}
	begin := time.Now()
	r.Operations, last, err = ask(clients, begin.Add(least))
	r.Wall = time.Since(begin)
	if err != nil {
		return r, err
	}
	after, err := statusNow()
	if err != nil {
		return r, err
	}
	r.Bytes = r.Operations * uint64(h.size)
	r.CPU = time.Duration(after.CPUNanoseconds - before.CPUNanoseconds + last.CPUNanoseconds - first.CPUNanoseconds)
	r.Allocated = after.Allocated - before.Allocated + last.Allocated - first.Allocated
	r.Allocations = after.Mallocs - before.Mallocs + last.Mallocs - first.Mallocs
	return r, nil
}

// ask asks over every connection in a goroutine of its own. One that fails ends the others.
func ask(clients []client, deadline time.Time) (done uint64, last status, err error) {
	var all sync.WaitGroup
	var lock sync.Mutex
	for _, c := range clients {
		all.Go(func() {
			n, there, failure := c.ask(deadline)
			lock.Lock()
			defer lock.Unlock()
			done += n
			if there.CPUNanoseconds > last.CPUNanoseconds {
				last = there
			}
			if failure != nil && err == nil {
				err = failure
				for _, other := range clients {
					_ = other.conn.SetDeadline(past) // It ends the others, which then are no news.
				}
			}
		})
	}
	all.Wait()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the other process has ended the conversation: %w", io.ErrUnexpectedEOF)
	}
	return done, last, err
}
