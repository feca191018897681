package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

// inHTTP2 is the file of a run of two servers that speak TLS and a load that asks in HTTP/2, with settings of the second server.
func inHTTP2(t *testing.T, settings string) string {
	t.Helper()
	testbed.Programs(t, "k6")
	file := filepath.Join(servers(t), "http2.yaml")
	old, new := freePort(t), freePort(t)
	text := `apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: http2}
spec:
  implementations:
  - {name: old, command: [./gohttp, --port=` + old + `, --tls=self-signed], port: ` + old + `, tls: {verify: None}, readiness: {path: /}}
  - {name: new, command: [./gohttp, --port=` + new + `, --tls=self-signed], port: ` + new + `, tls: {verify: None}, readiness: {path: /}` + settings + `}
  baseline: old
  loads:
  - {name: web, tool: k6, protocol: HTTP2, request: {path: /, expect: {body: helloworld}}, levels: [{connections: 4}], warmupSeconds: 1, durationSeconds: 2}
  blocks: 1
  placement: {pinning: Preferred, generatorPinning: Preferred}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestHTTP2LoadIsMeasuredLocally(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	file := inHTTP2(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := filepath.Join(t.TempDir(), "results")
	out, err := loadstone(ctx, "run", file, "--out", results).CombinedOutput()
	if got := statusAfter(err); got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, out)
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
			if m := c.Measurement; !slowed(c) && (m == nil || m.Requests == 0 || m.HTTP2 != m.Requests) {
				t.Errorf("of %s was measured %+v: %s", entry.Name, c.Measurement, c.Error)
			}
		}
		var s record.ObserverResult
		read(t, filepath.Join(filepath.Dir(results), filepath.Dir(entry.Manifest.Key), "server-0", "result.json"), &s)
		if s.StartUp == nil || s.StartUp.AnswerMillis <= 0 || len(s.Cells) != 1 {
			t.Fatalf("of %s was seen %+v", entry.Name, s)
		}
		seen := s.Cells[0]
		late := strings.Contains(strings.Join(seen.Unknown, " "), "the observer was")              // On a busy machine it looks too late.
		if seen.Sockets == nil && !late || seen.Sockets != nil && seen.Sockets.Established > 4+1 { // An audit has a connection, too.
			t.Errorf("of %s was seen %+v, unknown %q", entry.Name, seen, seen.Unknown)
		}
	}
	page := regexp.MustCompile(`(?m)^report: (.*)report\.html$`).FindSubmatch(out)
	if page == nil {
		t.Fatalf("it names no report: %s", out)
	}
	var report analysis.Table
	read(t, string(page[1])+"report.json", &report)
	for _, g := range report.Groups {
		for _, c := range g.Cells {
			if slices.ContainsFunc(c.Reasons, func(r validity.Reason) bool { return r.Code == validity.OtherProtocol }) || c.HTTP2 != c.Requests {
				t.Errorf("cell %s of %s, with %d answers in HTTP/2, has the findings %+v", c.Trial, g.Implementation, c.HTTP2, c.Reasons)
			}
		}
	}
	html, err := os.ReadFile(string(page[1]) + "report.html")
	for _, want := range []string{"Load web asks in HTTP/2; ", "web: GET /; in HTTP/2"} {
		if err != nil || !bytes.Contains(html, []byte(want)) {
			t.Errorf("the report says nothing of %q: %v", want, err)
		}
	}
}

func TestServerWithoutHTTP2FailsBeforeMeasuring(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	file := inHTTP2(t, ", env: [{name: GODEBUG, value: http2server=0}]")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := loadstone(ctx, "run", file, "--out", filepath.Join(t.TempDir(), "results")).CombinedOutput()
	const want = "implementations[new]: the server does not speak HTTP/2 on its port: offered h2 and http/1.1 in a TLS handshake (ALPN), it chose "
	if got := statusAfter(err); got != statusFailed || !bytes.Contains(out, []byte(want)) {
		t.Errorf("it ends with status %d: %s", got, out)
	}
}
