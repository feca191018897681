// Package statstest makes runs that never happened, for the tests of stats and report: a small model of servers and generators
// with a seeded random source stands in for a cluster. It is imported by tests and by hack/bench only.
package statstest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Server is a simulated implementation.
type Server struct {
	Name string
	Role v1alpha1.Role
	// CPUMicros is its CPU time per request.
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
	// Seconds is the duration of a cell.
	Seconds int32
}

// generatorMicros is the generator's CPU time per request: one CPU of it makes 200,000 requests/s.
const generatorMicros = 5

// Duel is a run of two contenders, the second with 1.2 times the first's CPU time per request, and a limit.
func Duel(blocks int32) Options {
	return Options{
		Name: "duel", Seed: 7, Blocks: blocks, Levels: []int32{10, 100, 500, 1000}, Noise: 0.03, Seconds: 5,
		Servers: []Server{
			{Name: "go", CPUMicros: 11.2, RSSBytes: 9 << 20},
			{Name: "go-slow", CPUMicros: 13.44, RSSBytes: 9 << 20},
			{Name: "epoll", Role: v1alpha1.RoleLimit, CPUMicros: 3.9, RSSBytes: 1 << 20},
		},
	}
}

// Run simulates a run. The first server is the baseline.
func Run(o Options) record.RunData {
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	start := time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)
	d := record.RunData{Manifest: record.RunManifest{
		Schema: record.RunManifestSchema, Operator: "v0.1.0", Seed: o.Seed, Blocks: o.Blocks, Started: start, Spec: Spec(o),
		Run: record.Run{Namespace: "default", Name: o.Name, UID: "2f1c7d0a-0000-4000-8000-000000000001", PlanHash: digest(o.Name)},
		Notes: []string{
			"order: every implementation once a block, in seeded random order",
			"spec.placement.pinning is absent: Required, a cell whose server or generator does not own its CPUs is void",
		},
	}}
	index := int32(0)
	for block := int32(1); block <= o.Blocks; block++ {
		for _, k := range rng.Perm(len(o.Servers)) {
			t := o.trial(rng, o.Servers[k], block, index, start)
			d.Trials = append(d.Trials, t)
			manifest := object(t.Manifest.Trial, "", "manifest.json")
			d.Manifest.Trials = append(d.Manifest.Trials, record.TrialEntry{
				Trial: t.Manifest.Trial, Index: index, Block: block, Implementation: o.Servers[k].Name, Manifest: &manifest,
			})
			start = start.Add(34 * time.Second)
			index++
		}
	}
	d.Manifest.Ended = start
	return d
}

// Spec is the spec of a simulated run.
func Spec(o Options) v1alpha1.BenchmarkRunSpec {
	s := v1alpha1.BenchmarkRunSpec{
		Baseline: o.Servers[0].Name, Blocks: o.Blocks,
		Loads: []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, DurationSeconds: o.Seconds}},
	}
	for _, c := range o.Levels {
		s.Loads[0].Levels = append(s.Loads[0].Levels, v1alpha1.Level{Connections: c})
	}
	for _, i := range o.Servers {
		s.Implementations = append(s.Implementations, v1alpha1.Implementation{Name: i.Name, Image: image(i.Name), Port: 8080, CPUs: 1, Role: i.Role})
	}
	return s
}

// Drop removes the trial of an implementation in a block, as if it had failed.
func Drop(d *record.RunData, block int32, implementation, reason, message string) {
	for i := range d.Trials {
		if m := d.Trials[i].Manifest; m.Block == block && m.Implementation == implementation {
			d.Trials = append(d.Trials[:i], d.Trials[i+1:]...)
			break
		}
	}
	for i := range d.Manifest.Trials {
		if e := &d.Manifest.Trials[i]; e.Block == block && e.Implementation == implementation {
			e.Manifest, e.Reason, e.Message = nil, reason, message
		}
	}
}

// Cell finds the records of a cell, to be changed by a test.
func Cell(d *record.RunData, block int32, implementation string, connections int32) (*record.CellRun, *record.CellObservation) {
	for i := range d.Trials {
		t := &d.Trials[i]
		if t.Manifest.Block != block || t.Manifest.Implementation != implementation {
			continue
		}
		for k := range t.Server.Cells {
			if t.Server.Cells[k].Point.Connections == connections {
				return &t.Generators[0].Cells[k], &t.Server.Cells[k]
			}
		}
	}
	panic(fmt.Sprintf("no cell of %s in block %d at %d connections", implementation, block, connections))
}

// Encode makes a stored distribution of a histogram.
func Encode(kind record.LatencyKind, h *hdrhistogram.Histogram) record.Latency {
	b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err)
	}
	return record.Latency{Kind: kind, Samples: h.TotalCount(), HDR: string(b)}
}

// NewHistogram is an empty histogram of the shape of record.Latency.
func NewHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, 3_600_000_000, 3) }

func (o Options) trial(rng *rand.Rand, s Server, block, index int32, start time.Time) record.TrialData {
	name := fmt.Sprintf("%s-b%02d-%s", o.Name, block, s.Name)
	t := record.TrialData{Manifest: record.TrialManifest{
		Schema: record.TrialManifestSchema, Trial: name, Index: index, Block: block, Attempt: 1, Implementation: s.Name, Start: start,
		Run: record.Run{Namespace: "default", Name: o.Name, UID: "2f1c7d0a-0000-4000-8000-000000000001"}, Operator: "v0.1.0",
		Pods: []record.PodRecord{
			{Name: name + "-server", Role: record.RoleServer, Node: "server", QOSClass: "Guaranteed", Image: image(s.Name), ImageID: "sha256:" + digest(s.Name)},
			{Name: name + "-generator", Role: "generator-0", Node: "loadgen", QOSClass: "Guaranteed", Image: image("agent"), ImageID: "sha256:" + digest("agent")},
		},
		Artifacts: []record.Artifact{object(name, record.RoleServer, "result.json"), object(name, "generator-0", "result.json")},
	}}
	t.Server.Environment = environment("server", "1", "")
	g := record.GeneratorResult{Environment: environment("loadgen", "0", "wrk 4.1.0")}
	warmup := int32(2)
	for _, c := range o.Levels {
		t.Manifest.Cells = append(t.Manifest.Cells, v1alpha1.Cell{
			Load: "sweep", Tool: v1alpha1.ToolWrk, Connections: c, Threads: 1, DurationSeconds: o.Seconds, WarmupSeconds: &warmup,
		})
		run, seen := o.cell(rng, s, c, start)
		g.Cells, t.Server.Cells = append(g.Cells, run), append(t.Server.Cells, seen)
		t.Manifest.Artifacts = append(t.Manifest.Artifacts, object(name, "generator-0", run.Raw))
	}
	t.Generators = []record.GeneratorResult{g}
	return t
}

func (o Options) cell(rng *rand.Rand, s Server, connections int32, start time.Time) (record.CellRun, record.CellObservation) {
	seconds := float64(o.Seconds) + 0.04
	cpu := s.CPUMicros * (1 + 0.08*math.Log10(float64(connections)/10+1)) * math.Exp(rng.NormFloat64()*o.Noise)
	generator := generatorMicros * math.Exp(rng.NormFloat64()*o.Noise)
	rate := min(0.995e6/cpu, 0.995e6/generator) * math.Exp(-math.Abs(rng.NormFloat64())*o.Noise/4)
	requests := int64(rate * seconds)
	mean := float64(connections) / rate * 1e6 * 0.96
	observed, corrected := latencies(rng, mean, requests)
	run := record.CellRun{
		Point: record.Point{Load: "sweep", Connections: connections}, Started: start, Ended: start.Add(time.Duration(seconds * 1e9)),
		Raw: fmt.Sprintf("sweep-%d.wrk.txt", connections), CPUsAllowed: "0", CPUNanos: int64(float64(requests) * generator * 1e3),
		Measurement: &record.Measurement{
			Tool: "wrk", ToolVersion: "4.1.0", Threads: 1, Connections: connections, DurationMicros: int64(seconds * 1e6),
			Requests: requests, Bytes: requests * 128,
			Latency: []record.Latency{Encode(record.Observed, observed), Encode(record.Corrected, corrected)},
		},
	}
	used := int64(float64(requests) * cpu * 1e3)
	window := int64((seconds + 0.1) * 1e9)
	seen := record.CellObservation{
		Point: record.Point{Load: "sweep", Connections: connections}, Started: start, Ended: start.Add(time.Duration(window)), CPUsAllowed: "1",
		CPUNanos: used, CoreNanos: window, BusyNanos: used + window/100, StealNanos: window / 500,
		RSSBytes: s.RSSBytes + int64(connections)<<14, PeakMemoryBytes: s.RSSBytes + int64(connections)<<14 + 1<<18,
		VoluntarySwitches: requests / 40, InvoluntarySwitches: 12, Threads: 5, Descriptors: int64(connections) + 7,
	}
	return run, seen
}

// latencies draws a distribution with a body and a tail. The corrected one has some samples more in its tail.
func latencies(rng *rand.Rand, mean float64, requests int64) (observed, corrected *hdrhistogram.Histogram) {
	const draws = 2000
	observed = NewHistogram()
	for k := range int64(draws) {
		v := mean * 0.94 * math.Exp(rng.NormFloat64()*0.28)
		if k%60 == 0 {
			v *= 1 + rng.ExpFloat64()*2
		}
		n := requests / draws
		if k < requests%draws {
			n++
		}
		record64(observed, v, n)
	}
	corrected = observed.Clone()
	for range requests / 300 {
		record64(corrected, mean*(3+rng.ExpFloat64()*9), 1)
	}
	return observed, corrected
}

func record64(h *hdrhistogram.Histogram, v float64, n int64) {
	if err := h.RecordValues(max(int64(v), 1), n); err != nil {
		panic(err)
	}
}

func environment(node, cpus, tool string) record.Environment {
	return record.Environment{
		Node: node, Kernel: "6.1.0-18-amd64", OS: "Debian GNU/Linux 12", CPUModel: "Example CPU @ 2.60GHz", OnlineCPUs: "0-1",
		MemoryBytes: 24 << 30, CgroupVersion: "v2", Governor: "performance", CPUsAllowed: cpus, AgentVersion: "v0.1.0", ToolVersion: tool,
	}
}

func image(name string) string { return "localhost/loadstone/" + name + ":dev" }

func object(trial, role, name string) record.Artifact {
	return record.Artifact{
		Role: role, Name: name, Key: "runs/default/" + trial + "/" + role + "/" + name, Bytes: int64(1000 + 37*len(name)*len(trial)),
		SHA256: digest(trial + role + name),
	}
}

func digest(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:])
}
