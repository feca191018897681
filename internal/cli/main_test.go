package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever somebody types that is no command, nothing is printed as if it were a result, and no cluster is asked.
func TestWhatIsNoCommandIsRefused(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":                     {nil, "name a command"},
		"a word that is no command":   {[]string{"bench"}, `"bench" is no command: loadstone --help lists all`},
		"a word that is nearly one":   {[]string{"repot"}, `"repot" is no command: did you mean report?`},
		"a flag without a command":    {[]string{"--json"}, "unknown flag: --json: see loadstone --help"},
		"a report of no run":          {[]string{"report"}, "name the run whose report you want: loadstone report RUN|FOLDER"},
		"a report of two runs":        {[]string{"report", "one", "two"}, "name the run whose report you want: loadstone report RUN|FOLDER"},
		"an analysis of no file":      {[]string{"analyse"}, "name the files to analyze"},
		"a flag that reports lack":    {[]string{"report", "--json", "run"}, "unknown flag: --json: see loadstone report --help"},
		"a flag that analyses lack":   {[]string{"analyse", "--again", "file"}, "unknown flag: --again"},
		"a port that is no number":    {[]string{"calibrate", "--port", "http"}, `invalid argument "http"`},
		"a command without its image": {[]string{"calibrate", "--cluster", "--", "/server"}, "a command needs an image: set --image"},
		"a command without dashes":    {[]string{"calibrate", "/server"}, "put the command of the server behind two dashes"},
		"a file that is not there":    {[]string{"analyse", "/nothing/here"}, "/nothing/here"},
		"a report without a cluster":  {[]string{"report", "run"}, "or give --kubeconfig FILE; the runs on this machine are listed by loadstone list --here"},
		"a list without a cluster":    {[]string{"list"}, "or give --kubeconfig FILE; the runs on this machine are listed by loadstone list --here"},
		"a report of a folder":        {[]string{"report", ".."}, "the folder .. holds no manifest.json: the run was interrupted, or is none"},
		"a report of a path":          {[]string{"report", "nothing/here"}, "there is no run in nothing/here: name the folder of a run, or a run on the cluster"},
		"a shell that is none":        {[]string{"completion", "bsh"}, `"bsh" is no command: did you mean bash`},
		"a completion of no shell":    {[]string{"completion"}, "name a shell: loadstone completion --help lists them"},
		"help about no command":       {[]string{"help", "frob"}, `"frob" is no command: loadstone --help lists all`},
		"help about a part of none":   {[]string{"help", "suite", "frob"}, `"frob" is no command: loadstone suite --help lists all`},
		"a part that a suite lacks":   {[]string{"suite", "frob"}, `"frob" is no command: loadstone suite --help lists all`},
		"a calibration without one":   {[]string{"calibrate", "--cluster"}, "no kubeconfig names a cluster: set KUBECONFIG"},
		"pages of no cluster":         {[]string{"ui"}, "no kubeconfig names a cluster: set KUBECONFIG"},
		"pages of a run":              {[]string{"ui", "run"}, "ui takes no argument: loadstone ui"},
		"a port that is too large":    {[]string{"ui", "--port", "70000"}, `invalid argument "70000"`},
		"a calibration that replaces": {[]string{"calibrate", "--replace"}, "--replace is for a run on a cluster"},
		"a calibration's folder":      {[]string{"calibrate", "--context", "here", "--out", "."}, "--out is for the results of a run on this machine"},
		"a calibration of nothing":    {[]string{"calibrate", "--", "./nothing"}, "there is no program "},
		"a calibration without port":  {[]string{"calibrate", "--port", "0"}, "--port 0 is no port: name one from 1 to 65535"},
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

// execute runs a command line as main does, and returns what it prints.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return executeOn(t, strings.NewReader(""), args...)
}

// executeOn is execute with a standard input.
func executeOn(t *testing.T, in io.Reader, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := New("loadstone")
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestHelpNamesEveryCommandAndFlag(t *testing.T) {
	for command, words := range map[string][]string{
		"":          {"analyze", "calibrate", "compare", "completion", "doctor", "init", "list", "report", "run", "validate", "version", "wait", "watch", "Exit codes of every command:\n\n      0  "},
		"report":    {"--namespace", "--context", "--kubeconfig", "--system-namespace", "--out DIR", "--again", "--open"},
		"analyze":   {"--json", "analyse"},
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

func TestEveryCommandHasAnExampleThatIsOne(t *testing.T) {
	for _, c := range New("loadstone").Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue // They come with cobra.
		}
		if c.Short == "" || c.Name() != "version" && !strings.Contains(c.Example, "loadstone "+c.Name()) {
			t.Errorf("%s is said to be %q, by the example %q", c.Name(), c.Short, c.Example)
		}
	}
}

func TestAScriptOfACompletionIsPrinted(t *testing.T) {
	if out, err := execute(t, "completion", "bash"); err != nil || !strings.Contains(out, "__start_loadstone") {
		t.Errorf("it ends with %v and prints %.200q", err, out)
	}
}

func TestAPluginOfKubectlIsCalledByItsName(t *testing.T) {
	root := New("kubectl-loadstone")
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"report", "--help"})
	if err := root.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), "kubectl loadstone report RUN|FOLDER") {
		t.Errorf("it ends with %v and prints %s", err, out.String())
	}
}

func TestTheVersionIsPrinted(t *testing.T) {
	if out, err := execute(t, "--version"); err != nil || out != "loadstone version dev\n" {
		t.Errorf("--version prints %q, %v", out, err)
	}
	if out, err := execute(t, "version"); err != nil || !strings.HasPrefix(out, "loadstone dev go1") {
		t.Errorf("it prints %q, %v", out, err)
	}
}

func TestAStatusErrorIsTheErrorInIt(t *testing.T) {
	err := fmt.Errorf("analysing: %w", &statusError{statusBadInput, flag.ErrHelp})
	if !errors.Is(err, flag.ErrHelp) || status(err) != statusBadInput {
		t.Errorf("%v is help: %v, status %d", err, errors.Is(err, flag.ErrHelp), status(err))
	}
	if (&statusError{statusFailed, io.EOF}).Error() != io.EOF.Error() {
		t.Error("a status is printed with its error")
	}
}
