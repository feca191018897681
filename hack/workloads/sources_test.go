package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkout makes a folder with the spec of the run one, of the programs uring and coro-bench, and their sources.
func checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, map[string]string{
		"config/workloads/one.yaml": "# A comment.\nspec:\n  blocks: 10\n  implementations:\n  - {name: u, command: [../../bin/uring, --port=1]}\n" +
			"  - {name: c, command: [../../bin/bench-workloads, cells, ../../bin/coro-bench, switch]}\n",
		"workloads/uring/uring.c": "a", "workloads/epoll/http.h": "b", "workloads/coro/src/lazy.h": "c", "workloads/zco/src/http.zig": "d",
	})
	return root
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecordOfOtherSourcesIsStale(t *testing.T) {
	spec := func(text string) map[string]string { return map[string]string{"config/workloads/one.yaml": text} }
	commands := "\n  implementations:\n  - {name: u, command: [../../bin/uring, --port=1]}\n  - {name: c, command: [../../bin/bench-workloads, cells, ../../bin/coro-bench, switch]}\n"
	for name, tc := range map[string]struct {
		change map[string]string
		want   string
	}{
		"nothing":                 {nil, ""},
		"a comment of the spec":   {spec("# Another.\nspec:\n  blocks: 10" + commands), ""},
		"the spec":                {spec("spec:\n  blocks: 24" + commands), "config/workloads/one.yaml"},
		"a source":                {map[string]string{"workloads/coro/src/lazy.h": "e"}, "workloads/coro"},
		"a new file":              {map[string]string{"workloads/coro/src/new.h": "e"}, "workloads/coro"},
		"a source that it shares": {map[string]string{"workloads/epoll/http.h": "e"}, "workloads/epoll"},
		"a test, and a text":      {map[string]string{"workloads/coro/test/a.cc": "e", "workloads/coro/a_test.go": "e", "workloads/coro/README.md": "e"}, ""},
		"what it does not build":  {map[string]string{"workloads/zco/src/http.zig": "e", "workloads/coro/build/a.o": "e"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := checkout(t)
			sources, err := sourcesOf(root, "one")
			if err != nil {
				t.Fatal(err)
			}
			write(t, root, tc.change)
			stale, err := staleRuns(root, map[string]*results{"one": {head: head{Sources: sources}}, "none": {missing: "it has not ended"}})
			if err != nil || stale["one"] != tc.want || len(stale) > 1 {
				t.Errorf("got %q, %v; want %q", stale, err, tc.want)
			}
		})
	}
}

func TestRecordThatNamesNoSourcesIsStale(t *testing.T) {
	stale, err := staleRuns(checkout(t), map[string]*results{"one": {}})
	want := "config/workloads/one.yaml, workloads/coro, workloads/epoll, workloads/uring"
	if err != nil || stale["one"] != want {
		t.Errorf("got %q, %v; want %q", stale, err, want)
	}
	if _, err := staleRuns(t.TempDir(), map[string]*results{"one": {}}); err == nil || !strings.Contains(err.Error(), "reading a spec") {
		t.Errorf("without a spec: got %v", err)
	}
}

func TestStaleRowsHaveNoVerdict(t *testing.T) {
	p := example(head{})
	p = pageOf([]comparison{
		ratio("ratio-one", prints("one", "a", "switch", wallTime), prints("one", "b", "switch", wallTime), atMost(1)),
	}, p.all, map[string]string{"one": "workloads/coro"})
	got, findings := p.render("<!-- = table --><!-- . --><!-- = measurements --><!-- . --><!-- = ratio-one --><!-- . --><!-- = ratio-one %.1f --><!-- . -->" +
		"<!-- = one/a/switch/Time %.0f --><!-- . -->\n## Missed aims\n\nNone.\n")
	if len(findings) > 0 {
		t.Errorf("got %q", findings)
	}
	for _, want := range []string{"| ratio-one | 2 | ratio | ≤ 1 | stale |", "Stale: 1 of 3 runs, ", "\n- `one`: workloads/coro\n", "aim ≤ 1, stale<!--", "-->2.0 (stale)<!--", "-->8 (stale)<!--"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %q", got, want)
		}
	}
}

func TestEveryRunHasSources(t *testing.T) {
	for _, run := range runs(table) {
		sources, err := sourcesOf("../..", run)
		if err != nil || len(sources) < 1 {
			t.Errorf("%s: got %v, %v", run, sources, err)
		}
	}
	got, err := sourcesOf("../..", "zco-uring")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"config/workloads/zco-uring.yaml", "workloads/epoll", "workloads/uring", "workloads/zco"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
