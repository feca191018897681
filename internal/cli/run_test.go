package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

// asProgram makes the test's own program be loadstone.
const asProgram = "LOADSTONE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	shortenCalibration()
	if os.Getenv(asProgram) != "" || isHelper() {
		os.Exit(Main(os.Args))
	}
	code, err := inFolder(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// serverFolder is where the reference server lies, which is built once.
var serverFolder string

// inFolder runs the tests while the folder is there.
func inFolder(m *testing.M) (code int, err error) {
	if serverFolder, err = os.MkdirTemp("", "loadstone-cli-"); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(serverFolder)) }()
	return testbed.Main(m), nil
}

// buildServer builds the reference server, and buildFaulty one with planted faults.
var buildServer, buildFaulty = builds("gohttp"), builds("faulty")

func builds(workload string) func() error {
	return sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", serverFolder, "../../workloads/"+workload).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w: %s", workload, err, out)
		}
		return nil
	})
}

// patience bounds how long a run of a test may take on a machine that is busy.
const patience = 10 * time.Minute

// servers puts the reference server into a folder, where the files of runs lie too.
func servers(t *testing.T) string {
	t.Helper()
	skipUnmeasured(t, cannotMeasure())
	testbed.Programs(t, "wrk")
	if err := buildServer(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Link(filepath.Join(serverFolder, "gohttp"), filepath.Join(dir, "gohttp")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// comparison writes a run of a server against itself with a planted cost, and returns its file.
func comparison(t *testing.T, dir string, oldNew ...string) string {
	t.Helper()
	text := strings.NewReplacer("PLAIN", freePort(t), "COSTLY", freePort(t)).Replace(`apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: quick}
spec:
  implementations:
  - {name: plain, command: [./gohttp, --port=PLAIN], port: PLAIN}
  - {name: costly, command: [./gohttp, --port=COSTLY, --burn=20000], port: COSTLY}
  baseline: plain
  placement: {pinning: Preferred}
  loads:
  - {name: sweep, tool: wrk, warmupSeconds: 1, durationSeconds: 1, levels: [{connections: 2}, {connections: 8}]}
  blocks: 2
`)
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(text, oldNew[i]) {
			t.Fatalf("%q is not in the run", oldNew[i])
		}
		text = strings.Replace(text, oldNew[i], oldNew[i+1], 1)
	}
	file := filepath.Join(dir, "run.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := testbed.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func loadstone(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

func statusAfter(err error) int {
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

func TestLocalRunWritesRecordAndReport(t *testing.T) {
	dir := servers(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := filepath.Join(dir, "results")
	cmd := loadstone(ctx, "run", quickHere(t, dir), "--out", results)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	// Two blocks give no verdict, however quiet the machine is.
	if got := statusAfter(err); got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s%s", got, out, stderr.String())
	}
	page := regexp.MustCompile(`(?m)^report: (.*report\.html)$`).FindSubmatch(out)
	if page == nil {
		t.Fatalf("it names no report: %s", out)
	}
	if html, err := os.ReadFile(string(page[1])); err != nil || !bytes.Contains(html, []byte("by affinity")) && !bytes.Contains(html, []byte("too few CPUs")) {
		t.Errorf("the report does not say how it was measured: %v", err)
	}
	var m record.RunManifest
	read(t, filepath.Join(results, "manifest.json"), &m)
	if m.Schema != record.RunManifestSchema || len(m.Trials) < 4 || m.Run.Namespace != record.LocalNamespace || m.Plan.Blocks != 2 {
		t.Errorf("the manifest holds %+v", m)
	}
	for _, entry := range m.Trials {
		checkTrial(t, results, entry)
	}
	checkTable(t, strings.TrimSuffix(string(page[1]), "html")+"json")
	if _, err := os.Stat(filepath.Join(results, ".work")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the files of processes are left: %v", err)
	}
	t.Run("built like that of a cluster", func(t *testing.T) { checkStructure(t, results) })
	checkCommandsOnResults(t, results, string(page[1]))
}

// slowed reports whether a cell has no measurement because the machine was too busy: the tool began too late, or a tool before it did not end in
// time.
func slowed(c record.CellRun) bool {
	return c.Measurement == nil && (c.Late || strings.Contains(c.Error, "was late for the cell") || strings.Contains(c.Error, "it had not ended"))
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// checkTrial looks at what lies of one trial: the same as on a cluster.
func checkTrial(t *testing.T, results string, entry record.TrialEntry) {
	t.Helper()
	if entry.Manifest == nil {
		t.Errorf("trial %s was not measured: %s: %s", entry.Name, entry.Reason, entry.Message)
		return
	}
	var m record.TrialManifest
	read(t, filepath.Join(filepath.Dir(results), entry.Manifest.Key), &m)
	names := map[string]bool{}
	for _, a := range m.Artifacts {
		names[a.Member+"/"+a.Name] = true
	}
	for _, want := range []string{"server-0/result.json", "server-0/samples.csv", "generator-0/result.json", "generator-0/sweep-10.wrk.txt", "generator-0/sweep-100.wrk.txt"} {
		if !names[want] {
			t.Errorf("trial %s has no %s among %v", entry.Name, want, names)
		}
	}
	var server record.ObserverResult
	read(t, filepath.Join(filepath.Dir(results), filepath.Dir(entry.Manifest.Key), "server-0", "result.json"), &server)
	var generator record.GeneratorResult
	read(t, filepath.Join(filepath.Dir(results), filepath.Dir(entry.Manifest.Key), "generator-0", "result.json"), &generator)
	for i, cell := range server.Cells {
		if slowed(generator.Cells[i]) {
			continue
		}
		if cell.Error != "" {
			t.Logf("cell %s of trial %s was not observed, as on a machine that is busy: %s", cell.Name(), entry.Name, cell.Error)
			continue
		}
		// On a busy machine, other programs may leave the server no CPU time in a cell.
		starved := cell.CPUNanos == 0 && cell.BusyNanos >= 9*cell.Ended.Sub(cell.Started).Nanoseconds()/10
		// An observer that a busy machine delays says so, and knows no sockets.
		if cell.CPUNanos <= 0 && !starved || cell.RSSBytes <= 0 || cell.Sockets == nil && len(cell.Unknown) == 0 {
			t.Errorf("cell %s of trial %s was observed as %+v", cell.Name(), entry.Name, cell)
		}
	}
}

// checkTable looks at the structure of the report's data.
func checkTable(t *testing.T, path string) {
	t.Helper()
	var table struct {
		Groups []struct {
			Implementation string
			Cells          []struct {
				Requests int64
				Validity validity.Validity
			}
		}
		Comparisons []struct{ Implementation, Baseline string }
	}
	read(t, path, &table)
	if len(table.Groups) != 4 || len(table.Comparisons) != 1 || table.Comparisons[0].Implementation != "epoll" || table.Comparisons[0].Baseline != "gohttp" {
		t.Errorf("the report holds %+v", table)
	}
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			// A machine that is busy voids cells, and may leave them without a request.
			if c.Requests <= 0 && c.Validity != validity.Void {
				t.Errorf("%s has a cell without requests", g.Implementation)
			}
		}
	}
}

func TestInvalidLocalRunIsRefused(t *testing.T) {
	dir := servers(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // Nobody speaks to it.
	busy := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		oldNew []string
		args   []string
		want   string
	}{
		"no such command":           {oldNew: []string{"[./gohttp", "[./nothing"}, want: "implementations[plain].command: there is no program"},
		"no such command in PATH":   {oldNew: []string{"[./gohttp", "[no-such-server"}, want: `there is no program "no-such-server" in PATH`},
		"a file that is no program": {oldNew: []string{"[./gohttp", "[./run.yaml"}, want: "is no program that can be executed"},
		"a port that is taken":      {oldNew: []string{"port: ", "port: " + busy + "} #"}, want: "listens on port " + busy},
		"too many CPUs":             {oldNew: []string{"Preferred", "Required", "name: plain,", "name: plain, cpus: 1000,"}, want: "need at least 1001 CPUs"},
		"another kind":              {oldNew: []string{"kind: BenchmarkRun", "kind: Pod"}, want: "loadstone run needs a BenchmarkRun"},
		"another tool":              {oldNew: []string{"tool: wrk", "tool: hammer"}, want: "unknown value"},
		"a folder below a file":     {args: []string{"--out", filepath.Join(file, "results")}, want: "the folder cannot be written"},
		"a script that is missing":  {oldNew: []string{"tool: wrk,", "tool: wrk, script: {configMap: scripts, key: post.lua},"}, want: "there is no script in scripts/post.lua or post.lua"},
		"an unknown flag":           {args: []string{"--contexts", "here"}, want: "unknown flag: --contexts"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"run", comparison(t, dir, tc.oldNew...)}, tc.args...)
			if tc.args == nil {
				args = append(args, "--out", filepath.Join(t.TempDir(), "results"))
			}
			_, err := execute(t, args...)
			if err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it ends with %v\nwant one line with %q", err, tc.want)
			}
		})
	}
}

func TestMachineWithoutWrkOrDiskSpaceIsRefused(t *testing.T) {
	dir := servers(t)
	file := comparison(t, dir)
	t.Run("a full disk", func(t *testing.T) {
		full := t.TempDir()
		mountSmall(t, full)
		out, err := loadstone(t.Context(), "run", file, "--out", filepath.Join(full, "results")).CombinedOutput()
		if got := statusAfter(err); got != statusBadInput || !bytes.Contains(out, []byte("free disk space")) {
			t.Errorf("it ends with status %d: %s", got, out)
		}
	})
	t.Run("no wrk", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		out, err := loadstone(t.Context(), "run", file, "--out", filepath.Join(dir, "results")).CombinedOutput()
		if got := statusAfter(err); got != statusBadInput || !bytes.Contains(out, []byte("wrk is not installed on this machine: install it (")) {
			t.Errorf("it ends with status %d: %s", got, out)
		}
	})
	leavesNothing(t, dir)
}

// On one CPU a server and its generator share it: the run is led to its end, and every cell that counts is marked.
func TestRunOnOneCPUMarksEveryCell(t *testing.T) {
	dir := servers(t)
	testbed.Programs(t, "taskset")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := loadstone(ctx, "run", comparison(t, dir, oneCell...), "--out", filepath.Join(dir, "results"))
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args = taskset, append([]string{"taskset", "--cpu-list", "0", os.Args[0]}, cmd.Args[1:]...)
	out, err := cmd.CombinedOutput()
	if got := statusAfter(err); got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, out)
	}
	page := regexp.MustCompile(`(?m)^report: (.*)html$`).FindSubmatch(out)
	if page == nil {
		t.Fatalf("it names no report: %s", out)
	}
	var table struct {
		Groups []struct {
			Cells []struct {
				Validity validity.Validity
				Reasons  []struct{ Code validity.Code }
			}
		}
	}
	read(t, string(page[1])+"json", &table)
	cells := 0
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			cells++
			if c.Validity == validity.Valid || len(c.Reasons) == 0 {
				t.Errorf("a cell is %s: %+v", c.Validity, c.Reasons)
			}
		}
	}
	if cells < 2 {
		t.Errorf("the report has %d cells", cells)
	}
}

func TestUnmeasurableServerFailsRun(t *testing.T) {
	dir := servers(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	file := comparison(t, dir, "--burn=20000", "--no-such-flag", ", {connections: 8}]", "]", "warmupSeconds: 1", "warmupSeconds: 0")
	out, err := loadstone(ctx, "run", file, "--out", filepath.Join(dir, "results")).CombinedOutput()
	if got := statusAfter(err); got != statusFailed || !bytes.Contains(out, []byte("loadstone: ServerExited: nothing was measured, because the rehearsal failed: implementations[costly] exited (exit code 2")) {
		t.Errorf("it ends with status %d: %s", got, out)
	}
}

func TestInterruptedRunReportsCompleteBlocks(t *testing.T) {
	dir := servers(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := filepath.Join(dir, "results")
	cmd := loadstone(ctx, "run", comparison(t, dir, ", {connections: 8}]", "]", "warmupSeconds: 1", "warmupSeconds: 0", "blocks: 2", "blocks: 50"), "--out", results)
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); !strings.Contains(out.String(), "block 2/50"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the second block does not begin: %s", out.String())
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := statusAfter(cmd.Wait()); got != statusInterrupted || !strings.Contains(out.String(), "report: ") {
		t.Errorf("it ends with status %d: %s", got, out.String())
	}
	var m record.RunManifest
	read(t, filepath.Join(results, "manifest.json"), &m)
	if len(m.Trials) < 2 || m.Blocks != m.Trials[len(m.Trials)-1].Block || !strings.Contains(strings.Join(m.Notes, " "), "interrupted") {
		t.Errorf("the manifest holds %d trials of %d blocks, and the notes %q", len(m.Trials), m.Blocks, m.Notes)
	}
	leavesNothing(t, dir)
}

func TestInterruptedCommandReportsInterruption(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	// A server that takes connections and never answers.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // Nobody speaks to it.
	cmd := loadstone(t.Context(), "list", "--server", "http://"+silent.Addr().String(), "--kubeconfig", emptyKubeconfig(t))
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Accept(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := statusAfter(cmd.Wait()); got != statusInterrupted || out.String() != "loadstone: interrupted\n" {
		t.Errorf("it ends with status %d: %s", got, out.String())
	}
}

func emptyKubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKilledRunLeavesNoProcess(t *testing.T) {
	dir := servers(t)
	file := comparison(t, dir)
	for i, after := range []time.Duration{100, 500, 1900} {
		t.Run(fmt.Sprint(after*time.Millisecond), func(t *testing.T) {
			cmd := loadstone(t.Context(), "run", file, "--out", filepath.Join(dir, "results-"+strconv.Itoa(i)))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after * time.Millisecond)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // It was killed.
			leavesNothing(t, dir)
		})
	}
}

// leavesNothing waits until no process is left whose command names a folder.
func leavesNothing(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		left := naming(t, dir)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("these are left: %q", left)
		}
	}
}
