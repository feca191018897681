package bench

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/k6"
	"loadstone.dev/loadstone/internal/tool/vegeta"
)

const (
	connections = 64
	// Server and generator have a CPU each.
	serverCPU, generatorCPU = "1", "0"
	// address is where the server listens.
	address = "127.0.0.1:18090"
	// aimed is the rate of the aims. 99% of its requests must start within startAim milliseconds.
	aimed, startAim = 10_000, 1
	// grace is the extra time after which a generator is killed.
	grace = 30 * time.Second
)

// load is one rate for a time.
type load struct{ rate, seconds int }

func (l load) asked() int { return l.rate * l.seconds }

// due is the instant of an arrival, from 0.
func (l load) due(arrival int) time.Duration {
	return time.Duration(float64(arrival) * float64(time.Second) / float64(l.rate))
}

// cell is the load in the form of Loadstone's tools.
func (l load) cell() record.Cell {
	return record.Cell{
		Load: "rates", Connections: connections, RequestsPerSecond: int32(l.rate), Generators: 1, Threads: 1, Connection: record.KeepAlive,
		Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}}, DurationSeconds: int32(l.seconds),
	}
}

// BenchmarkRates measures how well load generators sustain an imposed rate against the server epoll: the delay of each request, lost arrivals, and
// the latency from intended starts. Server and generator have a CPU each.
//
// k6 is read as Loadstone reads it. The others write a row per request, and this file reads the rows. Loadstone uses vegeta because of these results.
func BenchmarkRates(b *testing.B) {
	m := begin(b)
	defer m.serve(pinned(b.Context(), serverCPU, m.program("epoll"), "--port", address[strings.LastIndexByte(address, ':')+1:]))()
	m.must(listening(b.Context()))
	rates := []int{1000, 5000, 10_000, 20_000, 50_000}
	if testing.Short() {
		rates = []int{500}
	}
	for _, rate := range rates {
		for _, g := range generators {
			l := load{rate: rate, seconds: sized(5, 1)}
			o, err := g.run(b.Context(), b.TempDir(), l)
			if err != nil {
				m.report(figures.Figure{Name: figureName("start-p99", g, l), Unit: "ms", Missing: err.Error()})
				continue
			}
			m.report(o.figures(g, l)...)
		}
	}
}

func listening(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for the server: %w", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// generator is a program that sustains a rate, with a reader of its output or of the file that matches rows.
type generator struct {
	name  string
	args  func(load) []string
	files func(load) []tool.File
	rows  string
	read  func(load, []byte) (outcome, error)
}

// generators sustain a rate, or claim to.
var generators = []generator{
	{name: "k6", args: k6Args, files: k6Files, read: readK6},
	{name: "h2load", args: h2loadArgs, rows: "rows", read: readH2load},
	{name: "oha", args: ohaArgs, read: readOha},
	{name: "vegeta", args: vegetaArgs, files: vegetaFiles, rows: "*.gob", read: readVegeta},
}

func (g generator) run(ctx context.Context, folder string, l load) (o outcome, err error) {
	if g.files != nil {
		for _, f := range g.files(l) {
			if err := os.WriteFile(filepath.Join(folder, f.Name), []byte(f.Text), 0o600); err != nil {
				return o, fmt.Errorf("writing a file of %s: %w", g.name, err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l.seconds)*time.Second+grace)
	defer cancel()
	c := pinned(ctx, generatorCPU, g.args(l)...)
	c.Dir, c.Env = folder, append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=http2client=0")
	out, err := c.Output()
	if err != nil {
		return o, fmt.Errorf("running %s: %w", g.name, err)
	}
	if g.rows != "" {
		names, err := filepath.Glob(filepath.Join(folder, g.rows))
		if err != nil || len(names) != 1 {
			return o, errors.Join(fmt.Errorf("reading what %s left: %d files are like %s", g.name, len(names), g.rows), err)
		}
		if out, err = os.ReadFile(names[0]); err != nil {
			return o, fmt.Errorf("reading what %s left: %w", g.name, err)
		}
	}
	o, err = g.read(l, out)
	o.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds() / float64(l.seconds)
	return o, err
}

func k6Args(l load) []string {
	return k6.Tool{}.Args(l.cell(), tool.Target{Address: address}, tool.Measure)
}

func k6Files(l load) []tool.File { return k6.Tool{}.Files(l.cell(), tool.Target{Address: address}) }

// h2loadArgs divides the rate among connections, since h2load accepts only a rate per connection.
func h2loadArgs(l load) []string {
	return []string{
		"h2load", "--h1", "-t1", "-c", strconv.Itoa(connections), "-D", strconv.Itoa(l.seconds),
		"--rps", strconv.FormatFloat(float64(l.rate)/connections, 'f', -1, 64), "--log-file", "rows", "http://" + address + "/",
	}
}

func ohaArgs(l load) []string {
	return []string{
		"oha", "--no-tui", "--worker-threads", "1", "-c", strconv.Itoa(connections), "-z", strconv.Itoa(l.seconds) + "s", "-w", "-q", strconv.Itoa(l.rate),
		"--output-format", "csv", "http://" + address + "/",
	}
}

func vegetaArgs(l load) []string {
	return vegeta.Tool{}.Args(l.cell(), tool.Target{Address: address}, tool.Measure)
}

func vegetaFiles(l load) []tool.File {
	return vegeta.Tool{}.Files(l.cell(), tool.Target{Address: address})
}

// outcome is what became of a rate.
type outcome struct {
	// sent is the number of answered requests.
	sent int
	// late has the delays of all requests, in ascending order; nil if unknown.
	late []time.Duration
	// The p99 latency from intended starts is between low and high. Lost arrivals count as never answered.
	low, high time.Duration
	// cpu is how many CPUs the generator used.
	cpu float64
}

// never is the latency of an arrival without an answer.
const never = time.Duration(math.MaxInt64)

// request is an answered request, in the generator's clock.
type request struct{ start, end time.Duration }

// outcomeOf matches the n-th started request with the n-th arrival. If the start of the timetable is unknown, it assumes the latest one that makes no
// request early. This favors the generator.
func (l load) outcomeOf(list []request, told bool) outcome {
	slices.SortFunc(list, func(a, b request) int { return int(a.start - b.start) })
	var began time.Duration
	if !told {
		began = never
		for i, r := range list {
			began = min(began, r.start-l.due(i))
		}
	}
	o := outcome{sent: len(list)}
	latencies := make([]time.Duration, 0, len(list))
	for i, r := range list {
		due := began + l.due(i)
		o.late = append(o.late, r.start-due)
		latencies = append(latencies, r.end-due)
	}
	slices.Sort(o.late)
	slices.Sort(latencies)
	for len(latencies) < l.asked() {
		latencies = append(latencies, never)
	}
	o.low = quantile(latencies, 0.99)
	o.high = o.low
	return o
}

// quantile is the smallest value that is not exceeded by a share of the ascending values.
func quantile(values []time.Duration, share float64) time.Duration {
	if len(values) == 0 {
		return never
	}
	return values[max(int(math.Ceil(share*float64(len(values))))-1, 0)]
}

// readK6 reads the output of Loadstone's wrapper, which has no start times.
func readK6(l load, out []byte) (outcome, error) {
	m, err := k6.Tool{}.Parse(out)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{sent: int(m.Requests), low: never, high: never}
	for _, latency := range m.Latency {
		if latency.Kind != record.FromIntended || latency.Samples == 0 {
			continue
		}
		share := 0.99 * float64(l.asked()) / float64(latency.Samples)
		if share > 1 {
			continue
		}
		low, errLow := histogram.Decode(latency.HDR)
		high, errHigh := histogram.Decode(latency.HDRHigh)
		if err := errors.Join(errLow, errHigh); err != nil {
			return o, err
		}
		o.low, o.high = micros(low.Quantile(share)), micros(high.Quantile(share))
	}
	return o, nil
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// readH2load reads rows of start (microseconds since the epoch), status and duration (microseconds).
func readH2load(l load, out []byte) (outcome, error) {
	var list []request
	for line := range strings.Lines(string(out)) {
		var start, status, took int64
		if _, err := fmt.Sscanf(line, "%d\t%d\t%d", &start, &status, &took); err != nil {
			return outcome{}, fmt.Errorf("reading h2load's row %q: %w", line, err)
		}
		if status > 0 {
			list = append(list, request{start: micros(start), end: micros(start + took)})
		}
	}
	return l.outcomeOf(list, false), nil
}

// readOha reads rows of seconds since the start of the timetable. Column 1 is the start and column 5 the duration.
func readOha(l load, out []byte) (outcome, error) {
	_, rows, found := strings.Cut(string(out), "\n")
	if !found {
		return outcome{}, errors.New("reading oha's rows: there are none")
	}
	var list []request
	for line := range strings.Lines(rows) {
		columns := strings.Split(strings.TrimSpace(line), ",")
		if len(columns) != 7 {
			return outcome{}, fmt.Errorf("reading oha's row %q: it has %d columns", line, len(columns))
		}
		start, errStart := strconv.ParseFloat(columns[0], 64)
		took, errTook := strconv.ParseFloat(columns[4], 64)
		if err := errors.Join(errStart, errTook); err != nil {
			return outcome{}, fmt.Errorf("reading oha's row %q: %w", line, err)
		}
		list = append(list, request{start: seconds(start), end: seconds(start + took)})
	}
	return l.outcomeOf(list, true), nil
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func readVegeta(l load, out []byte) (outcome, error) {
	var list []request
	var first time.Time
	for d := gob.NewDecoder(bytes.NewReader(out)); ; {
		var r struct {
			Seq       uint64
			Timestamp time.Time
			Latency   time.Duration
			Error     string
		}
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return l.outcomeOf(list, false), nil
		} else if err != nil {
			return outcome{}, fmt.Errorf("reading vegeta's records: %w", err)
		}
		if first.IsZero() {
			first = r.Timestamp
		}
		if start := r.Timestamp.Sub(first); r.Error == "" && r.Seq < uint64(l.asked()) {
			list = append(list, request{start: start, end: start + r.Latency})
		}
	}
}

func figureName(what string, g generator, l load) string {
	return fmt.Sprintf("rate-%d-%s-%s", l.rate, g.name, what)
}

func (o outcome) figures(g generator, l load) []figures.Figure {
	var start, lost figures.Aim
	if l.rate == aimed {
		start, lost = figures.AtMost(startAim), figures.AtMost(0)
	}
	latency := "p99 from the intended start " + millis(o.low)
	if o.high != o.low {
		latency += " to " + millis(o.high)
	}
	note := fmt.Sprintf("%s, %.2f CPUs", latency, o.cpu)
	list := []figures.Figure{{Name: figureName("start-p99", g, l), Unit: "ms", Aim: start, Missing: g.name + " does not tell; " + note}}
	if len(o.late) > 0 {
		note = fmt.Sprintf("p50 %s, max %s, %s", millis(quantile(o.late, 0.5)), millis(quantile(o.late, 1)), note)
		list[0] = figures.Of(list[0].Name, 1e3*quantile(o.late, 0.99).Seconds(), list[0].Unit, start, note)
	}
	missing := float64(max(l.asked()-o.sent, 0))
	return append(list, figures.Of(figureName("lost", g, l), missing, "arrivals", lost, fmt.Sprintf("%d of %d were answered", o.sent, l.asked())))
}

func millis(d time.Duration) string {
	if d == never {
		return "never"
	}
	return fmt.Sprintf("%.3g ms", 1e3*d.Seconds())
}

const ms = time.Millisecond

func TestComputesDelaysAndLostArrivals(t *testing.T) {
	l := load{rate: 100, seconds: 1}
	// Arrivals are 10 ms apart; each request takes 2 ms.
	made := func(n int, late func(int) time.Duration) (list []request) {
		for i := range n {
			start := l.due(i) + late(i)
			list = append(list, request{start, start + 2*ms})
		}
		return list
	}
	tenth := func(i int) time.Duration { return time.Duration(i%10) * ms }
	later := func(i int) time.Duration { return tenth(i) + 3*ms }
	for name, tc := range map[string]struct {
		list         []request
		told         bool
		median, last time.Duration
		p99          time.Duration
		wantLost     string
	}{
		"each in its time": {list: made(100, func(int) time.Duration { return 0 }), told: true, p99: 2 * ms, wantLost: "100 of 100"},
		"up to 9 ms late":  {list: made(100, tenth), told: true, median: 4 * ms, last: 9 * ms, p99: 11 * ms, wantLost: "100 of 100"},
		"where the timetable is told, all of them are late": {list: made(100, later), told: true, median: 7 * ms, last: 12 * ms, p99: 14 * ms, wantLost: "100 of 100"},
		"where it is not, the promptest is in time":         {list: made(100, later), median: 4 * ms, last: 9 * ms, p99: 11 * ms, wantLost: "100 of 100"},
		"two of a hundred that were never made":             {list: made(98, tenth), told: true, median: 4 * ms, last: 9 * ms, p99: never, wantLost: "98 of 100"},
	} {
		t.Run(name, func(t *testing.T) {
			o := l.outcomeOf(tc.list, tc.told)
			if got := quantile(o.late, 0.5); got != tc.median || quantile(o.late, 1) != tc.last || o.low != tc.p99 || o.high != tc.p99 {
				t.Errorf("requests were late by %s in the median and %s at most, and p99 is %s", got, quantile(o.late, 1), o.low)
			}
			if list := o.figures(generators[0], l); !strings.HasPrefix(list[1].Note, tc.wantLost) {
				t.Errorf("got %+v, want a note that begins with %q", list[1], tc.wantLost)
			}
		})
	}
}

func TestRowsOfEachGenerator(t *testing.T) {
	var records bytes.Buffer
	e := gob.NewEncoder(&records)
	type result struct {
		Seq       uint64
		Code      uint16
		Timestamp time.Time
		Latency   time.Duration
		Error     string
	}
	began := time.Unix(1700000000, 0)
	for i := range 2 {
		if err := e.Encode(&result{uint64(i), 200, began.Add(time.Duration(i) * 12 * ms), ms, ""}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Encode(&result{Seq: 2, Timestamp: began, Error: "EOF"}); err != nil {
		t.Fatal(err)
	}
	l := load{rate: 100, seconds: 1}
	for name, tc := range map[string]struct {
		read func(load, []byte) (outcome, error)
		out  string
		// last is the delay of the second of two requests.
		last    time.Duration
		wantErr string
	}{
		"h2load, ordered by their ends":        {read: readH2load, out: "1700000000012000\t200\t1000\n1700000000000000\t200\t30000\n1700000000000000\t-1\t5\n", last: 2 * ms},
		"a row of h2load that is none":         {read: readH2load, out: "nonsense\n", wantErr: "h2load's row"},
		"oha":                                  {read: readOha, out: "request-start,DNS\n0.001,0,0,0,0.001,10,200\n0.012,0,0,0,0.001,10,200\n", last: 2 * ms},
		"a row of oha that is cut off":         {read: readOha, out: "request-start,DNS\n0.001,0\n", wantErr: "2 columns"},
		"oha that printed nothing":             {read: readOha, wantErr: "there are none"},
		"vegeta, and a request without answer": {read: readVegeta, out: records.String(), last: 2 * ms},
		"records of vegeta that are cut off":   {read: readVegeta, out: records.String()[:records.Len()-3], wantErr: "vegeta's records"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := tc.read(l, []byte(tc.out))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got %v, want %q", err, tc.wantErr)
				}
				return
			}
			if got := quantile(o.late, 1); err != nil || o.sent != 2 || got.Round(time.Microsecond) != tc.last {
				t.Errorf("got %d requests, the last %s late, %v", o.sent, got, err)
			}
		})
	}
}
