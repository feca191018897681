package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary serves pages like loadstone ui if this variable is set.
const pages = "LOADSTONE_TEST_PAGES"

func TestMain(m *testing.M) {
	if os.Getenv(pages) != "" {
		servePages()
		return
	}
	os.Exit(m.Run())
}

func program(t *testing.T) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "loadstone")
	if err := os.WriteFile(file, fmt.Appendf(nil, "#!/bin/sh\n%s=yes exec %s\n", pages, own), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestViewersStayConnectedWhileCommandRuns(t *testing.T) {
	stdout, stderr := written(t), written(t)
	asked := filepath.Join(t.TempDir(), "asked")
	t.Setenv("ASKED", asked)
	// The command ends when each viewer has requested the page after a change.
	wait := fmt.Sprintf(`until [ "$(wc -c <%s)" -ge 6 ]; do sleep 0.05; done; echo measured; exit 3`, asked)
	if err := os.WriteFile(asked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), stdout, stderr, []string{"-n", "3", "-loadstone", program(t), "timeout", "120", "sh", "-c", wait})
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 3 || read(t, stdout) != "measured\n" {
		t.Errorf("it ends with %v, and prints %s", err, read(t, stdout))
	}
	says := read(t, stderr)
	for _, want := range []string{"viewers-cpu\t", "3 viewers for ", "viewers-memory\t", "viewers-slowest-page\t", "viewers-pages-lost\t0\t"} {
		if !strings.Contains(says, want) {
			t.Errorf("it does not say %q: %s", want, says)
		}
	}
}

func TestFiguresOfAARunCheckItsInterval(t *testing.T) {
	const report = `{"headline": {"entries": [{"implementation": "again", "baseline": "a", "metric": "ServerCPUPerRequest", "ratio": 1.01, "low": %s, "high": 1.08, "blocks": 10}]}}`
	for name, tc := range map[string]struct {
		text  string
		since time.Duration
		want  []string
	}{
		"an interval that includes 1": {fmt.Sprintf(report, "0.94"), -time.Hour, []string{
			"viewers-aa-low\t0.94\tratio\t<=1\tmet\tServerCPUPerRequest of again to a is 1.01; n = 10 blocks", "viewers-aa-high\t1.08\tratio\t>=1\tmet\t",
		}},
		"one that does not":           {fmt.Sprintf(report, "1.003"), -time.Hour, []string{"viewers-aa-low\t1.003\tratio\t<=1\tshort\t", "viewers-aa-high\t1.08\tratio\t>=1\tmet\t"}},
		"a report of an earlier run":  {fmt.Sprintf(report, "0.94"), time.Hour, []string{"not measured\t", " is of another run"}},
		"a report without comparison": {`{"headline": {"entries": []}}`, -time.Hour, []string{"not measured\t", " compares nothing"}},
		"what is no report":           {"{", -time.Hour, []string{"not measured\t", "unexpected end of JSON input"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "report.json")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, f := range undisturbed(path, time.Now().Add(tc.since)) {
				lines = append(lines, f.Line())
			}
			for _, want := range tc.want {
				if !strings.Contains(strings.Join(lines, "\n"), want) {
					t.Errorf("it says %q, want %q", lines, want)
				}
			}
		})
	}
}

func written(t *testing.T) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func read(t *testing.T, f *os.File) string {
	t.Helper()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMissingCommandIsAnError(t *testing.T) {
	if err := run(t.Context(), nil, nil, nil); err == nil || !strings.Contains(err.Error(), "name the command") {
		t.Errorf("it ends with %v", err)
	}
}

func TestAProgramThatDoesNotServeIsAnError(t *testing.T) {
	if err := run(t.Context(), nil, nil, []string{"-loadstone", "false", "true"}); err == nil || !strings.Contains(err.Error(), "reading the address") {
		t.Errorf("it ends with %v", err)
	}
}
