package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// An unknown command prints nothing on standard output, and asks no cluster.
func TestInvalidCommandLinesAreRefused(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a word that is no command":   {[]string{"bench"}, `unknown command "bench": run loadstone --help for a list`},
		"a word that is nearly one":   {[]string{"repot"}, `unknown command "repot": did you mean report?`},
		"a flag that is nearly one":   {[]string{"run", "--resum", "run.yaml"}, "unknown flag: --resum: did you mean --resume?"},
		"a flag nearly inherited":     {[]string{"list", "--namespac", "perf"}, "unknown flag: --namespac: did you mean --namespace?"},
		"a run of no file":            {[]string{"run"}, "name a run file: loadstone run FILE..."},
		"a flag without a command":    {[]string{"--json"}, "unknown flag: --json: see loadstone --help"},
		"a report of no run":          {[]string{"report"}, "name one run: loadstone report RUN|FOLDER"},
		"a report of two runs":        {[]string{"report", "one", "two"}, "name one run: loadstone report RUN|FOLDER"},
		"an analysis of no file":      {[]string{"analyse"}, "name the files to analyze"},
		"a flag that reports lack":    {[]string{"report", "--json", "run"}, "unknown flag: --json: see loadstone report --help"},
		"a flag that analyses lack":   {[]string{"analyse", "--again", "file"}, "unknown flag: --again"},
		"a port that is no number":    {[]string{"calibrate", "--port", "http"}, `invalid argument "http"`},
		"a command without its image": {[]string{"calibrate", "--cluster", "--", "/server"}, "a command on a cluster needs an image: set --image"},
		"a command without dashes":    {[]string{"calibrate", "/server"}, "put the server command after two dashes"},
		"a file that is not there":    {[]string{"analyse", "/nothing/here"}, "/nothing/here"},
		"a report without a cluster":  {[]string{"report", "run"}, "or use --kubeconfig FILE; to list runs on this machine, use loadstone list --here"},
		"a list without a cluster":    {[]string{"list"}, "or use --kubeconfig FILE; to list runs on this machine, use loadstone list --here"},
		"a report of a folder":        {[]string{"report", ".."}, "the folder .. holds no manifest.json: the run was interrupted, or is none"},
		"a report of a path":          {[]string{"report", "nothing/here"}, "there is no run in nothing/here: name the folder of a run, or a run on the cluster"},
		"a shell that is none":        {[]string{"completion", "bsh"}, `unknown command "bsh": did you mean bash`},
		"help about no command":       {[]string{"help", "frob"}, `unknown command "frob": run loadstone --help for a list`},
		"help about a part of none":   {[]string{"help", "suite", "frob"}, `unknown command "frob": run loadstone suite --help for a list`},
		"a part that a suite lacks":   {[]string{"suite", "frob"}, `unknown command "frob": run loadstone suite --help for a list`},
		"a calibration without one":   {[]string{"calibrate", "--cluster"}, "found no cluster: set KUBECONFIG"},
		"pages of no cluster":         {[]string{"ui"}, "found no cluster: set KUBECONFIG"},
		"pages of a run":              {[]string{"ui", "run"}, "ui takes no arguments: loadstone ui"},
		"a port that is too large":    {[]string{"ui", "--port", "70000"}, `invalid argument "70000"`},
		"a calibration that replaces": {[]string{"calibrate", "--replace"}, "--replace works only on a cluster"},
		"a calibration's folder":      {[]string{"calibrate", "--context", "here", "--out", "."}, "--out works only on this machine"},
		"a calibration of nothing":    {[]string{"calibrate", "--", "./nothing"}, "there is no program "},
		"a calibration without port":  {[]string{"calibrate", "--port", "0"}, "--port 0 is not a valid port: use 1 to 65535"},
		"a context that is none":      {[]string{"report", "run", "--context", "here"}, `the kubeconfig has no context "here"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := execute(t, tc.args...)
			if err == nil || out != "" || status(err) != statusBadInput || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("it prints %q and ends with %v\nwant status 2 and %q", out, err, tc.want)
			}
		})
	}
}

// execute runs a command line like main, and returns its output.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return executeOn(t, strings.NewReader(""), args...)
}

func executeOn(t *testing.T, in io.Reader, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := New("loadstone")
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	skipUnmeasured(t, err)
	return out.String(), err
}

func TestHelpNamesEveryCommandAndFlag(t *testing.T) {
	for command, words := range map[string][]string{
		"":          {"analyze", "calibrate", "compare", "completion", "doctor", "init", "list", "report", "run", "validate", "version", "wait", "watch", "Exit codes of every command:\n\n      0  "},
		"report":    {"--namespace", "--context", "--kubeconfig", "--system-namespace", "--out DIR", "--again", "--open"},
		"analyze":   {"--output FORMAT", "analyse"},
		"calibrate": {"--name NAME", "--image IMAGE", "--port PORT", "--out DIR", "--cluster"},
	} {
		out, err := execute(t, append(strings.Fields(command), "--help")...)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if !strings.Contains(out, word) {
				t.Errorf("the help of %q does not name %s:\n%s", command, word, out)
			}
		}
	}
}

func TestEveryCommandHasExample(t *testing.T) {
	for _, c := range New("loadstone").Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue // They come with cobra.
		}
		if c.Short == "" || c.Name() != "version" && !strings.Contains(c.Example, "loadstone "+c.Name()) {
			t.Errorf("%s is said to be %q, by the example %q", c.Name(), c.Short, c.Example)
		}
	}
}

func TestCompletionPrintsScript(t *testing.T) {
	if out, err := execute(t, "completion", "bash"); err != nil || !strings.Contains(out, "__start_loadstone") {
		t.Errorf("it ends with %v and prints %.200q", err, out)
	}
}

func TestKubectlPluginName(t *testing.T) {
	root := New("kubectl-loadstone")
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"report", "--help"})
	if err := root.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), "kubectl loadstone report RUN|FOLDER") {
		t.Errorf("it ends with %v and prints %s", err, out.String())
	}
}

func TestVersionPrintsCommitAndDate(t *testing.T) {
	if out, err := execute(t, "--version"); err != nil || out != "loadstone version dev\n" {
		t.Errorf("--version prints %q, %v", out, err)
	}
	out, err := execute(t, "version")
	if err != nil || !strings.HasPrefix(out, "loadstone dev\ncommit: ") || !strings.Contains(out, "\ndate: ") {
		t.Errorf("it prints %q, %v", out, err)
	}
	for _, format := range []string{"json", "yaml"} {
		out, err := execute(t, "version", "--output", format)
		var b build
		if err := errors.Join(err, yaml.Unmarshal([]byte(out), &b)); err != nil || b.Version != "dev" || b.Go == "" {
			t.Errorf("as %s it prints %q, %v", format, out, err)
		}
	}
}

func TestCommandsWithSubcommandsPrintHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"suite"}, {"completion"}} {
		if out, err := execute(t, args...); err != nil || !strings.Contains(out, "Available Commands:") {
			t.Errorf("%q prints %q and ends with %v", args, out, err)
		}
	}
}

func TestShellsCompleteFixedFlagValues(t *testing.T) {
	for value, args := range map[string][]string{
		"yaml\n":   {"list", "--output", ""},
		"json\n":   {"run", "-o", ""},
		"vegeta\n": {"init", "--tool", ""},
	} {
		out, err := execute(t, append([]string{"__complete"}, args...)...)
		if err != nil || !strings.Contains(out, value) {
			t.Errorf("%q completes %q, %v; want %q", args, out, err, value)
		}
	}
}

func TestShellsCompleteContexts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	config := "apiVersion: v1\nkind: Config\ncontexts:\n- {name: kind-bench, context: {cluster: a}}\n- {name: aws, context: {cluster: b}}\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for kubeconfig, want := range map[string]string{file: "aws\nkind-bench\n:4\n", file + "-missing": ":4\n"} {
		t.Setenv("KUBECONFIG", kubeconfig)
		for _, command := range [][]string{{"list"}, {"suite", "list"}, {"run"}} {
			out, err := execute(t, append(append([]string{"__complete"}, command...), "--context", "")...)
			if err != nil || !strings.HasPrefix(out, want) {
				t.Errorf("%q completes %q, %v; want %q", command, out, err, want)
			}
		}
	}
}

func TestStatusErrorUnwraps(t *testing.T) {
	err := fmt.Errorf("analysing: %w", &statusError{statusBadInput, flag.ErrHelp})
	if !errors.Is(err, flag.ErrHelp) || status(err) != statusBadInput {
		t.Errorf("%v is help: %v, status %d", err, errors.Is(err, flag.ErrHelp), status(err))
	}
	if (&statusError{statusFailed, io.EOF}).Error() != io.EOF.Error() {
		t.Error("a status is printed with its error")
	}
}
