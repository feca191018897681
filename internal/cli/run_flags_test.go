package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cli/screen"
)

func TestRunFlagsInAnyPosition(t *testing.T) {
	file := filepath.Join(t.TempDir(), "no-run.yaml")
	const read = "no such file"
	for name, tc := range map[string]struct {
		args []string
		err  string
	}{
		"no flag":                   {[]string{"run", file}, read},
		"before the file":           {[]string{"run", "--out", "here", file}, read},
		"after the file":            {[]string{"run", file, "--out", "here"}, read},
		"in one word":               {[]string{"run", file, "--out=here"}, read},
		"before the command":        {[]string{"--out", "here", "run", file}, read},
		"a file like a flag":        {[]string{"run", "--", "-run.yaml"}, read},
		"no file":                   {[]string{"run", "--out", "here"}, "name a run file: loadstone run FILE..."},
		"two files":                 {[]string{"run", "other.yaml", file}, "other.yaml: no such file; " + file + ": no such file"},
		"two files in one folder":   {[]string{"run", file, "--out", "here", "other.yaml"}, "--out needs a single file, and you gave 2: remove --out, or name one file"},
		"two files to a folder":     {[]string{"run", file, "--out", "here", "other.yaml", "--cluster"}, "--out needs a single file"},
		"two that are resumed":      {[]string{"run", file, "other.yaml", "--resume"}, "--resume needs a single file, and you gave 2"},
		"a flag without its value":  {[]string{"run", file, "--out"}, "flag needs an argument: --out: see loadstone run --help"},
		"resumed on a cluster":      {[]string{"run", file, "--resume", "--cluster"}, "--resume works only on this machine"},
		"resumed in a context":      {[]string{"run", file, "--resume", "--context", "here"}, "--resume works only on this machine"},
		"opened here":               {[]string{"run", file, "--open"}, read},
		"replaced here":             {[]string{"run", file, "--replace"}, "--replace works only on a cluster: add --cluster, or remove --replace"},
		"deleted here":              {[]string{"run", file, "--delete-on-interrupt"}, "--delete-on-interrupt works only on a cluster"},
		"a flag of another command": {[]string{"run", file, "--again"}, "unknown flag: --again"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := execute(t, tc.args...)
			if err == nil || !strings.Contains(err.Error(), tc.err) || status(err) != statusBadInput || out != "" {
				t.Errorf("it prints %q and ends with %v, want %q", out, err, tc.err)
			}
		})
	}
}

func TestHelpBeforeAndAfterFile(t *testing.T) {
	for _, args := range [][]string{{"run", "--help"}, {"run", "-h"}, {"run", "run.yaml", "--help"}, {"run", "--out", "here", "-h"}, {"help", "run"}} {
		if out, err := execute(t, args...); err != nil || !strings.HasPrefix(out, "Measures the BenchmarkRun in FILE") {
			t.Errorf("%q ends with %v and prints %q", args, err, out)
		}
	}
}

func TestRunFindsFilesNextToRunFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{}
	run.Name = "quick"
	for file, want := range map[string]string{
		"run.yaml": here, "below/run.yaml": filepath.Join(here, "below"), "../run.yaml": filepath.Dir(here), "/runs/run.yaml": "/runs",
	} {
		o := runOptions(run, filepath.Dir(file), "results", screen.NewTeller(io.Discard, false))
		if o.Folder != want || o.Out != "results" || o.Run != run || o.Every != 0 || o.Tell == nil {
			t.Errorf("of %s it has the options %+v, want the folder %s", file, o, want)
		}
	}
	o := runOptions(run, ".", "", screen.NewTeller(io.Discard, false))
	if !strings.HasPrefix(o.Out, filepath.Join("loadstone-results", "quick-20")) {
		t.Errorf("by default it has the options %+v", o)
	}
}
