package e2e

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/test/structure"
)

// From a sample to a report with a verdict: every number is checked against the request and the stored data.
func TestTheQuickSampleEndsInAVerdict(t *testing.T) {
	run, code, page := measureByCommand(t, shortenedFile(t, "quick.yaml"))
	t.Run("the commands", func(t *testing.T) {
		checkCommands(t, run, code, page)
		checkDoctor(t)
	})

	data := load(t, run)
	if want := planned(run, data); len(data.Trials) != want {
		t.Errorf("%d trials in the manifest, want %d", len(data.Trials), want)
	}
	cells := 0
	for _, trial := range data.Trials {
		cells += checkTrial(t, run, trial)
	}
	if want := len(data.Trials) * len(run.Spec.Loads[0].Levels); cells != want {
		t.Errorf("%d cells were measured, want %d", cells, want)
	}
	table := analyse(t, data)
	if table.Coverage.MeasuredTrials != len(data.Trials) || run.Status.Verdict == "" {
		t.Errorf("coverage %+v, verdict %q", table.Coverage, run.Status.Verdict)
	}
	checkVerdicts(t, table, whole(t, data, table) >= verdict.MinBlocks)
	checkReport(t, run, table)
	checkStructure(t, data, table)
}

// checkStructure compares records and report with the golden file that local runs are compared with.
func checkStructure(t *testing.T, data record.RunData, table analysis.Table) {
	t.Helper()
	files, err := report.Files(table)
	if err != nil {
		t.Fatal(err)
	}
	got, err := structure.Of(data, files)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(structure.Quick, got); diff != "" {
		t.Errorf("the structure of the run: -want +got:\n%s", diff)
	}
}

// checkTrial checks one trial's cells and artifacts, and counts the cells.
func checkTrial(t *testing.T, run *v1alpha1.BenchmarkRun, trial record.TrialData) int {
	t.Helper()
	m := trial.Manifest
	for _, a := range m.Artifacts {
		if body, err := loadstone.Store.Get(t.Context(), a.Key, a.SHA256); err != nil || int64(len(body)) != a.Bytes {
			t.Errorf("%s: artifact %s/%s: %d bytes, want %d: %v", m.Name, a.Member, a.Name, len(body), a.Bytes, err)
		}
	}
	for _, p := range m.Pods {
		if p.QOSClass != "Guaranteed" || p.Node == "" || p.ImageID == "" {
			t.Errorf("%s: pod record %+v", m.Name, p)
		}
	}
	if len(trial.Generators) != 1 || len(trial.Servers[0].Cells) != len(m.Cells) {
		t.Fatalf("%s: %d generators, %d observations of %d cells", m.Name, len(trial.Generators), len(trial.Servers[0].Cells), len(m.Cells))
	}
	seconds := run.Spec.Loads[0].DurationSeconds
	for i, c := range trial.Generators[0].Cells {
		o := trial.Servers[0].Cells[i]
		switch {
		case c.Late:
			t.Logf("%s, %d connections: %s", m.Name, c.Connections, c.Error)
			continue
		case c.Error != "" || o.Error != "" || c.Measurement == nil:
			t.Errorf("%s, %d connections: %q, %q", m.Name, c.Connections, c.Error, o.Error)
			continue
		case c.Measurement.Connections != m.Cells[i].Connections:
			t.Errorf("%s: the tool ran %d connections, planned were %d", m.Name, c.Measurement.Connections, m.Cells[i].Connections)
		case c.Measurement.Errors.Sum() != 0:
			t.Errorf("%s, %d connections: errors %+v", m.Name, c.Connections, c.Measurement.Errors)
		}
		rate := float64(c.Measurement.Requests) / (float64(c.Measurement.DurationMicros) / 1e6)
		if rate < 1000 || c.Measurement.DurationMicros < int64(seconds)*950_000 {
			t.Errorf("%s, %d connections: %.0f requests/s over %d µs", m.Name, c.Connections, rate, c.Measurement.DurationMicros)
		}
		if strings.ContainsAny(o.CPUsAllowed+c.CPUsAllowed, ",-") || o.CPUsAllowed == "" || c.CPUsAllowed == "" || o.CPUsAllowed == c.CPUsAllowed {
			t.Errorf("%s, %d connections: server on CPUs %q, generator on %q: want one each", m.Name, c.Connections, o.CPUsAllowed, c.CPUsAllowed)
		}
		if o.CPUNanos < int64(seconds)*1e8 || o.RSSBytes <= 0 {
			t.Errorf("%s, %d connections: %d ns of CPU and %d bytes of memory", m.Name, c.Connections, o.CPUNanos, o.RSSBytes)
		}
	}
	return len(trial.Generators[0].Cells)
}

// checkReport checks that the manifests produce the stored report again.
func checkReport(t *testing.T, run *v1alpha1.BenchmarkRun, table analysis.Table) {
	t.Helper()
	_, key, _ := strings.Cut(strings.TrimPrefix(run.Status.Report.URI, "s3://"), "/")
	stored, err := loadstone.Store.Get(t.Context(), key, run.Status.Report.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	again, err := report.HTML(table)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, again) {
		t.Errorf("the stored report has %d bytes and differs from the one made again from the manifests, which has %d", len(stored), len(again))
	}
	for _, i := range run.Spec.Implementations {
		if !bytes.Contains(stored, []byte(i.Name)) {
			t.Errorf("the report does not name %s", i.Name)
		}
	}
	if !bytes.Contains(stored, []byte("<svg")) {
		t.Error("the report has no chart")
	}
}
