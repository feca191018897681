package lint_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/cli/lint"
	"loadstone.dev/loadstone/internal/testbed"
)

// TestRealToolsAreUnderstood runs the installed tools against a loopback server. The sample must have their counts.
func TestRealToolsAreUnderstood(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Millisecond)
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write([]byte("helloworld"))
	}))
	defer server.Close()
	tests := map[string]struct {
		path string
		// wantErrors means that every request is an error.
		wantErrors bool
	}{
		"a server that answers":           {path: "/"},
		"a server that answers with 500s": {path: "/broken", wantErrors: true},
	}
	for name, tc := range tests {
		for tool, call := range calls(t, server.URL+tc.path) {
			t.Run(tool+" and "+name, func(t *testing.T) {
				var s lint.Sample
				// k6 samples its users once per second, and on a slow machine never within a test of one second.
				testbed.Await(t, "a summary with the users of "+tool, func() bool {
					s = parse(t, tool, run(t, call.args, call.output))[0]
					return s.Connections > 0
				})
				if s.Tool != call.args[0] || s.Connections != 4 || s.Requests == 0 || s.Recomputed == 0 || len(s.Latency) == 0 || s.Bytes == nil {
					t.Errorf("sample %+v", s)
				}
				want := int64(0)
				if tc.wantErrors {
					want = s.Requests
				}
				if got := s.Errors.Sum(); got != want {
					t.Errorf("%d errors, want %d", got, want)
				}
			})
		}
	}
}

// call is an argument vector, and the file to read if it is not standard output.
type call struct {
	args   []string
	output string
}

// calls are those of all tools, each with four connections.
func calls(t *testing.T, url string) map[string]call {
	t.Helper()
	script, export := filepath.Join(t.TempDir(), "script.js"), filepath.Join(t.TempDir(), "export.json")
	text := fmt.Sprintf("import http from 'k6/http';\nexport const options = {vus: 4, duration: '1s'};\nexport default function () { http.get('%s'); }\n", url)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]call{
		"wrk":           {args: []string{"wrk", "-t1", "-c4", "-d1s", "--latency", url}},
		"ab":            {args: []string{"ab", "-n", "200", "-c", "4", url}},
		"k6":            {args: []string{"k6", "run", "--no-color", script}},
		"k6's old list": {args: []string{"k6", "run", "--no-color", "--summary-mode=legacy", script}},
		"k6's JSON":     {args: []string{"k6", "run", "--quiet", "--summary-export=" + export, script}, output: export},
	}
}

func run(t *testing.T, args []string, output string) []byte {
	t.Helper()
	testbed.Programs(t, args[0])
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &complaints
	cmd.Env = append(os.Environ(), "K6_NO_USAGE_REPORT=true")
	if err := cmd.Run(); err != nil {
		t.Fatalf("running %v: %v\n%s", args, err, complaints.Bytes())
	}
	if output == "" {
		return out.Bytes()
	}
	text, err := os.ReadFile(output)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
