package ladder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	// warmUp is the untimed start of a case.
	warmUp = 50 * time.Millisecond
	// patience is how much longer than planned a conversation may take before it fails.
	patience = 5 * time.Second
)

// Case is a conversation for every rung.
type Case struct {
	Name string
	// Connections each hold their own conversation at the same time.
	Connections int
	hello       hello
}

// Cases returns the cases for comparing rungs.
func Cases() (all []Case) {
	for _, size := range []int{64, 4096, 65536} {
		all = append(all, Case{fmt.Sprintf("request/size:%d", size), 1, hello{answers: true, size: size}})
	}
	for _, size := range []int{64, 4096, 65536} {
		all = append(all, Case{fmt.Sprintf("transfer/size:%d", size), 1, hello{size: size}})
	}
	return append(all, Case{"requests/connections:8/size:64", 8, hello{answers: true, size: 64}})
}

// Result is a case's result, of both processes.
type Result struct {
	Operations             uint64
	Wall, CPU              time.Duration
	Bytes                  uint64 // of all messages there
	Allocated, Allocations uint64 // bytes, and how often
}

type peer struct {
	conns []*Conn
	cmd   *exec.Cmd
	stop  context.CancelFunc
}

// start starts this program again as the other process. Only that has the other ends then, so its death is noticed.
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

func (p *peer) close() (err error) {
	for _, c := range p.conns {
		err = errors.Join(err, c.Close())
	}
	return err
}

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

// Do runs a case with another process that it starts.
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

// talk holds simultaneous conversations over all connections.
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

// ask runs one goroutine per connection. A failure ends the others.
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
					_ = other.conn.SetDeadline(past) // Errors of the others are then irrelevant.
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

// line is a line of docs/reference/cases.md.
type line struct {
	Schema     string            `json:"schema"`
	Case       string            `json:"case,omitempty"`
	Metric     string            `json:"metric,omitempty"`
	Unit       string            `json:"unit,omitempty"`
	Better     string            `json:"better,omitempty"`
	Value      *float64          `json:"value,omitempty"`
	Iterations uint64            `json:"iterations,omitempty"`
	Failure    string            `json:"failure,omitempty"`
	Context    map[string]string `json:"context,omitempty"`
}

const schema = "loadstone.case/v1"

// Print runs all cases over a rung, each for at least a time, and prints a line per value. A failed case does not affect others.
func Print(w io.Writer, rung Rung, least time.Duration) error {
	out := json.NewEncoder(w)
	context := map[string]string{"rung": rung.Name, "go": runtime.Version(), "GOMAXPROCS": strconv.Itoa(runtime.GOMAXPROCS(0))}
	if err := out.Encode(line{Schema: schema, Context: context}); err != nil {
		return fmt.Errorf("printing what the program is: %w", err)
	}
	for _, c := range Cases() {
		lines := []line{{Case: c.Name}}
		if r, err := c.Do(rung, least); err != nil {
			lines[0].Failure = err.Error()
		} else {
			lines = r.lines(c)
		}
		for _, l := range lines {
			l.Schema = schema
			if err := out.Encode(l); err != nil {
				return fmt.Errorf("printing the case %s: %w", c.Name, err)
			}
		}
	}
	return nil
}

// lines returns a case's values. Allocations are whole numbers, as in go test: the runtime occasionally allocates, too.
func (r Result) lines(c Case) []line {
	n := float64(r.Operations)
	value := func(metric, unit, better string, v float64) line {
		return line{Case: c.Name, Metric: metric, Unit: unit, Better: better, Value: &v}
	}
	all := []line{
		value("Time", "ns", "Less", float64(r.Wall)/n),
		value("CPU time", "ns", "Less", float64(r.CPU)/n),
		value("Bytes allocated", "B/op", "Less", float64(r.Allocated/r.Operations)),
		value("Allocations", "allocs/op", "Less", float64(r.Allocations/r.Operations)),
	}
	all[0].Iterations = r.Operations
	if !c.hello.answers {
		all = append(all, value("Throughput", "MB/s", "More", float64(r.Bytes)/1e6/r.Wall.Seconds()))
	}
	return all
}
