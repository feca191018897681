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
	"testing"
	"time"

	"loadstone.dev/loadstone/controllers"
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

// workerOn is a worker for a folder.
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

// BenchmarkReportProcess measures the process of a report with the memory of the chart's defaults, or as much as a larger run needs:
//
//	go test ./cmd/manager -run '^$' -bench ReportProcess -benchtime 1x -v
func BenchmarkReportProcess(b *testing.B) {
	for cells, memory := range map[int32]int64{1000: 200 << 20, 5000: 200 << 20, 10_000: 320 << 20} {
		b.Run(fmt.Sprint(cells), func(b *testing.B) {
			o := recordtest.Duel(cells / 8)
			o.Servers = o.Servers[:2]
			store, task := keepRun(b, recordtest.Run(o))
			peak := filepath.Join(b.TempDir(), "status")
			b.Setenv(peakFile, peak)
			w := workerOn(b, store.URI(""), plan.ReportMemory(memory))
			for b.Loop() {
				if _, err := w.do(b.Context(), task); err != nil {
					b.Fatal(err)
				}
			}
			status, err := os.ReadFile(peak)
			if err != nil {
				b.Fatal(err)
			}
			for line := range strings.Lines(string(status)) {
				if strings.HasPrefix(line, "VmHWM") || strings.HasPrefix(line, "VmData") {
					b.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}
