package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/hack/bench/local"
	"loadstone.dev/loadstone/internal/histogram"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	// slice is a turn of wrk's.
	slice = 100 * time.Millisecond
	// perChunk is how many requests one ab makes, each on a connection of its own: about a slice. It is far from the number of ports
	// that a client can have towards one address.
	perChunk = 4_000
	// loopbacks is the number of addresses that are taken in turn, 127.0.0.2 and on, so that the ports of one are free again when its
	// turn comes.
	loopbacks = 250
	// fairTime is how long answers are counted by connection.
	fairTime = 1500 * time.Millisecond
	// earlyRequests and grownRequests are after how many the memory is read, and grownWithin is how long they may take.
	earlyRequests, grownRequests = 1_000_000, 10_000_000
	grownWithin                  = 4 * time.Minute
	// caseWithin is how long a case of a micro-benchmark may take.
	caseWithin = time.Minute
)

// machine performs cells.
type machine struct {
	// programs is the folder of the programs, dir one for what they and the tools write.
	programs, dir string
	nginx         *nginx
	random        *rand.Rand
	// chunks counts those of ab.
	chunks int
}

// perform measures the cells of a set. Those under wrk or ab share the second in short turns, and so differ five times less between
// equal servers than cells of a second each; what else there is, is measured one after the other. An error names its cell.
func (m *machine) perform(ctx context.Context, cells []cell) ([]measured, error) {
	switch cells[0].Load {
	case keepAlive:
		return m.inTurns(ctx, cells, m.wrkTurns)
	case perRequest:
		return m.inTurns(ctx, cells, m.abTurns)
	case ownCase, fairness, systemCalls, growth, latency:
	}
	all := make([]measured, len(cells))
	for i, c := range cells {
		var err error
		if all[i], err = m.alone(ctx, c); err != nil {
			return nil, &local.SideError{Side: i, Err: err}
		}
	}
	return all, nil
}

// inTurns starts the servers of all cells, and then they are loaded.
func (m *machine) inTurns(ctx context.Context, cells []cell, turns func(context.Context, []*local.Server, cell) ([]measured, error)) ([]measured, error) {
	servers := make([]*local.Server, len(cells))
	for i, c := range cells {
		s, err := m.start(ctx, c.Program)
		if err != nil {
			return nil, &local.SideError{Side: i, Err: err}
		}
		defer s.Stop()
		servers[i] = s
	}
	return turns(ctx, servers, cells[0])
}

// alone measures a cell.
func (m *machine) alone(ctx context.Context, c cell) (measured, error) {
	if c.Load == ownCase {
		return m.ownCase(ctx, c)
	}
	s, err := m.start(ctx, c.Program)
	if err != nil {
		return measured{}, err
	}
	defer s.Stop()
	switch c.Load {
	case latency:
		return m.latency(ctx, s, c)
	case fairness:
		return m.fairness(ctx, s, c)
	case systemCalls:
		return m.systemCalls(ctx, s, c)
	case growth:
		return m.growth(ctx, s, c)
	case ownCase, keepAlive, perRequest:
	}
	return measured{}, fmt.Errorf("there is no load %q that is measured alone", c.Load)
}

// start starts a server of the table.
func (m *machine) start(ctx context.Context, program string) (*local.Server, error) {
	if program == nginxProgram {
		return m.nginx.start(ctx, m.dir)
	}
	port, err := local.FreePort()
	if err != nil {
		return nil, err
	}
	return local.StartServer(ctx, m.dir, port, []string{m.path(program), "--port=" + strconv.Itoa(port)})
}

func (m *machine) path(program string) string { return filepath.Join(m.programs, program) }

// warm loads a server for a while and lets it notice the end.
func (m *machine) warm(ctx context.Context, s *local.Server, w local.Wrk) error {
	if err := w.Warm(ctx, m.dir, s.Target(), warmup); err != nil {
		return err
	}
	return local.Rest(ctx, settle)
}

// wrkTurns gives each server as many slices as make the time of a cell.
func (m *machine) wrkTurns(ctx context.Context, servers []*local.Server, c cell) ([]measured, error) {
	t := local.Turns{Warmup: warmup, Slices: int(seconds * time.Second / slice), Slice: slice, Random: m.random}
	loaded, err := t.Load(ctx, m.dir, servers, local.Wrk{Connections: c.Connections, Path: c.Path})
	if err != nil {
		return nil, err
	}
	all := make([]measured, len(loaded))
	for i, l := range loaded {
		// Latencies are not kept: they hold the time between the turns.
		all[i] = measured{Operations: l.Requests, Bytes: l.Bytes, WallSeconds: l.Wall.Seconds(), CPUSeconds: l.CPU.Seconds()}
	}
	return all, nil
}

// latency is measured without turns.
func (m *machine) latency(ctx context.Context, s *local.Server, c cell) (r measured, err error) {
	w := local.Wrk{Connections: c.Connections, Seconds: seconds}
	if err := m.warm(ctx, s, w); err != nil {
		return r, err
	}
	return m.wrk(ctx, s, w)
}

func (m *machine) wrk(ctx context.Context, s *local.Server, w local.Wrk, prefix ...string) (measured, error) {
	args, err := w.Args(m.dir, s.Target(), tool.Measure)
	if err != nil {
		return measured{}, err
	}
	child, err := local.Start(ctx, m.dir, local.ToolCPU, append(prefix, args...))
	if err != nil {
		return measured{}, err
	}
	defer child.End()
	seen, err := local.Measured(child, time.Duration(w.Seconds)*time.Second+local.Patience)
	if err != nil {
		return measured{}, err
	}
	tail, err := percentile99(seen.Latency)
	return measured{Operations: seen.Requests, Bytes: seen.Bytes, WallSeconds: float64(seen.DurationMicros) / 1e6, P99Micros: tail}, err
}

// percentile99 is that of the requests that were sent; 0 if wrk's own samples could not be told from them.
func percentile99(all []record.Latency) (int64, error) {
	for _, l := range all {
		if l.Kind == record.Observed {
			h, err := histogram.Decode(l.HDR)
			if err != nil {
				return 0, fmt.Errorf("decoding wrk's latencies: %w", err)
			}
			return h.Quantile(0.99), nil
		}
	}
	return 0, nil
}

// abTurns lets one ab follow another, each at another server, until all of them have taken long enough.
func (m *machine) abTurns(ctx context.Context, servers []*local.Server, c cell) ([]measured, error) {
	all, before := make([]measured, len(servers)), make([]time.Duration, len(servers))
	chunk := func(i, requests int) error {
		m.chunks++
		host := fmt.Sprintf("127.0.0.%d", 2+m.chunks%loopbacks)
		seen, err := local.Ab{Connections: int(c.Connections), Requests: requests}.Run(ctx, m.dir, local.Address(host, servers[i].Port))
		if err != nil {
			return &local.SideError{Side: i, Err: err}
		}
		all[i].Operations += seen.Requests
		all[i].WallSeconds += float64(seen.DurationMicros) / 1e6
		return nil
	}
	for _, i := range m.random.Perm(len(servers)) {
		if err := chunk(i, perChunk); err != nil {
			return nil, err
		}
	}
	if err := local.Rest(ctx, settle); err != nil {
		return nil, err
	}
	for i, s := range servers {
		var err error
		if before[i], err = local.CPUTime(s.Pid()); err != nil {
			return nil, &local.SideError{Side: i, Err: err}
		}
	}
	clear(all)
	for enough := false; !enough; {
		enough = true
		for _, i := range m.random.Perm(len(servers)) {
			if err := chunk(i, perChunk); err != nil {
				return nil, err
			}
		}
		for _, r := range all {
			enough = enough && r.WallSeconds >= seconds
		}
	}
	for i, s := range servers {
		after, err := local.CPUTime(s.Pid())
		if err != nil {
			return nil, &local.SideError{Side: i, Err: err}
		}
		all[i].CPUSeconds = (after - before[i]).Seconds()
	}
	return all, nil
}

func (m *machine) fairness(ctx context.Context, s *local.Server, c cell) (measured, error) {
	if err := m.warm(ctx, s, local.Wrk{Connections: c.Connections, Seconds: seconds}); err != nil {
		return measured{}, err
	}
	counts, err := countAnswers(ctx, s.Target(), int(c.Connections), fairTime)
	if err != nil {
		return measured{}, err
	}
	r := measured{Jain: jainIndex(counts), WallSeconds: fairTime.Seconds()}
	for _, n := range counts {
		r.Operations += n
		if n == 0 {
			r.Unanswered++
		}
	}
	return r, nil
}

// systemCalls lets perf count a server's system calls for as long as wrk lives: strace would change them.
func (m *machine) systemCalls(ctx context.Context, s *local.Server, c cell) (r measured, err error) {
	w := local.Wrk{Connections: c.Connections, Seconds: seconds}
	if err := m.warm(ctx, s, w); err != nil {
		return r, err
	}
	family, err := local.Family(s.Pid())
	if err != nil {
		return r, err
	}
	var pids []string
	for _, pid := range family {
		pids = append(pids, strconv.Itoa(pid))
	}
	counts := filepath.Join(m.dir, "perf.csv")
	r, err = m.wrk(ctx, s, w, "perf", "stat", "-x", ",", "-e", systemCallEvent, "-o", counts, "-p", strings.Join(pids, ","), "--")
	if err != nil {
		return r, err
	}
	text, err := os.ReadFile(counts)
	if err != nil {
		return r, fmt.Errorf("reading perf's counts: %w", err)
	}
	r.SystemCalls, err = parsePerf(string(text))
	return r, err
}

// growth loads a server in pieces until it has answered ten million requests.
func (m *machine) growth(ctx context.Context, s *local.Server, c cell) (r measured, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, grownWithin, fmt.Errorf("it did not answer %d requests within %s", grownRequests, grownWithin))
	defer cancel()
	for r.Operations < grownRequests {
		w := local.Wrk{Connections: c.Connections, Seconds: seconds}
		if r.ResidentEarly > 0 {
			w.Seconds = int32(5 * seconds)
		}
		one, err := m.wrk(ctx, s, w)
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		if err != nil {
			return r, err
		}
		r.Operations += one.Operations
		r.WallSeconds += one.WallSeconds
		if err := local.Rest(ctx, settle); err != nil {
			return r, err
		}
		now, err := residentMemory(s)
		if err != nil {
			return r, err
		}
		if r.ResidentEarly == 0 && r.Operations >= earlyRequests {
			r.ResidentEarly = now
		}
		r.ResidentLate = now
	}
	return r, nil
}

func residentMemory(s *local.Server) (sum int64, err error) {
	family, err := local.Family(s.Pid())
	if err != nil {
		return 0, err
	}
	for _, pid := range family {
		n, err := local.ResidentMemory(pid)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// ownCase runs a case of a micro-benchmark.
func (m *machine) ownCase(ctx context.Context, c cell) (measured, error) {
	args := []string{m.path(c.Program), "cell", c.Case, "--seconds", strconv.Itoa(seconds)}
	child, err := local.Start(ctx, m.dir, c.CPUs, args)
	if err != nil {
		return measured{}, err
	}
	defer child.End()
	if err := child.Wait(caseWithin); err != nil {
		return measured{}, err
	}
	r, err := parseCase(child.Out(), c.Case)
	if err != nil {
		return measured{}, fmt.Errorf("running %s: %w", c, err)
	}
	return r, nil
}
