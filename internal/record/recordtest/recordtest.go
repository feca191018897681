// Package recordtest simulates records of runs with a small seeded model of servers and generators. Only tests import
// it.
package recordtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"strconv"
	"sync"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// Server is a simulated implementation.
type Server struct {
	Name      string
	Role      record.Role
	CPUMicros float64
	// RSSBytes is its resident memory with one connection; each connection adds 16 KiB.
	RSSBytes int64
}

// Options describe a simulated run.
type Options struct {
	Name    string
	Seed    uint64
	Blocks  int32
	Levels  []int32
	Servers []Server
	// Noise is the standard deviation of the log of a cell's speed, and of its CPU time per request.
	Noise float64
	// Drift is the standard deviation of the log of the machine's wandering speed.
	Drift   float64
	Duet    bool
	Seconds int32
	// Generators is the number of generator pods that share each level; 0 means 1.
	Generators int32
}

func (o Options) generators() int { return int(max(o.Generators, 1)) }

const generatorMicros = 5

// Duel is a run of two contenders and a reference; the second contender has 1.2 times the first's CPU time per
// request.
func Duel(blocks int32) Options {
	return Options{
		Name: "duel", Seed: 7, Blocks: blocks, Levels: []int32{10, 100, 500, 1000}, Noise: 0.03, Seconds: 5,
		Servers: []Server{
			{Name: "go", CPUMicros: 11.2, RSSBytes: 9 << 20},
			{Name: "go-slow", CPUMicros: 13.44, RSSBytes: 9 << 20},
			{Name: "epoll", Role: record.RoleReference, CPUMicros: 3.9, RSSBytes: 1 << 20},
		},
	}
}

// Round is a suite's round: two contenders at one level; the second costs cost times more than in a Duel.
func Round(round int, cost float64) record.RunData {
	o := Duel(6)
	o.Levels, o.Seconds, o.Noise, o.Seed = []int32{100}, 1, 0.01, uint64(round)
	o.Servers = o.Servers[:2]
	o.Servers[1].CPUMicros *= cost
	d := Run(o)
	NewImage(d, o.Servers[1].Name, round)
	return d
}

// NewImage gives an implementation of a round an image that no other round has.
func NewImage(d record.RunData, name string, round int) {
	for _, t := range d.Trials {
		for i := range t.Manifest.Pods {
			if p := &t.Manifest.Pods[i]; t.Manifest.Servers[0] == name && p.Member == record.MemberServer(0) {
				p.ImageID = fmt.Sprintf("sha256:%s", digest(fmt.Sprint(name, round)))
			}
		}
	}
}

// Run simulates a run. The first server is the baseline.
func Run(o Options) record.RunData {
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	d := record.RunData{Manifest: record.RunManifest{
		Schema: record.RunManifestSchema, Operator: "v0.1.0", Blocks: o.Blocks, Started: start, Plan: plan(o),
		Run: record.Run{Namespace: "default", Name: o.Name, UID: "2f1c7d0a-0000-4000-8000-000000000001", PlanHash: digest(o.Name)},
	}}
	machine := newMachine(o)
	index := int32(0)
	for block := int32(1); block <= o.Blocks; block++ {
		for _, servers := range o.block(rng) {
			t := o.trial(rng, machine, servers, block, index, start)
			d.Trials = append(d.Trials, t)
			manifest := object(o.Name, t.Manifest.Name, "", "manifest.json")
			d.Manifest.Trials = append(d.Manifest.Trials, record.TrialEntry{PlannedTrial: t.Manifest.PlannedTrial, Manifest: &manifest})
			d.Manifest.Plan.Trials = append(d.Manifest.Plan.Trials, t.Manifest.PlannedTrial)
			start = start.Add(34 * time.Second)
			index++
		}
	}
	d.Manifest.Ended = start
	return d
}

const warmupSeconds = 2

func plan(o Options) record.Plan {
	p := record.Plan{
		Seed: o.Seed, Order: record.OrderBlocks, Blocks: o.Blocks, Baseline: o.Servers[0].Name, Loads: []record.Load{{Name: "sweep"}},
		Generators: record.Generators{Pods: int32(o.generators()), CPUs: 1}, LatencyPercentiles: []string{"50", "99"},
		Placement: record.Placement{Pinning: record.Required, GeneratorPinning: record.Required, SeparateNodes: record.Preferred},
		Validity:  record.Validity{MaxErrorRate: 0.001, MaxNeighbourCPU: 0.15, MaxSteal: 0.05},
		Notes: []string{
			"order: every implementation once a block, in seeded random order",
			"spec.placement.pinning is absent: Required, a cell whose server or generator does not own its CPUs is void",
		},
	}
	if o.Duet {
		p.Order = record.OrderSlicedDuet
	}
	for _, i := range o.Servers {
		p.Implementations = append(p.Implementations, record.Implementation{
			Name: i.Name, Image: image(i.Name), Port: 8080, CPUs: 1, MemoryBytes: 256 << 20, Role: cmp.Or(i.Role, record.RoleContender),
		})
	}
	for _, c := range o.Levels {
		p.Cells = append(p.Cells, o.planned(c))
	}
	return p
}

func (o Options) planned(connections int32) record.Cell {
	c := record.Cell{
		Load: "sweep", Tool: record.ToolWrk, Connections: connections, Threads: 1, DurationSeconds: o.Seconds, WarmupSeconds: warmupSeconds,
		Generators: int32(o.generators()), Connection: record.KeepAlive, Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}},
	}
	if o.Duet {
		c.Order = record.OrderSlicedDuet
	}
	return c
}

// Drop removes a trial, as if it had failed.
func Drop(d *record.RunData, block int32, implementation, reason, message string) {
	for i := range d.Trials {
		if m := d.Trials[i].Manifest; m.Block == block && m.Servers[0] == implementation {
			d.Trials = append(d.Trials[:i], d.Trials[i+1:]...)
			break
		}
	}
	for i := range d.Manifest.Trials {
		if e := &d.Manifest.Trials[i]; e.Block == block && e.Servers[0] == implementation {
			e.Manifest, e.Reason, e.Message = nil, reason, message
		}
	}
}

// Cell returns a cell's observation and its first generator's record, for a test to change.
func Cell(d *record.RunData, block int32, implementation string, connections int32) (*record.CellRun, *record.CellObservation) {
	for i := range d.Trials {
		t := &d.Trials[i]
		if t.Manifest.Block != block || t.Manifest.Servers[0] != implementation {
			continue
		}
		for k := range t.Servers[0].Cells {
			if t.Servers[0].Cells[k].Connections == connections {
				return &t.Generators[0].Cells[k], &t.Servers[0].Cells[k]
			}
		}
	}
	panic(fmt.Sprintf("no cell of %s in block %d at %d connections", implementation, block, connections))
}

// answerBytes is the size of every simulated answer: 117 bytes of head, 11 of body.
const answerBytes = 128

// SetRequests sets a cell's answers and bytes.
func SetRequests(m *record.Measurement, n int64) { m.Requests, m.Bytes = n, n*answerBytes }

// encodings caches encoded distributions by their bins: tests repeat the same runs, and compression is most of the
// work.
var encodings = struct {
	mu   sync.Mutex
	text map[string]string
}{text: map[string]string{}}

// Encode makes a stored distribution of a histogram.
func Encode(kind record.LatencyKind, h *histogram.Histogram) record.Latency {
	var bins []byte
	for b, n := range h.Bins() {
		bins = binary.AppendVarint(binary.AppendVarint(bins, b.Low), n)
	}
	encodings.mu.Lock()
	defer encodings.mu.Unlock()
	text, ok := encodings.text[string(bins)]
	if !ok {
		var err error
		if text, err = h.Encode(); err != nil {
			panic(err)
		}
		encodings.text[string(bins)] = text
	}
	return record.Latency{Kind: kind, Samples: h.Samples(), HDR: text}
}

// Equal makes a stored distribution of equal samples.
func Equal(kind record.LatencyKind, micros, samples int64) record.Latency {
	h := &histogram.Histogram{}
	record64(h, float64(micros), samples)
	return Encode(kind, h)
}

// EncodeBrackets makes a stored distribution between two histograms.
func EncodeBrackets(kind record.LatencyKind, low, high *histogram.Histogram) record.Latency {
	l := Encode(kind, low)
	l.HDRHigh = Encode(kind, high).HDR
	return l
}

// Widen makes an exact distribution bracketed: each sample is known between powers of 1.1.
func Widen(kind record.LatencyKind, l record.Latency) record.Latency {
	h, err := histogram.Decode(l.HDR)
	if err != nil {
		panic(err)
	}
	low, high := &histogram.Histogram{}, &histogram.Histogram{}
	for b, n := range h.Bins() {
		power := math.Floor(math.Log(float64(b.Low)) / math.Log(1.1))
		record64(low, math.Pow(1.1, power), n)
		record64(high, math.Pow(1.1, power+1), n)
	}
	return EncodeBrackets(kind, low, high)
}

// Thin reduces a distribution to fewer samples of the same shape.
func Thin(l record.Latency, samples int64) record.Latency {
	h, err := histogram.Decode(l.HDR)
	if err != nil {
		panic(err)
	}
	out := &histogram.Histogram{}
	var seen, kept int64
	for b, n := range h.Bins() {
		seen += n
		if more := seen*samples/h.Samples() - kept; more > 0 {
			record64(out, float64(b.High), more)
			kept += more
		}
	}
	return Encode(l.Kind, out)
}

func (o Options) trial(rng *rand.Rand, machine *machine, servers []Server, block, index int32, start time.Time) record.TrialData {
	s := servers[0]
	name := fmt.Sprintf("%s-b%02d-%s", o.Name, block, s.Name)
	t := record.TrialData{Manifest: record.TrialManifest{
		Schema: record.TrialManifestSchema, Attempt: 1, Start: start,
		PlannedTrial: record.PlannedTrial{Name: name, Index: index, Block: block, Type: record.Sweep, Servers: []string{s.Name}},
		Run:          record.Run{Namespace: "default", Name: o.Name, UID: "2f1c7d0a-0000-4000-8000-000000000001"}, Operator: "v0.1.0",
		Pods: []record.PodRecord{
			{Name: name + "-server", Member: record.MemberServer(0), Node: "server", QOSClass: "Guaranteed", Image: image(s.Name), ImageID: "sha256:" + digest(s.Name)},
		},
		Clocks:    []record.AgentClock{{Member: record.MemberServer(0), OffsetNanos: 40_000, RoundTripNanos: 300_000}},
		Artifacts: []record.Artifact{object(o.Name, name, record.MemberServer(0), "result.json")},
	}}
	// The observer runs on the node's shared CPUs.
	t.Servers = []record.ObserverResult{{Environment: environment("server", "0", "")}}
	for k := range o.generators() {
		o.generator(&t, k)
	}
	for _, c := range o.Levels {
		t.Manifest.Cells = append(t.Manifest.Cells, o.planned(c))
		if o.Duet {
			o.addDuet(rng, machine, &t, servers, c, start)
			continue
		}
		runs, seen := o.cell(rng, machine.over(o.Seconds), s, c, start)
		t.Servers[0].Cells = append(t.Servers[0].Cells, seen)
		for k, run := range runs {
			t.Generators[k].Cells = append(t.Generators[k].Cells, run)
			t.Manifest.Artifacts = append(t.Manifest.Artifacts, object(o.Name, name, record.MemberGenerator(k), run.Raw))
		}
	}
	if o.Duet {
		o.nameDuet(&t, servers[1])
	}
	return t
}

func (o Options) generator(t *record.TrialData, k int) {
	node := "loadgen"
	if k > 0 {
		node = fmt.Sprintf("loadgen-%d", k)
	}
	m := &t.Manifest
	m.Pods = append(m.Pods, record.PodRecord{
		Name: m.Name + "-" + record.MemberGenerator(k), Member: record.MemberGenerator(k), Node: node, QOSClass: "Guaranteed", Image: image("agent"), ImageID: "sha256:" + digest("agent"),
	})
	m.Clocks = append(m.Clocks, record.AgentClock{Member: record.MemberGenerator(k), OffsetNanos: int64(k+1) * clockOffset, RoundTripNanos: 400_000})
	m.Artifacts = append(m.Artifacts, object(o.Name, m.Name, record.MemberGenerator(k), "result.json"))
	g := record.GeneratorResult{Environment: environment(node, "0", "wrk 4.1.0")}
	if k == 0 {
		g.Responses = []record.Response{{Path: "/", Status: 200, BodyBytes: 11, BodySHA256: digest("hello world"), HeaderBytes: 117}}
	}
	t.Generators = append(t.Generators, g)
}

// clockOffset is each generator's clock offset to the one before it, in nanoseconds.
const clockOffset = 70_000_000

// cell simulates a cell on a machine that is slower by a factor.
func (o Options) cell(rng *rand.Rand, slow float64, s Server, connections int32, start time.Time) ([]record.CellRun, record.CellObservation) {
	seconds := float64(o.Seconds) + 0.04
	n := float64(o.generators())
	cpu := s.CPUMicros * (1 + 0.08*math.Log10(float64(connections)/10+1)) * math.Exp(rng.NormFloat64()*o.Noise) * slow
	generator := generatorMicros * slow * math.Exp(rng.NormFloat64()*o.Noise)
	rate := min(0.995e6/cpu, n*0.995e6/generator) * math.Exp(-math.Abs(rng.NormFloat64())*o.Noise/4)
	mean := float64(connections) / rate * 1e6 * 0.96
	var runs []record.CellRun
	var requests int64
	for k := range o.generators() {
		share := timetable.Share(record.Cell{Connections: connections, Generators: int32(o.generators())}, int32(k)).Connections
		part := int64(rate * seconds * float64(share) / float64(connections))
		requests += part
		// Server and observer have CPUs 1 and 0 of another node; each generator has its own.
		own := strconv.Itoa(2 * k)
		first := start.Add(time.Duration(k+1) * clockOffset).Add(time.Duration(1+rng.IntN(3)) * time.Millisecond)
		observed, corrected := latencies(rng, mean, part)
		runs = append(runs, record.CellRun{
			Point: record.Point{Load: "sweep", Connections: connections}, Started: start, Ended: start.Add(time.Duration(seconds * 1e9)),
			FirstConnection: &first, Raw: fmt.Sprintf("sweep-%d.wrk.txt", connections), CPUsAllowed: own,
			CPUNanos: int64(float64(part) * generator * 1e3), AgentCPUNanos: int64(2e6 * seconds), Audit: &record.Audit{Requests: 40},
			Network: record.Network{ActiveOpens: int64(share), SegmentsOut: part, Retransmits: part / 200_000, TimeWait: int64(share)},
			Measurement: &record.Measurement{
				Tool: "wrk", ToolVersion: "4.1.0", Threads: 1, Connections: share, DurationMicros: int64(seconds * 1e6),
				Requests: part, Bytes: part * answerBytes,
				Latency: []record.Latency{Encode(record.Observed, observed), Encode(record.Corrected, corrected)},
			},
		})
	}
	return runs, o.observation(rng, s, record.Point{Load: "sweep", Connections: connections}, start, requests, cpu)
}

func (o Options) observation(rng *rand.Rand, s Server, at record.Point, start time.Time, requests int64, cpu float64) record.CellObservation {
	used := int64(float64(requests) * cpu * 1e3)
	window := int64((float64(o.Seconds) + 0.14) * 1e9)
	rss := s.RSSBytes + int64(at.Connections)<<14
	pressure := window / 1e3 / 50
	return record.CellObservation{
		Point: at, Started: start, Ended: start.Add(time.Duration(window)), CPUsAllowed: "1",
		CPUNanos: used, CoreNanos: window, BusyNanos: used + window/100, StealNanos: window / 500,
		RunQueueNanos: requests * 300, PressureMicros: &pressure, ObserverCPUNanos: window / 500,
		Network:       record.Network{PassiveOpens: int64(at.Connections), SegmentsOut: requests, Retransmits: requests / 200_000},
		Sockets:       &record.Sockets{Established: int64(at.Connections), Jain: 0.99 - 0.01*rng.Float64()},
		Series:        o.series(rng, requests, used),
		RSSStartBytes: rss - 1<<16, RSSMiddleBytes: rss - 1<<14, RSSBytes: rss, PeakMemoryBytes: rss + 1<<18,
		VoluntarySwitches: requests / 40, InvoluntarySwitches: 12, Threads: 5, Descriptors: int64(at.Connections) + 7,
	}
}

func (o Options) series(rng *rand.Rand, requests, used int64) *record.Series {
	n := int(o.Seconds) * 10
	s := record.Series{EveryMillis: 100}
	dip := rng.IntN(n)
	for k := range n {
		speed := 1 + o.Noise*rng.NormFloat64()/2
		if k == dip {
			speed *= 1 - 0.3*rng.Float64()
		}
		s.SegmentsOut = append(s.SegmentsOut, int64(float64(requests)/float64(n)*speed))
		s.CPUNanos = append(s.CPUNanos, int64(float64(used)/float64(n)*speed))
	}
	return &s
}

func environment(node, cpus, tool string) record.Environment {
	return record.Environment{
		Node: node, Kernel: "6.1.0-18-amd64", OS: "Debian GNU/Linux 12", CPUModel: "Example CPU @ 2.60GHz", OnlineCPUs: "0-1",
		MemoryBytes: 24 << 30, CgroupVersion: "v2", Governor: "performance", CPUsAllowed: cpus, AgentVersion: "v0.1.0", ToolVersion: tool,
	}
}

func image(name string) string { return "localhost/loadstone/" + name + ":dev" }

func object(run, trial, member, name string) record.Artifact {
	return record.Artifact{
		Member: member, Name: name, Key: path.Join("runs/default", run+"-2f1c7d0a", "trials", trial, "attempt-1", member, name), Bytes: int64(1000 + 37*len(name)*len(trial)),
		SHA256: digest(trial + member + name),
	}
}

func digest(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:])
}
