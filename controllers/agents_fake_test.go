package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"loadstone.dev/loadstone/controllers/agents"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Operator, agents and kubelet of a test share clock. It runs, can be put forward, and stands still while held, so that slow machines do
// not change the order of events.
type clock struct {
	mu sync.Mutex
	// forward is how far it was put forward, and lost how long it was held before.
	forward, lost time.Duration
	// held is since when it stands still; zero if it runs.
	held time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := time.Now()
	if !c.held.IsZero() {
		at = c.held
	}
	return at.Add(c.forward - c.lost)
}

// Lease is the time for leases, which the API server's clock decides and nothing holds.
func (c *clock) Lease() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.forward)
}

func (c *clock) Forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forward += d
}

// hold lets the clock stand still, or run again.
func (c *clock) hold(still bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case still && c.held.IsZero():
		c.held = time.Now()
	case !still && !c.held.IsZero():
		c.lost, c.held = c.lost+time.Since(c.held), time.Time{}
	}
}

// fakeAgents are agents in memory that do what package protocol says of agents: Idle, Running, Measured, Stored. They upload
// for real.
type fakeAgents struct {
	clock *clock

	mu   sync.Mutex
	byIP map[string]*fakeAgent
	// starts are the agents that got a Start, in order, as "TRIAL attempt N role".
	starts []string
	// disturbed is a prefix of trials whose server's CPU other programs use; empty for none.
	disturbed string
}

var _ agents.Client = (*fakeAgents)(nil)

type fakeAgent struct {
	name, implementation string
	// program marks the collector of a program that measures itself and ends.
	program bool
	state   protocol.State
	// wrong is what its answers have wrong; empty if they are right.
	wrong string
	start *protocol.Start
	// scripts are those that came with the last check.
	scripts []protocol.Script
	bodies  map[string]string
}

func (f *fakeAgents) add(ip string, a *fakeAgent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.state.Phase = protocol.Idle
	f.byIP[ip] = a
	f.resume()
}

func (f *fakeAgents) remove(ip string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byIP, ip)
	f.resume()
}

// due are trials with a ready agent that has no start yet.
func (f *fakeAgents) due() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.untold()
}

func (f *fakeAgents) untold() []string {
	var trials []string
	for _, a := range f.byIP {
		for _, other := range f.byIP {
			if a.ready() && other.start == nil && a.state.Trial == other.state.Trial && a.state.Attempt == other.state.Attempt {
				trials = append(trials, a.name)
			}
		}
	}
	return trials
}

// stall lets the clock stand still if a trial is due, until none is.
func (f *fakeAgents) stall(trial string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.untold(), trial) {
		f.clock.hold(true)
	}
}

// resume lets the clock run if no trial is due.
func (f *fakeAgents) resume() {
	if len(f.untold()) == 0 {
		f.clock.hold(false)
	}
}

func (f *fakeAgents) disturb(trials string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.disturbed = trials
}

func (f *fakeAgents) started() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.starts...)
}

// told reports whether all agents of an attempt got their start.
func (f *fakeAgents) told(trial string, attempt int32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	told := false
	for _, a := range f.byIP {
		if a.name == trial && a.state.Attempt == attempt {
			if told = a.start != nil; !told {
				return false
			}
		}
	}
	return told
}

func (f *fakeAgents) tries(trial string) int {
	attempts := map[string]bool{}
	for _, told := range f.started() {
		if of, rest, _ := strings.Cut(told, " attempt "); of == trial {
			attempt, _, _ := strings.Cut(rest, " ")
			attempts[attempt] = true
		}
	}
	return len(attempts)
}

func (f *fakeAgents) find(ip string) (*fakeAgent, error) {
	a := f.byIP[ip]
	if a == nil {
		return nil, fmt.Errorf("dial tcp %s: connection refused", ip)
	}
	if a.state.Phase == protocol.Running && f.clock.Now().After(a.start.At.Add(a.takes())) {
		a.measure(f.disturbed != "" && strings.HasPrefix(a.name, f.disturbed))
	}
	a.state.Now = f.clock.Now()
	return a, nil
}

func (f *fakeAgents) State(_ context.Context, ip string) (protocol.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, err := f.find(ip)
	if err != nil {
		return protocol.State{}, err
	}
	return a.state, nil
}

func (f *fakeAgents) Clock(ctx context.Context, ip string) (agents.Clock, error) {
	sent := time.Now()
	_, err := f.State(ctx, ip)
	return agents.Clock{RoundTrip: time.Since(sent)}, err
}

func (f *fakeAgents) Command(_ context.Context, ip string, o protocol.Command) (protocol.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.resume()
	a, err := f.find(ip)
	if err != nil {
		return protocol.State{}, err
	}
	if o.Trial != a.state.Trial || o.Attempt != a.state.Attempt || o.Member != a.state.Member {
		return protocol.State{}, fmt.Errorf("the command %+v is not for the agent of %s", o, a.name)
	}
	switch {
	case o.Check != nil && a.start == nil:
		a.scripts = o.Check.Scripts
		a.state.Checked, err = f.check(*o.Check)
	case o.Start != nil && a.start == nil:
		a.start, a.state.Phase = o.Start, protocol.Running
		f.starts = append(f.starts, fmt.Sprintf("%s attempt %d %s", a.name, o.Attempt, o.Member))
	case o.Start != nil && !o.Start.At.Equal(a.start.At):
		err = errors.New("the agent already has another start")
	case o.Store != nil && a.state.Phase == protocol.Measured && !a.state.Uploading:
		a.state.Uploading, a.state.StoreError = true, ""
		go f.upload(a, *o.Store)
	}
	return a.state, err
}

func (f *fakeAgents) check(c protocol.Check) (*protocol.Checked, error) {
	for i, target := range c.Targets {
		ip, _, err := net.SplitHostPort(target)
		if err != nil {
			return nil, err
		}
		wrong := "GET / got no answer"
		if server := f.byIP[ip]; server != nil {
			wrong = server.wrong
		}
		if wrong != "" {
			return &protocol.Checked{Fault: protocol.FaultServer, Message: wrong, Server: i}, nil
		}
	}
	return &protocol.Checked{}, nil
}

// programTakes is how long a program runs, far less than its limit.
const programTakes = 300 * time.Millisecond

// takes is how long it is from the start to the end of what the agent watches.
func (a *fakeAgent) takes() time.Duration {
	if a.program {
		return programTakes
	}
	return a.start.Slots[len(a.start.Slots)-1].End
}

// collect makes the record of a program that has done its work.
func (a *fakeAgent) collect() {
	o := recordtest.Options{
		Name: a.name, Seed: 1, Blocks: 1, Seconds: 1, Noise: 0.01, Levels: []int32{1},
		Servers: []recordtest.Server{{Name: a.implementation, CPUMicros: 10, RSSBytes: 1 << 20}},
	}
	result := recordtest.Run(o).Trials[0].Servers[0]
	result.Cells[0].Point = record.Point{}
	result.Program = &record.ProgramRun{Started: a.start.At, Ended: a.start.At.Add(programTakes), Output: "output.txt", Cases: []record.Case{
		{Name: "parse", Values: []record.CaseValue{{Metric: "Time", Unit: "ns", Better: record.LessIsBetter, Samples: []float64{100, 101}}}},
	}}
	a.keep(result, map[string]string{"output.txt": "what the program printed"})
}

// measure makes the records of all cells, as if the implementation had been measured.
func (a *fakeAgent) measure(disturbed bool) {
	if a.program {
		a.collect()
		return
	}
	o := recordtest.Options{Name: a.name, Seed: 1, Blocks: 1, Seconds: 1, Noise: 0.01, Servers: []recordtest.Server{{Name: a.implementation, CPUMicros: 10, RSSBytes: 1 << 20}}}
	for _, s := range a.start.Slots {
		o.Levels = append(o.Levels, s.Cell.Connections)
	}
	made := recordtest.Run(o).Trials[0]
	for i := range made.Generators[0].Cells {
		if run := &made.Generators[0].Cells[i]; len(a.start.Targets) > 1 {
			run.ActiveNanos = run.Measurement.DurationMicros * 1000
		}
	}
	for i := range made.Servers[0].Cells {
		if seen := &made.Servers[0].Cells[i]; disturbed {
			seen.BusyNanos = seen.CPUNanos + seen.CoreNanos/5
		}
	}
	for _, s := range a.scripts {
		sum := sha256.Sum256(s.Text)
		made.Generators[0].Scripts = append(made.Generators[0].Scripts, record.ScriptRun{Load: s.Load, SHA256: hex.EncodeToString(sum[:])})
	}
	var result any = made.Servers[0]
	if a.generates() {
		if len(a.start.Targets) > 1 {
			for _, run := range slices.Clone(made.Generators[0].Cells) {
				run.Server = 1
				made.Generators[0].Cells = append(made.Generators[0].Cells, run)
			}
		}
		result = made.Generators[0]
	}
	raw := map[string]string{}
	if a.generates() {
		for _, s := range a.start.Slots {
			raw[timetable.RawFile(s.Cell, 0)] = "what wrk printed"
		}
	}
	a.keep(result, raw)
}

// keep holds a result and other files ready to be stored.
func (a *fakeAgent) keep(result any, bodies map[string]string) {
	body, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	bodies[record.ResultFile] = string(body)
	a.bodies = bodies
	for name, body := range a.bodies {
		sum := sha256.Sum256([]byte(body))
		a.state.Files = append(a.state.Files, protocol.File{Name: name, Bytes: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
	}
	a.state.Phase = protocol.Measured
}

// ready: once it knows, the operator may choose the start.
func (a *fakeAgent) ready() bool {
	return a.program || a.state.Checked != nil && a.state.Checked.OK()
}

func (a *fakeAgent) generates() bool {
	return !record.IsServer(a.state.Member)
}

func (f *fakeAgents) upload(a *fakeAgent, command protocol.Store) {
	failed := ""
	for _, d := range command.Files {
		f.mu.Lock()
		body := a.bodies[d.Name]
		f.mu.Unlock()
		if err := put(d, body); err != nil {
			failed = err.Error()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a.state.Uploading, a.state.StoreError = false, failed
	if failed == "" && len(command.Files) == len(a.state.Files) {
		a.state.Phase = protocol.Stored
	}
}

func put(d protocol.Destination, body string) error {
	req, err := http.NewRequest(http.MethodPut, d.URL, strings.NewReader(body))
	if err != nil {
		return err
	}
	for k, v := range d.Headers {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return errors.Unwrap(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPreconditionFailed {
		return fmt.Errorf("the object store answered %d", resp.StatusCode)
	}
	return nil
}
