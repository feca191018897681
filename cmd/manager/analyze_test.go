package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"loadstone.dev/loadstone/controllers"
	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/artifact/artifacttest"
)

// silent is the region of a store that never answers. Others are folders, named by the endpoint.
const silent = "silent"

// peakFile is the environment variable that names the file for the largest resident memory of an analysis.
const peakFile = "LOADSTONE_TEST_PEAK"

// playAnalysis is the process of an analysis: the test's program with the argument analyze.
func playAnalysis() int {
	err := answerJob(context.Background(), os.Stdin, os.Stdout, func(c artifact.Config) (artifact.Objects, error) {
		if c.Region == silent {
			select {}
		}
		return artifact.ReadFolder(c.Endpoint), nil
	})
	if to := os.Getenv(peakFile); to != "" {
		status, _ := os.ReadFile("/proc/self/status")
		err = errors.Join(err, os.WriteFile(to, status, 0o600))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func workerOn(tb testing.TB, dir string, memory int64) worker {
	tb.Helper()
	w, err := newWorker(artifact.Config{Endpoint: dir})
	if err != nil {
		tb.Fatal(err)
	}
	w.memory = memory
	return w
}

const runPrefix = "default/duel-1"

// keepRun stores a run in a folder, and returns the task of its report.
func keepRun(tb testing.TB, d record.RunData) (*artifact.Folder, publish.Task) {
	tb.Helper()
	store, err := artifact.OpenFolder(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	if err := artifacttest.Keep(context.Background(), store, runPrefix, d); err != nil {
		tb.Fatal(err)
	}
	return store, publish.Task{Act: publish.ActReport, Prefix: runPrefix}
}

func TestReportOfAnotherProcessIsTheSame(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(4))
	store, task := keepRun(t, d)
	made, err := workerOn(t, store.URI(""), 64<<20).do(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	here, err := publish.Do(t.Context(), store, task)
	if err != nil || made.Page != here.Page || made.Verdict != here.Verdict {
		t.Errorf("got %+v, want %+v, %v", made, here, err)
	}
	if _, err := store.Get(t.Context(), made.Page.Key, made.Page.SHA256); err != nil {
		t.Error(err)
	}
	task = publish.Task{Act: publish.ActScan, Prefix: runPrefix, Manifest: &d.Manifest}
	if _, err := workerOn(t, store.URI(""), 0).do(t.Context(), task); err != nil {
		t.Error(err)
	}
	task = publish.Task{Act: publish.ActReport, Prefix: "default/missing"}
	_, err = workerOn(t, store.URI(""), 0).do(t.Context(), task)
	if !errors.Is(err, artifact.ErrNotFound) || errors.Is(err, artifact.ErrUnreachable) || errors.Is(err, controllers.ErrDied) {
		t.Errorf("a run that is not stored gives %v", err)
	}
}

// A program in a measured pod can replace its agent and store the largest result.json that is read.
func TestAnalysisOfLargeResultsDiesAlone(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(1))
	store, _ := keepRun(t, d)
	for i := range d.Trials {
		enlarge(t, store, &d, i, 30<<20)
	}
	task := publish.Task{Act: publish.ActScan, Prefix: runPrefix, Manifest: &d.Manifest}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := workerOn(t, store.URI(""), 24<<20).do(t.Context(), task)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, controllers.ErrDied) || !regexp.MustCompile("memory|ThreadSanitizer failed to allocate").MatchString(err.Error()) {
		t.Errorf("it ends with %v", err)
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 16 {
		t.Errorf("this process took %d MiB", took)
	}
}

// enlarge lets the generator of a trial say the same in a file of so many bytes.
func enlarge(tb testing.TB, store *artifact.Folder, d *record.RunData, trial, size int) {
	tb.Helper()
	m := &d.Trials[trial].Manifest
	put := func(key string, body []byte) record.Artifact {
		if err := os.Remove(store.URI(key)); err != nil {
			tb.Fatal(err)
		}
		a, err := store.Put(context.Background(), key, "application/json", body)
		if err != nil {
			tb.Fatal(err)
		}
		return a
	}
	for i := range m.Artifacts {
		a := &m.Artifacts[i]
		if a.Name != record.ResultFile || a.Member != record.MemberGenerator(0) {
			continue
		}
		body, err := store.Get(context.Background(), a.Key, "")
		if err != nil {
			tb.Fatal(err)
		}
		large := put(a.Key, append(body, bytes.Repeat([]byte(" "), size)...))
		a.Bytes, a.SHA256 = large.Bytes, large.SHA256
	}
	key := artifact.ManifestKey(artifact.TrialPrefix(runPrefix, m.Name, m.Attempt))
	if err := os.Remove(store.URI(key)); err != nil {
		tb.Fatal(err)
	}
	stored, err := store.PutJSON(context.Background(), key, m)
	if err != nil {
		tb.Fatal(err)
	}
	for k := range d.Manifest.Trials {
		if d.Manifest.Trials[k].Name == m.Name {
			d.Manifest.Trials[k].Manifest = &stored
		}
	}
}

func TestAnalysisEndsAtItsDeadlineAndWhenCanceled(t *testing.T) {
	w := workerOn(t, "", 0)
	w.store.Region, w.deadline = silent, time.Second
	if _, err := w.do(t.Context(), publish.Task{Act: publish.ActReport}); !errors.Is(err, artifact.ErrUnreachable) || !strings.Contains(err.Error(), "within 1s") {
		t.Errorf("a silent store ends with %v", err)
	}
	w.deadline = analysisDeadline
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	if _, err := w.do(ctx, publish.Task{Act: publish.ActReport}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled analysis ends with %v", err)
	}
}

// BenchmarkReportProcess measures the process of a report of five implementations, with the memory of the chart's defaults:
//
//	go test ./cmd/manager -run '^$' -bench ReportProcess -benchtime 3x -v
func BenchmarkReportProcess(b *testing.B) {
	for _, tc := range []struct {
		blocks, levels int32
		aim            float64
	}{{20, 10, 1}, {100, 20, 5}} {
		o := recordtest.Options{Name: "large", Seed: 1, Blocks: tc.blocks, Noise: 0.03, Seconds: 5}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			o.Servers = append(o.Servers, recordtest.Server{Name: name, CPUMicros: 10, RSSBytes: 1 << 20})
		}
		for k := range tc.levels {
			o.Levels = append(o.Levels, 10*(k+1))
		}
		cells := fmt.Sprint(5 * tc.blocks * tc.levels)
		b.Run(cells, func(b *testing.B) {
			store, task := keepRun(b, recordtest.Run(o))
			peak := filepath.Join(b.TempDir(), "status")
			b.Setenv(peakFile, peak)
			w := workerOn(b, store.URI(""), plan.ReportMemory(200<<20))
			before := childCPU(b)
			for b.Loop() {
				if _, err := w.do(b.Context(), task); err != nil {
					b.Fatal(err)
				}
			}
			n := float64(b.N)
			note := fmt.Sprintf("mean of %d, with %.2f s of CPU time", b.N, (childCPU(b)-before)/n)
			b.Log(figures.Of("report-time-"+cells, b.Elapsed().Seconds()/n, "s", figures.AtMost(tc.aim), note).Line())
			b.Log(figures.Of("report-memory-"+cells, peakMiB(b, peak), "MiB", figures.AtMost(150), "largest resident memory of the process").Line())
		})
	}
}

// childCPU returns the CPU seconds of this program's ended children.
func childCPU(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func peakMiB(b *testing.B, file string) float64 {
	b.Helper()
	status, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var kib float64
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(after, &kib); err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
