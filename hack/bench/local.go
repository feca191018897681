package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/hack/bench/rates"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/tool/cases"
)

// here measures loadstone run on this machine, with the programs that "make build" has left in a folder.
type here struct {
	log *figures.Log
	// bin is the folder of the programs, pairs how many pairs are made, and seconds how long a cell of the sweep is measured; rates are those that load
	// generators are asked to keep.
	bin     string
	pairs   int
	seconds int
	rates   rates.Sizes
}

// Sizes of the whole, and of a trial of the program.
const (
	herePairs, hereSeconds           = 20, 10
	herePairsTried, hereSecondsTried = 2, 1
	// programPairs is how many pairs of a program's processes are made for each pair of wrk's.
	programPairs = 2
)

// localSpec is a run of two equal servers at some levels.
const localSpec = `apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: bench}
spec:
  implementations:
  - {name: first, command: [%[1]s, --port=18081], port: 18081}
  - {name: second, command: [%[1]s, --port=18082], port: 18082}
  baseline: first
  loads: [{name: sweep, tool: wrk, levels: [%[2]s], warmupSeconds: %[3]d, durationSeconds: %[4]d}]
  blocks: %[5]d
`

// Local measures how much of a sweep's time is under load, and throughput against wrk by hand, pinned alike.
func (h here) Local(ctx context.Context) ([]figures.Figure, error) {
	share, err := h.share(ctx)
	if err != nil {
		return nil, err
	}
	ratio, err := h.againstWrk(ctx)
	if err != nil {
		return []figures.Figure{share}, err
	}
	return []figures.Figure{share, ratio}, nil
}

// share leads a sweep of four levels, two implementations and three blocks.
func (h here) share(ctx context.Context) (figures.Figure, error) {
	levels := "{connections: 10}, {connections: 50}, {connections: 100}, {connections: 500}"
	warmup := max(h.seconds/5, 1)
	data, err := h.run(ctx, levels, warmup, h.seconds, 3)
	if err != nil {
		return figures.Figure{}, err
	}
	var loaded time.Duration
	cells := 0
	for _, t := range data.Trials {
		for _, c := range t.Generators[0].Cells {
			if c.Measurement != nil {
				loaded += time.Duration(warmup)*time.Second + time.Duration(c.Measurement.DurationMicros)*time.Microsecond
				cells++
			}
		}
	}
	took := data.Manifest.Ended.Sub(data.Manifest.Started)
	note := fmt.Sprintf("%d cells in %.1f s, %d blocks repeated", cells, took.Seconds(), data.Manifest.RepeatBlocks)
	return figures.Of("local-share-under-load", 100*loaded.Seconds()/took.Seconds(), "%", figures.AtLeast(97), note), nil
}

// againstWrk compares the throughput of a cell with that of the same wrk typed by hand, in pairs, whose order is random.
func (h here) againstWrk(ctx context.Context) (figures.Figure, error) {
	const warmup, seconds = 1, 2
	var ratios []float64
	var cpus [2]string
	for i := range h.pairs + 1 {
		var through, byHand float64
		measures := []func() error{
			func() (err error) {
				through, cpus, err = h.cell(ctx, warmup, seconds)
				return err
			},
			func() (err error) {
				if cpus[0] == "" { // The first pair only finds out which CPUs there are.
					return nil
				}
				byHand, err = h.byHand(ctx, cpus, warmup, seconds)
				return err
			},
		}
		for _, j := range rand.Perm(len(measures)) {
			if err := measures[j](); err != nil {
				return figures.Figure{}, err
			}
		}
		if i > 0 {
			ratios = append(ratios, through/byHand)
			h.log.Step("pair %d: %.0f requests/s, %.0f by hand", i, through, byHand)
		}
	}
	of, err := figures.Geometric(ratios)
	if err != nil {
		return figures.Figure{}, err
	}
	return figures.Figure{
		Name: "local-throughput-against-wrk-by-hand", Value: of.Mean, Interval: of, Unit: "ratio", Aim: figures.Within(0.98, 1.02).Bound(0),
		Note: fmt.Sprintf("n=%d, %s", len(ratios), of),
	}, nil
}

// cell leads a run of one block of one cell each, and returns the first server's throughput, and the CPUs of server and generator.
func (h here) cell(ctx context.Context, warmup, seconds int) (rate float64, cpus [2]string, err error) {
	data, err := h.run(ctx, "{connections: 100}", warmup, seconds, 1)
	if err != nil {
		return 0, cpus, err
	}
	for _, t := range data.Trials {
		if own := t.Generators[0].Cells[0]; t.Manifest.Servers[0] == "first" && own.Measurement != nil {
			m := own.Measurement
			return float64(m.Requests) / (float64(m.DurationMicros) / 1e6), [2]string{t.Servers[0].Cells[0].CPUsAllowed, own.CPUsAllowed}, nil
		}
	}
	return 0, cpus, errors.New("measuring a cell: the run has no measurement of it")
}

// run leads a run of the servers.
func (h here) run(ctx context.Context, levels string, warmup, seconds, blocks int) (record.RunData, error) {
	server, err := h.program("gohttp")
	if err != nil {
		return record.RunData{}, err
	}
	return h.lead(ctx, fmt.Sprintf(localSpec, server, levels, warmup, seconds, blocks))
}

// program is the path of a program, from any folder.
func (h here) program(name string) (string, error) {
	path, err := filepath.Abs(filepath.Join(h.bin, name))
	if err != nil {
		return "", fmt.Errorf("finding the programs: %w", err)
	}
	return path, nil
}

// lead leads a run in a folder of its own and reads what it has left. That it has no verdict does not matter.
func (h here) lead(ctx context.Context, text string) (data record.RunData, err error) {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return data, fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	file := filepath.Join(folder, "run.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return data, fmt.Errorf("writing a run: %w", err)
	}
	out, err := exec.CommandContext(ctx, filepath.Join(h.bin, "loadstone"), "run", "--out", filepath.Join(folder, "results"), file).CombinedOutput()
	const inconclusive = 4
	if code := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &code) || code.ExitCode() != inconclusive) {
		return data, fmt.Errorf("leading a run: %w: %s", err, out)
	}
	f, err := artifact.OpenFolder(folder)
	if err != nil {
		return data, err
	}
	return f.Load(ctx, "results")
}

// byHand starts the server and types wrk twice, the first time to warm up.
func (h here) byHand(ctx context.Context, cpus [2]string, warmup, seconds int) (rate float64, err error) {
	const port, settle = "18081", 300 * time.Millisecond
	server := exec.CommandContext(ctx, "taskset", "--cpu-list", cpus[0], filepath.Join(h.bin, "gohttp"), "--port="+port)
	if err := server.Start(); err != nil {
		return 0, fmt.Errorf("starting the server: %w", err)
	}
	defer func() {
		_ = server.Process.Kill() // It has ended by itself, or it ends now.
		_ = server.Wait()         // Its status is that of the kill.
	}()
	time.Sleep(settle)
	var out []byte
	for _, d := range []int{warmup, seconds} {
		wrk := exec.CommandContext(ctx, "taskset", "--cpu-list", cpus[1], "wrk", "-t1", "-c100", "-d"+strconv.Itoa(d)+"s", "http://127.0.0.1:"+port+"/")
		if out, err = wrk.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("running wrk by hand: %w: %s", err, out)
		}
	}
	return typedRate(string(out))
}

var typedRateLine = regexp.MustCompile(`(?m)^Requests/sec:\s+([0-9.]+)$`)

// typedRate is the throughput that wrk prints.
func typedRate(out string) (float64, error) {
	m := typedRateLine.FindStringSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("reading wrk's output: it has no line Requests/sec: %q", strings.TrimSpace(out))
	}
	return strconv.ParseFloat(m[1], 64)
}

// programSpec is a run of one program that measures itself.
const programSpec = `apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: bench}
spec:
  implementations: [{name: only, command: [%s, cases]}]
  baseline: only
  microbenchmark: {format: JSONLines, limitSeconds: 60}
  blocks: 1
`

// Cases compares the cases of a program in a trial with those of the same program typed by hand, pinned alike, in pairs whose order is random.
// Of each case the median of a process counts, and of a pair the geometric mean over the cases.
func (h here) Cases(ctx context.Context) ([]figures.Figure, error) {
	program, err := h.program("faulty")
	if err != nil {
		return nil, err
	}
	var ratios []float64
	cpus := ""
	for i := range programPairs*h.pairs + 1 {
		var inTrial, byHand []record.Case
		measures := []func() error{
			func() (err error) {
				inTrial, cpus, err = h.trial(ctx, program)
				return err
			},
			func() (err error) {
				if cpus == "" { // The first pair only finds out which CPUs there are.
					return nil
				}
				byHand, err = typedCases(ctx, program, cpus)
				return err
			},
		}
		for _, j := range rand.Perm(len(measures)) {
			if err := measures[j](); err != nil {
				return nil, err
			}
		}
		if i > 0 {
			ratio, err := ratioOf(inTrial, byHand)
			if err != nil {
				return nil, err
			}
			ratios = append(ratios, ratio)
			h.log.Step("pair %d: %.4f of the times by hand", i, ratio)
		}
	}
	of, err := figures.Geometric(ratios)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("n=%d, %s", len(ratios), of)
	return []figures.Figure{
		{Name: "case-time-against-by-hand", Value: of.Mean, Interval: of, Unit: "ratio", Aim: figures.Within(0.98, 1.02).Bound(0), Note: note},
		figures.Of("case-time-interval-off-one", 100*max(of.Low-1, 1-of.High, 0), "%", figures.AtMost(0), "how far the interval lies from 1"),
	}, nil
}

// trial leads a run of one process, and returns what it has printed and its CPUs.
func (h here) trial(ctx context.Context, program string) (printed []record.Case, cpus string, err error) {
	data, err := h.lead(ctx, fmt.Sprintf(programSpec, program))
	if err != nil {
		return nil, "", err
	}
	if len(data.Trials) == 0 || data.Trials[0].Servers[0].Program == nil {
		return nil, "", errors.New("measuring a program: its run has no trial")
	}
	own := data.Trials[0].Servers[0]
	return own.Program.Cases, own.Cells[0].CPUsAllowed, nil
}

// typedCases are those that a program prints which somebody starts by hand on some CPUs.
func typedCases(ctx context.Context, program, cpus string) ([]record.Case, error) {
	out, err := exec.CommandContext(ctx, "taskset", "--cpu-list", cpus, program, "cases").Output()
	if err != nil {
		return nil, fmt.Errorf("running a program by hand: %w", err)
	}
	found, err := cases.Read(record.JSONLines, out)
	if err != nil {
		return nil, fmt.Errorf("reading what a program printed by hand: %w", err)
	}
	var run record.ProgramRun
	found.Record(&run)
	return run.Cases, nil
}

// ratioOf is the geometric mean of the ratios of the times of all cases, which both sides must have.
func ratioOf(own, base []record.Case) (float64, error) {
	times := map[string]float64{}
	for _, c := range base {
		times[c.Name] = timeOf(c)
	}
	var logs float64
	for _, c := range own {
		ratio := timeOf(c) / times[c.Name]
		if !(ratio > 0) || math.IsInf(ratio, 1) {
			return 0, fmt.Errorf("comparing case %s: it has no time on both sides", c.Name)
		}
		logs += math.Log(ratio)
	}
	if len(own) == 0 || len(own) != len(base) {
		return 0, fmt.Errorf("comparing cases: one side has %d, and the other %d", len(own), len(base))
	}
	return math.Exp(logs / float64(len(own))), nil
}

// timeOf is the median time of a case; 0 if it has none.
func timeOf(c record.Case) float64 {
	for _, v := range c.Values {
		if v.Metric == "Time" {
			return inference.Median(v.Samples)
		}
	}
	return 0
}

// Program measures how long loadstone takes to print its help, and how large it is.
func (h here) Program(ctx context.Context) ([]figures.Figure, error) {
	const times = 11
	program := filepath.Join(h.bin, "loadstone")
	info, err := os.Stat(program)
	if err != nil {
		return nil, fmt.Errorf("finding loadstone: %w: was it built?", err)
	}
	var took []time.Duration
	for range times {
		began := time.Now()
		if out, err := exec.CommandContext(ctx, program, "--help").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("printing the help: %w: %s", err, out)
		}
		took = append(took, time.Since(began))
	}
	return []figures.Figure{
		figures.Of("loadstone-help", 1e3*figures.Median(took).Seconds(), "ms", figures.AtMost(50), figures.Spread(took)),
		figures.Of("loadstone-size", float64(info.Size())/1e6, "MB", figures.AtMost(60), ""),
	}, nil
}
