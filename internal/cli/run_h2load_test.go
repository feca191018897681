package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

// h2load measures connections of ten streams in HTTP/2, and the same servers in HTTP/1.1, and the run ends with a report.
func TestH2loadStreamsAreMeasuredLocally(t *testing.T) {
	testbed.Programs(t, "h2load")
	file := filepath.Join(servers(t), "h2load.yaml")
	old, new := freePort(t), freePort(t)
	text := `apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: h2load}
spec:
  implementations:
  - {name: old, command: [./gohttp, --port=` + old + `, --tls=self-signed], port: ` + old + `, tls: {verify: None}, readiness: {path: /}}
  - {name: new, command: [./gohttp, --port=` + new + `, --tls=self-signed], port: ` + new + `, tls: {verify: None}, readiness: {path: /}}
  baseline: old
  loads:
  - {name: streams, tool: h2load, protocol: HTTP2, streamsPerConnection: 10, request: {path: /}, levels: [{connections: 4}], warmupSeconds: 1, durationSeconds: 2}
  - {name: plain, tool: h2load, request: {path: /}, levels: [{connections: 4}], warmupSeconds: 1, durationSeconds: 2}
  blocks: 1
  placement: {pinning: Preferred, generatorPinning: Preferred}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := filepath.Join(t.TempDir(), "results")
	out, err := loadstone(ctx, "run", file, "--out", results).CombinedOutput()
	if got := statusAfter(err); got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, out)
	}
	page := regexp.MustCompile(`(?m)^report: (.*report\.html)$`).FindSubmatch(out)
	if page == nil {
		t.Fatalf("it names no report: %s", out)
	}
	if html, err := os.ReadFile(string(page[1])); err != nil || !bytes.Contains(html, []byte("4 connections of 10 streams")) {
		t.Errorf("the report names no level of several streams: %v", err)
	}
	var m record.RunManifest
	read(t, filepath.Join(results, "manifest.json"), &m)
	for _, entry := range m.Trials {
		if entry.Manifest == nil {
			t.Fatalf("trial %s was not measured: %s", entry.Name, entry.Message)
		}
		var g record.GeneratorResult
		read(t, filepath.Join(filepath.Dir(results), filepath.Dir(entry.Manifest.Key), "generator-0", "result.json"), &g)
		for _, c := range g.Cells {
			want := int64(0)
			if c.Measurement != nil && c.Load == "streams" {
				want = c.Measurement.Requests
			}
			if m := c.Measurement; !slowed(c) && (m == nil || m.Requests == 0 || m.HTTP2 != want || m.Connections != 4 || m.Errors.Sum() > 0) {
				t.Errorf("of %s was measured %+v: %s", entry.Name, c.Measurement, c.Error)
			}
		}
	}
	if m.Plan.Cells[0].StreamsPerConnection != 10 || m.Plan.Cells[1].StreamsPerConnection != 0 {
		t.Errorf("the cells are %+v", m.Plan.Cells)
	}
}
