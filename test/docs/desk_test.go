package docs_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/testbed"
)

// desk is a folder for typed commands: a checkout with built programs, the reader's files and results, and a browser that only checks that a page
// exists.
func (r *reader) desk(t *testing.T, line string) string {
	t.Helper()
	folder := t.TempDir()
	whole, err := filepath.Abs(root)
	must(t, err)
	links := map[string]string{"bin": bin(t), "server-1.4": filepath.Join(bin(t), "gohttp"), "server-1.5": filepath.Join(bin(t), "gohttp")}
	for _, name := range []string{"Makefile", "charts", "docs", "hack"} {
		links[name] = filepath.Join(whole, name)
	}
	must(t, os.Mkdir(filepath.Join(folder, "tools"), 0o755))
	// Otherwise Go leaves a process that writes telemetry while the folder is removed.
	telemetry := filepath.Join(folder, "home", ".config", "go", "telemetry")
	must(t, os.MkdirAll(telemetry, 0o755))
	must(t, os.WriteFile(filepath.Join(telemetry, "mode"), []byte("off"), 0o644))
	links["tools/kubectl-loadstone"] = filepath.Join(bin(t), "loadstone")
	for name, target := range links {
		must(t, os.Symlink(target, filepath.Join(folder, name)))
	}
	must(t, os.CopyFS(filepath.Join(folder, "config"), os.DirFS(filepath.Join(root, "config"))))
	readme := pages(t)["README.md"]
	printed, err := os.ReadFile(filepath.Join(root, "internal", "cli", "lint", "testdata", "good", "wrk-gohttp-t1-c8.txt"))
	must(t, err)
	files := map[string]string{
		"mine.yaml": example(t, readme, "mine"), "gate.yaml": example(t, readme, "gate"), "run.yaml": example(t, readme, "mine"), "quick.yaml": string(r.quick),
		// It has a different name, because other commands use the suite of the page.
		"suite.yaml": strings.Replace(fenced(pages(t)["docs/reference/benchmarksuite.md"], "yaml")[0], "{name: checkout,", "{name: mine,", 1),
		"wrk.txt":    string(printed), "tools/xdg-open": "#!/bin/sh\nexec test -s \"$1\"\n",
	}
	if strings.Contains(line, " init ") {
		delete(files, "run.yaml") // It writes one.
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o700))
	}
	for word := range strings.FieldsSeq(line) {
		if name, is := strings.CutPrefix(word, "loadstone-results/"); is {
			results(t, filepath.Join(folder, "loadstone-results"), name)
		}
	}
	if m := measuresHere.FindStringSubmatch(line); m != nil && m[1] != "" {
		shorten(t, filepath.Join(folder, m[1]))
	}
	return folder
}

// example returns the run with this name on a page.
func example(t *testing.T, page, name string) string {
	t.Helper()
	for _, text := range fenced(page, "yaml") {
		if strings.Contains(text, "metadata: {name: "+name+"}") {
			return text
		}
	}
	t.Fatalf("the page has no run %s", name)
	return ""
}

// shorten reduces a run to one block of one second, on free ports.
func shorten(t *testing.T, file string) {
	t.Helper()
	f, err := runfile.Open(t.Context(), file)
	must(t, err)
	spec, none := &f.Run.Spec, int32(0)
	spec.Blocks = 1
	for i := range spec.Loads {
		l := &spec.Loads[i]
		l.WarmupSeconds, l.DurationSeconds, l.Levels = &none, 1, l.Levels[:1]
	}
	for i := range spec.Implementations {
		one := &spec.Implementations[i]
		if one.Port == 0 {
			continue // It is no server.
		}
		old := strconv.Itoa(int(one.Port))
		one.Port = freePort(t)
		for k, word := range one.Command {
			one.Command[k] = strings.ReplaceAll(word, old, strconv.Itoa(int(one.Port)))
		}
	}
	text, err := yaml.Marshal(f.Run)
	must(t, err)
	must(t, os.WriteFile(file, text, 0o600))
}

func freePort(t *testing.T) int32 {
	t.Helper()
	address, err := testbed.FreeAddress()
	must(t, err)
	_, text, err := net.SplitHostPort(address)
	must(t, err)
	port, err := strconv.ParseInt(text, 10, 32)
	must(t, err)
	return int32(port)
}
