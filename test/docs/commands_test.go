package docs_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"loadstone.dev/loadstone/internal/cli"
	"loadstone.dev/loadstone/internal/testbed"
)

// end is the exit code of a command and a part of its output.
type end struct {
	code   int
	prints string
}

// ends lists commands with other ends than exit code 0.
var ends = map[string]end{
	"bin/loadstone --help":                                                {0, "Exit codes of every command"},
	"bin/loadstone validate mine.yaml":                                    {0, "mine.yaml"},
	"bin/loadstone validate run.yaml":                                     {0, "run.yaml"},
	"bin/loadstone init | bin/loadstone validate -":                       {0, "stdin: valid: "},
	"bin/loadstone analyze wrk.txt":                                       {0, "wrk.txt:1"},
	"wrk -t1 -c10 -d10s http://127.0.0.1:8080/ | bin/loadstone analyze -": {0, "stdin:1"},
	"bin/loadstone validate config/gitops/suite.yaml":                     {0, "valid: "},
	"bin/loadstone validate config/gitops/flux/performance/suite.yaml":    {0, "valid: "},
	"bin/loadstone calibrate --cluster":                                   {0, "noise floor (A/A of "},

	"bin/loadstone calibrate --cluster --image registry.example/server:1 --port 80 -- /server --listen=:80": {0, "noise floor (A/A of "},
	"bin/loadstone compare loadstone-results/local-20260301-120000 loadstone-results/local-20260302-120000": {0, "fewer than three earlier runs"},
	"bin/loadstone compare monday tuesday wednesday thursday --anchor reference":                            {0, "21 and 7"},
	"bin/loadstone report quick --again --out reports":                                                      {0, "reports/default/quick/report.html"},
	"bin/loadstone watch quick --namespace bench --open":                                                    {0, "reports/bench/quick/report.html"},
	"bin/loadstone list --all-namespaces":                                                                   {0, "shortest"},
	"bin/loadstone list --here":                                                                             {0, "no runs found"},
	"bin/loadstone suite list":                                                                              {0, "checkout"},
	"bin/loadstone suite list --all-namespaces":                                                             {0, "perf"},
	"bin/loadstone suite run checkout":                                                                      {0, "requested a round"},
	"bin/loadstone suite run checkout --set image=registry.example/checkout:1a2b3c4":                        {0, "requested a round, with image="},
	"bin/loadstone suite report checkout":                                                                   {0, "reports/default/checkout/round/junit.xml"},
	"bin/loadstone suite report checkout --round 12 --out reports":                                          {0, "reports/default/checkout/round/junit.xml"},
	"bin/loadstone suite history checkout":                                                                  {0, "round 12: +"},
	"bin/loadstone suite history checkout --namespace perf":                                                 {0, "has no values yet"},
	"bin/loadstone suite history checkout --fail-within 5":                                                  {3, "round 12: +"},
	"bin/loadstone doctor":                                                                                  {anyEnd, "CPUs"},
	"bin/loadstone doctor --cluster":                                                                        {1, "object store   available"},
	"bin/loadstone doctor --context kind-bench":                                                             {1, "object store   available"},
	"bin/loadstone report quick":                                                                            {0, "reports/default/quick/report.html"},
	"bin/loadstone report quick --open":                                                                     {0, "reports/default/quick/report.html"},
	"bin/loadstone wait quick --timeout 30m":                                                                {0, "CPU time per request"},
	"bin/loadstone ui":                                                                                      {0, "shows Loadstone at "},
	"bin/loadstone ui --context kind-bench --port 8017":                                                     {0, "shows Loadstone at "},
	"bin/loadstone watch quick":                                                                             {0, "report: "},
	// One block gives no verdict.
	"bin/loadstone vs './server-1.4 --port={port}' './server-1.5 --port={port}'": {inconclusive, "report: "},
	"bin/loadstone vs --time 'md5sum bin/loadstone' 'sha256sum bin/loadstone'":   {inconclusive, "report: "},
	"bin/loadstone run mine.yaml":                                              {inconclusive, "report: "},
	"bin/loadstone run run.yaml":                                               {inconclusive, "report: "},
	"bin/loadstone run gate.yaml":                                              {inconclusive, "report: "},
	"bin/loadstone run config/samples/local.yaml":                              {inconclusive, "report: "},
	"bin/loadstone run quick.yaml --cluster":                                   {0, "report: "},
	"bin/loadstone run config/samples/images.yaml --cluster":                   {0, "report: "},
	"bin/loadstone run config/samples/quick.yaml --context kind-bench --open":  {0, "report: "},
	"kubectl kustomize config/gitops/flux/argocd":                              {0, `argocd.argoproj.io/sync-wave: "-1"`},
	"kubectl loadstone list":                                                   {0, "shortest"},
	"kubectl loadstone run quick.yaml":                                         {0, "report: "},
	"kubectl --namespace loadstone-system logs deployment/loadstone --tail=50": {0, said},
}

// anyEnd allows every exit code, for commands that depend on the machine.
const anyEnd = -1

// reader types the commands of the pages.
type reader struct {
	*world
	// quick is the reader's copy of config/samples/quick.yaml, written by the README's sed.
	quick []byte
}

// TestEveryCommandOfThePagesIsRun runs the commands on this machine and against a real API server. Installation comes first, in the order of the
// pages. All other commands run in any order, because none may depend on another.
func TestEveryCommandOfThePagesIsRun(t *testing.T) {
	t.Parallel()
	testbed.Programs(t, "make", "kubectl", "helm", "go", "wrk")
	bin(t)
	lines := typed(t)
	for _, line := range asPlugin {
		lines[line] = true
	}
	r := &reader{world: newWorld(t)}
	r.edit(t, lines)
	t.Run("on this machine", func(t *testing.T) {
		for line, whole := range lines {
			if measuresHere.MatchString(line) {
				t.Run(line, func(t *testing.T) {
					t.Parallel()
					r.follow(t, line, whole)
				})
				delete(lines, line)
			}
		}
		t.Run("on a cluster", func(t *testing.T) {
			t.Parallel()
			r.installs(t, lines)
			t.Run("the notes of the chart", func(t *testing.T) {
				t.Parallel()
				r.readNotes(t)
			})
			for _, line := range slices.Sorted(maps.Keys(lines)) {
				t.Run(line, func(t *testing.T) {
					t.Parallel()
					r.follow(t, line, lines[line])
				})
			}
		})
	})
}

// asPlugin are commands in the program's help text, in the form of a kubectl plugin. These measure on a cluster.
var asPlugin = []string{"kubectl loadstone list", "kubectl loadstone run quick.yaml"}

// measuresHere are commands that measure on this machine; makesRuns are those that create runs on the cluster.
var (
	measuresHere = regexp.MustCompile(`^bin/loadstone run (\S+\.yaml)$|^bin/loadstone vs |^wrk `)
	makesRuns    = regexp.MustCompile(`^bin/loadstone (calibrate --cluster|run .* --(cluster|context))|^kubectl (apply|loadstone run) `)
)

// edit writes the reader's quick.yaml with the README's command.
func (r *reader) edit(t *testing.T, lines map[string]bool) {
	t.Helper()
	for line := range lines {
		if strings.HasPrefix(line, "sed ") {
			desk := r.desk(t, line)
			r.run(t, desk, "default", line, line)
			var err error
			r.quick, err = os.ReadFile(filepath.Join(desk, "quick.yaml"))
			must(t, err)
			delete(lines, line)
		}
	}
	for _, name := range []string{"gohttp", "epoll"} {
		if want := "image: registry.example/loadstone/" + name + ":v1\n"; !strings.Contains(string(r.quick), want) {
			t.Errorf("the reader's file has no %q: %s", want, r.quick)
		}
	}
}

// steps are prefixes of the commands that install, try, change and remove an installation, and then install another one with the reader's own store.
var steps = []string{
	"helm install loadstone charts/loadstone --namespace loadstone-system --create-namespace", "helm test loadstone ", "helm upgrade ",
	"kubectl --namespace loadstone-system patch secret loadstone-s3 ", "helm uninstall loadstone ",
	"kubectl --namespace loadstone-system create secret ", "helm install loadstone charts/loadstone --namespace loadstone-system --set minio.enabled=false",
}

// installs runs the steps and removes them from the lines.
func (r *reader) installs(t *testing.T, lines map[string]bool) {
	t.Helper()
	for _, step := range steps {
		found := 0
		for line := range lines {
			if strings.HasPrefix(line, step) {
				found++
				typed := strings.ReplaceAll(line, "s3.example.com:9000", r.object.Endpoint)
				t.Run(line, func(t *testing.T) { r.run(t, root, "default", line, typed) })
				delete(lines, line)
			}
		}
		if found != 1 {
			t.Fatalf("the pages have %d commands that begin with %s", found, step)
		}
	}
	r.bundle(t)
	r.install(t)
	r.prepare(t)
}

// named are partial commands in sentences, and how their existence is checked.
var named = map[string]string{
	"kubectl wait":                    "kubectl wait --help",
	"kubectl create configmap":        "kubectl create configmap --help",
	"kubectl annotate":                "kubectl annotate --help",
	"kubectl port-forward":            "kubectl port-forward --help",
	"helm test":                       "helm test --help",
	"helm uninstall":                  "helm uninstall --help",
	"helm uninstall --no-hooks":       "helm uninstall --no-hooks --help",
	"go test -bench":                  "go help testflag",
	"go version -m":                   "go version -m bin/loadstone",
	"man -l docs/man/loadstone-run.1": "test -s docs/man/loadstone-run.1", // Not every machine has man.
}

// follow runs a command. If another test runs it, follow checks that and the command's syntax.
func (r *reader) follow(t *testing.T, line string, whole bool) {
	t.Helper()
	_, away := elsewhere[line]
	if _, is := byHand[line]; is {
		away = true
	}
	words := words(line)
	switch {
	case words[0] == "make" && away:
		r.run(t, root, "default", line, line+" --dry-run")
	case strings.HasPrefix(words[0], "hack/") && away:
		r.run(t, root, "default", line, "test -x "+words[0]+" && bash -n "+words[0])
	case words[0] == "go" && away:
		r.run(t, root, "default", line, "go list "+words[2]) // make lint compiles it with its tests.
	case away:
	case strings.Contains(line, "bin/loadstone ") && !whole && !complete(t, line):
		// A sentence names the command.
	case named[line] != "":
		r.run(t, r.desk(t, line), "default", line, named[line])
	case strings.HasPrefix(line, "kubectl ") && slices.Contains(words, "delete"):
		r.run(t, root, "default", line, line+" --dry-run=server") // The others need it.
	case makesRuns.MatchString(line):
		r.run(t, r.desk(t, line), r.namespace(t), line, line)
	case strings.HasPrefix(line, "bin/loadstone vs "):
		r.compare(t, line)
	case strings.HasPrefix(line, "wrk "):
		r.run(t, r.desk(t, line), "default", line, strings.NewReplacer("-d10s", "-d1s", "127.0.0.1:8080", answering(t)).Replace(line))
	case strings.HasPrefix(line, "bin/loadstone ui"):
		r.run(t, r.desk(t, line), "default", line, untilServed(line))
	case ofCluster.MatchString(line), slices.Contains(harmless, line):
		r.run(t, r.desk(t, line), "default", line, line)
	default:
		t.Errorf("nobody runs %s: say in elsewhere_test.go who does", line)
	}
}

// ofCluster are commands that only use a desk and the test's cluster; harmless are other safe commands, listed one by one. So a new command of a page
// cannot harm the tester's machine.
var (
	ofCluster = regexp.MustCompile(`^(bin/loadstone|kubectl|helm) `)
	harmless  = []string{
		"make help", "grep Cpus_allowed_list /proc/self/status", "rm -rf ~/.cache/loadstone loadstone-results reports bin", "go clean -cache -modcache",
	}
)

// compare saves the run of loadstone vs, and measures one block of it. TestVsTimesCommands of internal/cli measures without saving.
func (r *reader) compare(t *testing.T, line string) {
	t.Helper()
	folder, file := r.desk(t, line), "vs.yaml"
	r.run(t, folder, "default", "", line+" --save "+file)
	shorten(t, filepath.Join(folder, file))
	r.run(t, folder, "default", line, "bin/loadstone run "+file)
}

// untilServed ends a serving command after it prints its address. The port of the page may be in use.
func untilServed(line string) string {
	line = strings.Replace(line, "--port 8017", "--port 0", 1)
	return "coproc serving { exec " + line + `; }; pid=$serving_PID; read -r said <&"${serving[0]}"; echo "$said"; kill -TERM "$pid"; wait "$pid"`
}

func answering(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) { fmt.Fprint(answer, "hello") }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// run runs a command in a folder and checks its exit code and output.
func (r *reader) run(t *testing.T, folder, namespace, line, typed string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", typed)
	c.WaitDelay = time.Minute
	path := strings.Join([]string{filepath.Join(folder, "tools"), testbed.Assets(), os.Getenv("PATH")}, ":")
	c.Dir, c.Env = folder, append(os.Environ(), "KUBECONFIG="+r.kubeconfig(t, namespace), "PATH="+path)
	if folder != root {
		home := filepath.Join(folder, "home")
		c.Env = append(c.Env, "HOME="+home, "GOCACHE="+filepath.Join(home, "build"), "GOMODCACHE="+filepath.Join(home, "mod"))
	}
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\n%s", typed, err, out)
	}
	want := ends[line]
	if got := c.ProcessState.ExitCode(); got != want.code && want.code != anyEnd || !strings.Contains(string(out), want.prints) {
		t.Errorf("%s ends with %d, want %d, and prints, perhaps without %q:\n%s", typed, got, want.code, want.prints, out)
	}
	if strings.HasPrefix(line, "bin/loadstone report ") && !strings.Contains(line, " --again") && strings.Contains(string(out), "reading the object store directly") {
		t.Errorf("%s needs the key of the store: %s", typed, out)
	}
}

// complete reports whether a command of loadstone has all arguments. Unknown flags fail the test. Words in capitals are arguments.
func complete(t *testing.T, line string) bool {
	t.Helper()
	args := slices.DeleteFunc(words(line)[1:], func(word string) bool {
		return strings.Trim(word, ".") == strings.ToUpper(strings.Trim(word, ".")) && !strings.ContainsAny(word, "-0123456789")
	})
	c, rest, err := cli.New("loadstone").Find(args)
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return false
	}
	if err := c.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		t.Errorf("%s: %v", line, err)
		return false
	}
	return c.ValidateArgs(c.Flags().Args()) == nil
}

// TestBashCompletesCommands tests completion in bash, set up as in docs/man/loadstone-completion.1.
func TestBashCompletesCommands(t *testing.T) {
	const script = `
		source <(loadstone completion bash)
		# That of the package bash-completion, which not every machine has.
		_init_completion() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword - 1]}; }
		COMP_LINE="loadstone $1"; COMP_WORDS=($COMP_LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_POINT=${#COMP_LINE}; COMP_TYPE=63
		__start_loadstone 2>/dev/null
		printf '%s\n' "${COMPREPLY[@]}"`
	for typed, want := range map[string]string{"suite h": "history", "rep": "report", "run --clu": "--cluster"} {
		c := exec.CommandContext(t.Context(), "bash", "-c", script, "bash", typed)
		c.Env = append(os.Environ(), "PATH="+bin(t)+":"+os.Getenv("PATH"))
		out, err := c.Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q is completed to %q, %v, want %q", typed, out, err, want)
		}
	}
}
