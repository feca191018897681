package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/analysis/validity"
)

const (
	memorySamples = 5
	memoryEvery   = 2 * time.Second
	megabyte      = 1e6
)

// Memory measures what the operator needs when it has nothing to do. Where its process can be seen, that is VmRSS, the strictest
// measure: the pages of its program are counted as well. Elsewhere it is the working set that its node tells.
func (b *Bench) Memory(ctx context.Context) ([]figures.Figure, error) {
	if err := b.cluster.awaitFree(ctx, b.log); err != nil {
		return nil, err
	}
	pod, err := b.operator(ctx)
	if err != nil {
		return nil, err
	}
	time.Sleep(b.sizes.rest)
	var samples []float64
	measure := "VmRSS"
	for range memorySamples {
		value, err := residentBytes("/proc", pod)
		if errors.Is(err, errNotHere) {
			measure = "working set"
			value, err = b.workingSet(ctx, pod)
		}
		if err != nil {
			return nil, err
		}
		samples = append(samples, float64(value)/megabyte)
		time.Sleep(memoryEvery)
	}
	set, err := b.workingSet(ctx, pod)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%s, largest of %d over %s, %s after the last run; MB = 10^6 bytes; working set by the node %.1f MB", measure, memorySamples, memorySamples*memoryEvery, b.sizes.rest, float64(set)/megabyte)
	return []figures.Figure{figures.Of("operator-idle-memory", slices.Max(samples), "MB", figures.AtMost(60), note)}, nil
}

// operatorLabels are those of the operator's pods.
var operatorLabels = client.MatchingLabels{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "operator"}

func (b *Bench) operator(ctx context.Context) (*corev1.Pod, error) {
	var pods corev1.PodList
	if err := b.cluster.List(ctx, &pods, client.InNamespace(system), operatorLabels); err != nil {
		return nil, fmt.Errorf("listing the operator's pods: %w", err)
	}
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			return p, nil
		}
	}
	return nil, errors.New("listing the operator's pods: none runs")
}

// workingSet is what the pod's node says of it.
func (b *Bench) workingSet(ctx context.Context, pod *corev1.Pod) (int64, error) {
	body, err := b.cluster.get(ctx, "api/v1/nodes", pod.Spec.NodeName, "proxy/stats/summary")
	if err != nil {
		return 0, err
	}
	var summary struct {
		Pods []struct {
			PodRef     struct{ UID string }
			Containers []struct {
				Memory struct{ WorkingSetBytes int64 }
			}
		}
	}
	if err := json.Unmarshal(body, &summary); err != nil {
		return 0, fmt.Errorf("decoding the node's statistics: %w", err)
	}
	for _, p := range summary.Pods {
		if p.PodRef.UID == string(pod.UID) && len(p.Containers) > 0 {
			return p.Containers[0].Memory.WorkingSetBytes, nil
		}
	}
	return 0, fmt.Errorf("reading the statistics of node %s: they do not have pod %s", pod.Spec.NodeName, pod.Name)
}

// errNotHere says that a pod's processes are not on this machine.
var errNotHere = errors.New("no process of the pod can be seen")

// residentBytes is VmRSS of the processes of a pod's container.
func residentBytes(proc string, pod *corev1.Pod) (int64, error) {
	var sum int64
	err := eachProcess(proc, pod, func(folder string) error {
		status, err := os.ReadFile(filepath.Join(folder, "status"))
		sum += 1024 * statusNumber(status, "VmRSS")
		return err
	})
	if err == nil && sum == 0 {
		err = errNotHere
	}
	return sum, err
}

// usedCPU is the CPU time that the processes of a pod's container have used since they were started.
func usedCPU(proc string, pod *corev1.Pod) (time.Duration, error) {
	var ticks int64
	err := eachProcess(proc, pod, func(folder string) error {
		stat, err := os.ReadFile(filepath.Join(folder, "stat"))
		// After the name, which may hold blanks: the user's and the system's time are the 12th and 13th field.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if err != nil || len(fields) < 13 {
			return errors.Join(err, fmt.Errorf("%q is no line of times", stat))
		}
		for _, field := range fields[11:13] {
			n, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil {
				return fmt.Errorf("reading a time: %w", err)
			}
			ticks += n
		}
		return nil
	})
	if err == nil && ticks == 0 {
		err = errNotHere
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, err
}

// ticksPerSecond is the unit of times in /proc, the same on all of Linux.
const ticksPerSecond = 100

// eachProcess visits the folders in /proc of the processes of a pod's container, which are found by its id in their cgroup.
func eachProcess(proc string, pod *corev1.Pod, visit func(folder string) error) error {
	_, id, ok := strings.Cut(pod.Status.ContainerStatuses[0].ContainerID, "://")
	if !ok {
		return errNotHere
	}
	groups, err := filepath.Glob(filepath.Join(proc, "[0-9]*", "cgroup"))
	if err != nil {
		return fmt.Errorf("listing processes: %w", err)
	}
	for _, g := range groups {
		text, err := os.ReadFile(g)
		if err != nil || !bytes.Contains(text, []byte(id)) {
			continue // A process that has ended meanwhile is not the operator's.
		}
		if err := visit(filepath.Dir(g)); err != nil {
			return fmt.Errorf("reading a process of pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// statusNumber is the number in a line of /proc/PID/status; 0 if it is not there.
func statusNumber(status []byte, key string) int64 {
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != key+":" {
			continue
		}
		if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return n
		}
	}
	return 0
}

// benchGenerators is the number of generator pods that start together. They share CPUs, since few machines have one for each.
const benchGenerators = 4

func (s Sizes) generatorsRun() *v1alpha1.BenchmarkRun {
	run := benchmarkRun("bench-generators", 1, 1, s.blocks, []int32{8, 40, 80, 120}, "gohttp")
	run.Spec.Loads[0].Generators.Pods = benchGenerators
	run.Spec.Placement.GeneratorPinning = v1alpha1.Preferred
	return run
}

// Generators measures how far apart several generators start, by the first connection of each, and what the agents themselves use.
func (b *Bench) Generators(ctx context.Context) ([]figures.Figure, error) {
	p, err := b.perform(ctx, b.sizes.generatorsRun(), nil)
	if err != nil {
		return nil, err
	}
	table, err := analysis.Analyse(p.data)
	if err != nil {
		return nil, fmt.Errorf("analysing the run: %w", err)
	}
	var skews []time.Duration
	var agents, observers []float64
	onServer := 0
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			if micros, ok := c.Observations[measured.StartSkew]; ok {
				skews = append(skews, time.Duration(micros*float64(time.Microsecond)))
			}
			if share, ok := c.Observations[measured.AgentShare]; ok {
				agents = append(agents, 100*share)
			}
			if slices.ContainsFunc(c.Reasons, func(r validity.Reason) bool { return r.Code == validity.ObserverOnServer }) {
				onServer++
			}
		}
	}
	for _, t := range p.data.Trials {
		for _, c := range t.Servers[0].Cells {
			observers = append(observers, 100*float64(c.ObserverCPUNanos)/float64(c.Ended.Sub(c.Started)))
		}
	}
	if len(skews) == 0 || len(agents) == 0 || len(observers) == 0 {
		return nil, fmt.Errorf("reading the run: %d starts, %d agents and %d observers were seen", len(skews), len(agents), len(observers))
	}
	n := fmt.Sprintf("%d pods, n=%d cells", benchGenerators, len(skews))
	return []figures.Figure{
		figures.Of("start-skew-median", 1e3*figures.Median(skews).Seconds(), "ms", figures.AtMost(2), n+", "+figures.Spread(skews)),
		figures.Of("start-skew-worst", 1e3*slices.Max(skews).Seconds(), "ms", figures.AtMost(10), n),
		figures.Of("agent-of-generator", slices.Max(agents), "% of a CPU", figures.AtMost(1), fmt.Sprintf("the busiest agent of each cell, largest of n=%d", len(agents))),
		figures.Of("observer", slices.Max(observers), "% of a CPU", figures.AtMost(1), fmt.Sprintf("largest of n=%d cells", len(observers))),
		figures.Of("cells-with-observer-on-server", float64(onServer), "cells", figures.AtMost(0), fmt.Sprintf("n=%d", len(observers))),
	}, nil
}
