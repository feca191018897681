package k6_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/k6"
)

func TestArgs(t *testing.T) {
	cell := record.Cell{Load: "open", Connections: 50, RequestsPerSecond: 2000, Step: 3}
	want := []string{
		"k6", "run", "--quiet", "--no-color", "--no-usage-report", "--address", "", "--include-system-env-vars=false",
		"-e", "LOADSTONE_TARGET=10.0.0.1:8080", "-e", "LOADSTONE_PURPOSE=Warmup", "open-50-r2000-s3.k6.js",
	}
	if diff := cmp.Diff(want, k6.Tool{}.Args(cell, tool.Target{Address: "10.0.0.1:8080"}, tool.Warmup)); diff != "" {
		t.Errorf("Args() (-want +got):\n%s", diff)
	}
}

func declared(t *testing.T, text, before string) map[string]any {
	t.Helper()
	_, rest, ok := strings.Cut(text, before)
	line, _, ended := strings.Cut(rest, ";\n")
	if !ok || !ended {
		t.Fatalf("the wrapper has no %q", before)
	}
	value := map[string]any{}
	if err := json.Unmarshal([]byte(line), &value); err != nil {
		t.Fatalf("reading %q: %v", before, err)
	}
	return value
}

func TestFilesHoldTheScenario(t *testing.T) {
	env := map[string]any{"LOADSTONE_THREADS": "3"}
	tests := map[string]struct {
		cell                    record.Cell
		wantWarmup, wantMeasure map[string]any
	}{
		"closed": {
			cell:        record.Cell{Load: "a", Connections: 7, Threads: 3, DurationSeconds: 10, WarmupSeconds: 2},
			wantWarmup:  map[string]any{"executor": "constant-vus", "vus": 7., "duration": "7s", "gracefulStop": "0s", "env": env},
			wantMeasure: map[string]any{"executor": "constant-vus", "vus": 7., "duration": "10s", "gracefulStop": "0s", "env": env},
		},
		"open": {
			cell:        record.Cell{Load: "a", Connections: 7, Threads: 3, DurationSeconds: 10, RequestsPerSecond: 50},
			wantWarmup:  map[string]any{"executor": "constant-arrival-rate", "rate": 50., "timeUnit": "1s", "preAllocatedVUs": 7., "maxVUs": 7., "duration": "5s", "gracefulStop": "500ms", "env": env},
			wantMeasure: map[string]any{"executor": "constant-arrival-rate", "rate": 50., "timeUnit": "1s", "preAllocatedVUs": 7., "maxVUs": 7., "duration": "10s", "gracefulStop": "500ms", "env": env},
		},
		"ramping": {
			cell: record.Cell{Load: "a", Connections: 7, Threads: 3, DurationSeconds: 10, WarmupSeconds: 2, RequestsPerSecond: 50, RampToRequestsPerSecond: 90},
			wantWarmup: map[string]any{
				"executor": "ramping-arrival-rate", "startRate": 50., "stages": []any{map[string]any{"duration": "7s", "target": 90.}},
				"timeUnit": "1s", "preAllocatedVUs": 7., "maxVUs": 7., "gracefulStop": "500ms", "env": env,
			},
			wantMeasure: map[string]any{
				"executor": "ramping-arrival-rate", "startRate": 50., "stages": []any{map[string]any{"duration": "10s", "target": 90.}},
				"timeUnit": "1s", "preAllocatedVUs": 7., "maxVUs": 7., "gracefulStop": "500ms", "env": env,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			scenarios := declared(t, k6.Tool{}.Files(tc.cell, tool.Target{})[0].Text, "const scenarios = __VU > 0 ? {} : ")
			want := map[string]any{
				"Warmup": tc.wantWarmup, "Measure": tc.wantMeasure,
				"Probe": map[string]any{"executor": "shared-iterations", "vus": 1., "iterations": 1., "maxDuration": "5s", "gracefulStop": "0s", "env": env},
			}
			if diff := cmp.Diff(want, scenarios); diff != "" {
				t.Errorf("scenarios (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFilesHoldTheRequest(t *testing.T) {
	body := "it's\u2028\"quoted\"\n</script>"
	cell := record.Cell{Load: "a", Connections: 1, Connection: record.PerRequest, Request: record.Request{
		Path: "/a?b='c'", Expect: record.Expect{Status: 418, Body: &body},
	}}
	files := k6.Tool{}.Files(cell, tool.Target{})
	if len(files) != 1 || files[0].Name != "a-1.k6.js" || !strings.Contains(files[0].Text, "const user = null;") {
		t.Fatalf("got %d files, the first %q", len(files), files[0].Name)
	}
	want := map[string]any{
		"requests": []any{map[string]any{"method": "GET", "path": "/a?b='c'", "headers": map[string]any{}, "sent": nil, "status": 418., "body": body}},
		"sequence": "", "timeoutMillis": 2000., "perRequest": true, "open": nil,
	}
	if diff := cmp.Diff(want, declared(t, files[0].Text, "const cell = ")); diff != "" {
		t.Errorf("cell (-want +got):\n%s", diff)
	}
	if options := declared(t, files[0].Text, "export const options = __VU > 0 ? {} : "); options["noConnectionReuse"] != true {
		t.Errorf("noConnectionReuse is %v, want true", options["noConnectionReuse"])
	}
}

// HTTP/1 wrappers must not change: another tag would cost k6 time.
func TestFilesCountTheAnswersInHTTP2WhereTheCellAsksForThem(t *testing.T) {
	const counter = "http_reqs{scenario:load,proto:HTTP/2.0}"
	for _, protocol := range []record.Protocol{"", record.HTTP2} {
		cell := record.Cell{Load: "a", Connections: 1, Request: root}.Speaking(protocol)
		options := declared(t, k6.Tool{}.Files(cell, tool.Target{TLS: true})[0].Text, "export const options = __VU > 0 ? {} : ")
		_, counts := options["thresholds"].(map[string]any)[counter]
		tags := slices.Contains(options["systemTags"].([]any), any("proto"))
		if want := protocol == record.HTTP2; counts != want || tags != want {
			t.Errorf("a cell that speaks %q counts them: %v, and has the tag: %v", protocol, counts, tags)
		}
	}
}

func TestFilesImportTheScript(t *testing.T) {
	cell := record.Cell{Load: "a", Connections: 1, Request: root, Script: &record.Script{ConfigMap: "c", Key: "user.js"}}
	text := k6.Tool{Scripts: "/data/scripts"}.Files(cell, tool.Target{})[0].Text
	if want := `import * as user from "/data/scripts/a/user.js";`; !strings.Contains(text, want) {
		t.Errorf("the wrapper does not hold %q", want)
	}
}

func TestParseVersion(t *testing.T) {
	tests := map[string]struct{ raw, want string }{
		"a release":     {"k6 v1.8.1 (go1.26.8, linux/amd64)\n", "1.8.1"},
		"anything else": {"bash: k6: command not found\n", "unknown"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (k6.Tool{}).ParseVersion([]byte(tc.raw)); got != tc.want {
				t.Errorf("ParseVersion() = %q, want %q", got, tc.want)
			}
		})
	}
}
