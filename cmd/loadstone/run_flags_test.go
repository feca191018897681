package main

import (
	"bytes"
	"flag"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/screen"
)

func TestFlagsOfARunStandBeforeOrAfterItsFile(t *testing.T) {
	for name, tc := range map[string]struct {
		args      []string
		file, out string
		err       string
	}{
		"no flag":                     {[]string{"run.yaml"}, "run.yaml", "", ""},
		"before":                      {[]string{"--out", "here", "run.yaml"}, "run.yaml", "here", ""},
		"after":                       {[]string{"run.yaml", "--out", "here"}, "run.yaml", "here", ""},
		"in one word":                 {[]string{"run.yaml", "-out=here"}, "run.yaml", "here", ""},
		"on both sides the last wins": {[]string{"--out", "there", "run.yaml", "--out", "here"}, "run.yaml", "here", ""},
		"a file like a flag":          {[]string{"--", "-run.yaml"}, "-run.yaml", "", ""},
		"no file":                     {[]string{"--out", "here"}, "", "", "name the file of a run"},
		"two files":                   {[]string{"run.yaml", "other.yaml"}, "", "", "one file too many"},
		"two files around a flag":     {[]string{"run.yaml", "--out", "here", "other.yaml"}, "", "", "one file too many"},
		"a flag without its value":    {[]string{"run.yaml", "--out"}, "", "", "flag needs an argument"},
		"a flag of another command":   {[]string{"run.yaml", "--namespace", "here"}, "", "", "flag provided but not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			f := flag.NewFlagSet("loadstone run", flag.ContinueOnError)
			f.SetOutput(io.Discard)
			out := f.String("out", "", "")
			file, err := parseRun(f, tc.args)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("it ends with %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil || file != tc.file || *out != tc.out {
				t.Errorf("it reads %q and %q with %v, want %q and %q", file, *out, err, tc.file, tc.out)
			}
		})
	}
}

func TestHelpIsGivenBeforeAndAfterAFile(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"run.yaml", "--help"}, {"--out", "here", "-h"}} {
		var out bytes.Buffer
		if err := runCommand(t.Context(), &out, args); err != nil || !strings.HasPrefix(out.String(), "usage: loadstone run ") {
			t.Errorf("%q ends with %v and prints %q", args, err, out.String())
		}
	}
}

func TestARunFindsItsFilesBesideItsOwn(t *testing.T) {
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
		o := runOptions(run, file, "results", screen.New(io.Discard))
		if o.Folder != want || o.Out != "results" || o.Run != run || o.Every != 0 || o.Tell == nil {
			t.Errorf("of %s it has the options %+v, want the folder %s", file, o, want)
		}
	}
	o := runOptions(run, "run.yaml", "", screen.New(io.Discard))
	if !strings.HasPrefix(o.Out, filepath.Join("loadstone-results", "quick-20")) {
		t.Errorf("by default it has the options %+v", o)
	}
}
