package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/cases"
)

var implementation = flag.String("implementation", own, "whose cases BenchmarkIPC has: "+own+" or "+netpoll)

func BenchmarkIPC(b *testing.B) {
	found := false
	for _, bench := range benchmarks() {
		if bench.implementation != *implementation {
			continue
		}
		found = true
		if len(bench.sizes) == 0 {
			b.Run(bench.as, func(b *testing.B) { measureFor(b, bench, smallest) })
			continue
		}
		for _, size := range append([]int{smallest}, bench.sizes...) {
			b.Run(fmt.Sprintf("%s/size=%d", bench.as, size), func(b *testing.B) { measureFor(b, bench, size) })
		}
	}
	if !found {
		b.Fatalf("there is no implementation %q", *implementation)
	}
}

func measureFor(b *testing.B, bench benchmark, size int) {
	b.Helper()
	b.ReportAllocs()
	b.StopTimer()
	var cpu [2]time.Duration
	clock := func(i int) {
		var err error
		if cpu[i], err = cpuTime(); err != nil {
			b.Error(err)
		}
	}
	r := &run{
		size: size, limit: uint64(b.N),
		begin: func() { clock(0); b.ResetTimer(); b.StartTimer() },
		end:   func() { b.StopTimer(); clock(1) },
	}
	if n, err := bench.do(r); err != nil || n != uint64(b.N) {
		b.Fatalf("%d operations of %d: %v", n, b.N, err)
	}
	b.ReportMetric(float64(cpu[1]-cpu[0]+r.otherCPUs)/float64(b.N), "cpu-ns/op")
}

func compared(t *testing.T, output []byte) []string {
	t.Helper()
	out, err := cases.Read(record.GoTest, output)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var names []string
	for _, c := range out.Cases {
		if c.Failure != "" {
			t.Errorf("%s failed: %s", c.Name, c.Failure)
		}
		var metrics []string
		for _, v := range c.Values {
			metrics = append(metrics, v.Metric)
		}
		if metrics[0] != "Time" || !slices.Contains(metrics, "cpu-ns/op") {
			t.Errorf("%s has %q", c.Name, metrics)
		}
		names = append(names, c.Name)
	}
	return names
}

func TestImplementationsHaveTheirCasesUnderTheSameNames(t *testing.T) {
	printed := map[string][]string{}
	for _, of := range []string{own, netpoll} {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		output, err := exec.Command(self, "-test.run=^$", "-test.bench=IPC", "-test.benchtime=300x", "-implementation="+of).Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		printed[of] = compared(t, output)
	}
	for _, want := range []string{
		"baseline/size=7", "baseline/size=65536", "goroutine", "channel/capacity=0", "channel/capacity=1", "channel/capacity=4",
		"empty-goroutine", "stream/size=7", "fds", "roundtrip",
	} {
		for of, names := range printed {
			if !slices.Contains(names, "BenchmarkIPC/"+want) {
				t.Errorf("%s has no %s", of, want)
			}
		}
	}
	for _, name := range printed[netpoll] {
		if !slices.Contains(printed[own], name) {
			t.Errorf("%s has %s, and %s has not", netpoll, name, own)
		}
	}
}

// The C peer is not part of this module: the Makefile builds and names it.
func TestThePeerInCPrintsTheSame(t *testing.T) {
	path := os.Getenv("IPC_C_BENCH")
	if path == "" {
		t.Skip("IPC_C_BENCH names no program: make test sets it")
	}
	var stderr bytes.Buffer
	cmd := exec.Command(path, "bench", "--seconds", "0.01")
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var own []string
	for _, b := range benchmarks() {
		own = append(own, "BenchmarkIPC/"+b.as)
	}
	names := compared(t, output)
	for _, name := range names {
		if base, _, _ := strings.Cut(name, "/size="); !slices.Contains(own, base) {
			t.Errorf("%s is the C peer's alone", name)
		}
	}
	if want := 22; len(names) != want {
		t.Errorf("%d cases, want %d: %q", len(names), want, names)
	}
}
