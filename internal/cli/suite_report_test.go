package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/report/junit"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// suite makes a suite of one run, measured by the test.
func (w *cluster) suite() *v1alpha1.BenchmarkSuite {
	w.t.Helper()
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "checkout"}}
	s.Spec.Runs = []v1alpha1.SuiteRun{{Name: "small", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte(`{}`)}}}}
	w.create(s)
	w.t.Cleanup(func() { w.must(w.c.Delete(context.Background(), s)) }) // Another test lists the suites of all namespaces.
	return s
}

// takesImages lets the rounds of a suite measure images of a repository, by the parameter image.
func (w *cluster) takesImages(s *v1alpha1.BenchmarkSuite, repository string) {
	w.t.Helper()
	s.Spec.Parameters = []v1alpha1.Parameter{{Name: "image", Default: repository + ":main", Pattern: repository + ":.*"}}
	s.Spec.Runs[0].Template.Spec.Raw = []byte(`{
		"implementations": [{"name": "candidate", "image": "$(image)", "port": 8080}], "loads": [{"name": "sweep", "tool": "wrk", "levels": [{"connections": 100}]}]}`)
	w.must(w.c.Update(w.t.Context(), s))
}

// ends ends a round of a suite that answers a request, with one run that has a whole report.
func (w *cluster) ends(s *v1alpha1.BenchmarkSuite, round int, token string, outcome v1alpha1.RoundOutcome) error {
	r := ofSuite(s, round)
	r.Annotations[v1alpha1.AnnotationRound] = fmt.Sprintf(`{"id": "%d", "run": "small", "runs": 1, "requested": %[2]q, "webhook": %[2]q}`, round, token)
	table, err := analysis.Analyse(recordtest.Round(round, 1))
	files, printed := report.Files(table)
	if err := errors.Join(err, printed, w.c.Create(context.Background(), r)); err != nil {
		return err
	}
	ref := v1alpha1.ReportRef{}
	for _, f := range files {
		stored, err := w.store.Put(context.Background(), fmt.Sprintf("r/%s/reports/abc/%s", r.Name, f.Name), f.ContentType, f.Body)
		if err != nil {
			return err
		}
		if ref.URI == "" {
			ref = v1alpha1.ReportRef{URI: w.store.URI(stored.Key), SHA256: stored.SHA256}
		}
	}
	now := metav1.Now()
	w.update(r.Name, func(status *v1alpha1.BenchmarkRunStatus) {
		status.StartTime, status.CompletionTime, status.Verdict, status.Report = &now, &now, "go-slow is slower", ref
		status.Conditions = []metav1.Condition{condition(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone, "x")}
	})
	if err := w.c.Get(context.Background(), client.ObjectKeyFromObject(s), s); err != nil {
		return err
	}
	line := v1alpha1.SuiteRound{Round: int32(round), Outcome: outcome, Message: "small: +23 %", StartTime: &now, CompletionTime: &now}
	s.Status.History = append([]v1alpha1.SuiteRound{line}, s.Status.History...)
	return w.c.Status().Update(context.Background(), s)
}

// asked is what asks a suite for a round: the value of its annotation, or else the id of a request with values.
func asked(s *v1alpha1.BenchmarkSuite) string {
	return cmp.Or(s.Annotations[v1alpha1.AnnotationRequestedAt], webhook.Read(s.Annotations[v1alpha1.AnnotationWebhook]).ID)
}

// answers ends a round once one is requested.
func (w *cluster) answers(ctx context.Context, s *v1alpha1.BenchmarkSuite, round int, outcome v1alpha1.RoundOutcome) error {
	for ctx.Err() == nil {
		var now v1alpha1.BenchmarkSuite
		if err := w.c.Get(ctx, client.ObjectKeyFromObject(s), &now); err != nil {
			return err
		}
		if token := asked(&now); token != "" {
			return w.ends(&now, round, token, outcome)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}

// tests are those of a file, by suite, and how many there are of each ending.
func tests(t *testing.T, path string) map[string]junit.Suite {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	suites, err := junit.Read(body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]junit.Suite{}
	for _, s := range suites {
		got[s.Name] = s
	}
	return got
}

func TestSuiteReportIsDownloaded(t *testing.T) {
	w := newCluster(t)
	w.install()
	command := []string{"suite", "report", "checkout", "--system-namespace", w.namespace, "--out", t.TempDir()}
	if _, err := execute(t, command...); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "there is no BenchmarkSuite "+w.namespace+"/checkout") {
		t.Errorf("the report of no suite ends with %v", err)
	}
	s := w.suite()
	for _, verb := range []string{"run", "report", "history"} {
		if printed, err := execute(t, "__complete", "suite", verb, ""); err != nil || !strings.HasPrefix(printed, "checkout\n:4\n") {
			t.Errorf("a shell completes %q after suite %s, %v", printed, verb, err)
		}
	}
	if _, err := execute(t, command...); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "has no finished round") {
		t.Errorf("the report of no round ends with %v", err)
	}
	for round, outcome := range []v1alpha1.RoundOutcome{v1alpha1.RoundPassed, v1alpha1.RoundMissed} {
		w.must(w.ends(s, round+1, "", outcome))
	}
	path := filepath.Join(command[len(command)-1], w.namespace, "checkout", "round", "junit.xml")
	out, err := execute(t, command...)
	if err != nil || !strings.HasSuffix(out, path+"\n") {
		t.Fatalf("it prints %q, %v", out, err)
	}
	name := w.namespace + "/checkout"
	got := tests(t, path)
	if own := got[name]; own.Tests != 1 || own.Failures != 1 || own.Cases[0].Failure.Message != "round 2: missed: small: +23 %" {
		t.Errorf("of the round it says %+v", own)
	}
	run := tests(t, reportOf(t, w, "checkout-2"))["default/duel"]
	if small := got[name+"/small"]; len(run.Cases) == 0 || small.Tests != len(run.Cases) || small.Cases[0].Name != run.Cases[0].Name || small.Cases[0].Class != "loadstone.checkout.small" {
		t.Errorf("of the run it says %+v, and its own file %+v", small, run)
	}
	page, err := os.ReadFile(filepath.Join(filepath.Dir(path), "report.md"))
	if err != nil || !strings.Contains(string(page), "`loadstone report checkout-2 --namespace "+w.namespace+"` gets the report") {
		t.Errorf("the page is %s, %v", page, err)
	}
	if _, err := execute(t, append(command, "--round", "1")...); err != nil || tests(t, path)[name].Failures != 0 {
		t.Errorf("an older round has %+v, %v", tests(t, path)[name], err)
	}
	if _, err := execute(t, append(command, "--round", "7")...); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "choose one of 2, 1") {
		t.Errorf("a round that is none ends with %v", err)
	}
}

// reportOf is the path of the list of tests of a run's own report.
func reportOf(t *testing.T, w *cluster, run string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := execute(t, "report", run, "--system-namespace", w.namespace, "--out", dir); err != nil {
		t.Fatal(out, err)
	}
	return filepath.Join(dir, w.namespace, run, "junit.xml")
}

func TestUnfinishedRoundHasNoReport(t *testing.T) {
	w := newCluster(t)
	s, dir := w.suite(), t.TempDir()
	if _, err := execute(t, "suite", "run", "checkout", "--out", dir); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "--out needs --wait") {
		t.Errorf("a report that nobody waits for ends with %v", err)
	}
	w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(s), s))
	if asked(s) != "" {
		t.Errorf("a round was asked for by %s", asked(s))
	}
	old := filepath.Join(dir, w.namespace, "checkout", "round", "junit.xml")
	w.must(errors.Join(os.MkdirAll(filepath.Dir(old), 0o755), os.WriteFile(old, nil, 0o600)))
	if _, err := execute(t, "suite", "run", "checkout", "--wait", "1ms", "--out", dir); err == nil || status(err) != statusFailed {
		t.Errorf("a round that does not begin ends with %v", err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the report of an earlier round passes for it: %v", err)
	}
}

// step is the step of a pipeline that the page shows.
var step = regexp.MustCompile("(?s)\n```sh\n(loadstone suite run .*?)```\n")

// TestDocumentedPipelineStepWorks runs the step as a shell does, with this program as loadstone.
func TestDocumentedPipelineStepWorks(t *testing.T) {
	w := newCluster(t)
	w.install()
	s := w.suite()
	w.takesImages(s, "registry.example/checkout")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", "gate-in-ci.md"))
	w.must(err)
	found := step.FindSubmatch(page)
	if found == nil {
		t.Fatal("the page shows no step")
	}
	program, err := os.Executable()
	w.must(err)
	dir := t.TempDir()
	w.must(os.WriteFile(filepath.Join(dir, "loadstone"), fmt.Appendf(nil, "#!/bin/sh\nexec '%s' \"$@\" --system-namespace %s\n", program, w.namespace), 0o755))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- w.answers(ctx, s, 1, v1alpha1.RoundMissed) }()
	c := exec.CommandContext(ctx, "sh", "-eu", "-c", strings.ReplaceAll(string(found[1]), "default", w.namespace))
	c.Dir = dir
	c.Env = append(os.Environ(), asProgram+"=1", "PATH="+dir+":"+os.Getenv("PATH"), "COMMIT=1a2b3c4", "SUMMARY="+filepath.Join(dir, "summary.md"))
	out, err := c.CombinedOutput()
	if played := <-answered; played != nil {
		t.Fatal(played)
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != statusMissed {
		t.Errorf("it ends with %v: %s", err, out)
	}
	if !strings.Contains(string(out), "with image=registry.example/checkout:1a2b3c4\n") {
		t.Errorf("the image of the commit is not what is measured: %s", out)
	}
	own := tests(t, filepath.Join(dir, "reports", w.namespace, "checkout", "round", "junit.xml"))[w.namespace+"/checkout"]
	if own.Failures != 1 {
		t.Errorf("the round has %+v", own)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "summary.md")); err != nil || !strings.HasPrefix(string(text), "## Loadstone: ") {
		t.Errorf("the summary is %s, %v", text, err)
	}
}

func TestSuiteRunSetsParameters(t *testing.T) {
	w := newCluster(t)
	w.install()
	s := w.suite()
	w.takesImages(s, "shop/checkout")
	for value, want := range map[string]string{
		"image": "does not set a parameter: write NAME=VALUE", "commit=1a2b3c4": "commit, but the suite has no such parameter",
		"image=other:1": "does not match its pattern shop/checkout:.*",
	} {
		if _, err := execute(t, "suite", "run", "checkout", "--set", value); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("--set %s ends with %v, want %q", value, err, want)
		}
	}
	if w.must(w.c.Get(t.Context(), client.ObjectKeyFromObject(s), s)); asked(s) != "" {
		t.Errorf("a round was asked for by %s", asked(s))
	}
	out, end := begin(t.Context(), "suite", "run", "checkout", "--set", "image=shop/checkout:7", "--wait", patience.String())
	until(t, out, "requested a round, with image=shop/checkout:7\n")
	w.must(w.answers(t.Context(), s, 4, v1alpha1.RoundPassed))
	if err := <-end; err != nil || !strings.HasSuffix(out.String(), "round 4: passed: small: +23 %\n") {
		t.Errorf("it ends with %v and prints %s", err, out.String())
	}
	if _, err := execute(t, "suite", "run", "checkout", "--output", "json"); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "--output needs --wait") {
		t.Errorf("the outcome of a round that nothing waits for ends with %v", err)
	}
}

func TestSuiteRunPrintsRoundForPrograms(t *testing.T) {
	round := v1alpha1.SuiteRound{Round: 3, Outcome: v1alpha1.RoundMissed, Message: "small: p99 +23 %"}
	for format, read := range map[outputFormat]func([]byte, any) error{
		jsonOutput: json.Unmarshal, yamlOutput: func(text []byte, into any) error { return yaml.UnmarshalStrict(text, into) },
	} {
		var out bytes.Buffer
		var got v1alpha1.SuiteRound
		err := tellEnd(&out, format, round)
		if status(err) != statusMissed || read(out.Bytes(), &got) != nil || got.Outcome != round.Outcome || got.Message != round.Message {
			t.Errorf("as %s it prints %s and ends with %v", format, &out, err)
		}
	}
}
