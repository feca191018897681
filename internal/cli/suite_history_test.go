package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/suite/history"
)

// measured puts the report of a run into the store whose costly server costs more by a factor, and returns the address of its page.
func (w *cluster) measured(round int, cost float64) string {
	w.t.Helper()
	table, err := analysis.Analyse(recordtest.Round(round, cost))
	w.must(err)
	body, err := report.JSON(table)
	w.must(err)
	folder := fmt.Sprintf("r/round-%d/reports/abc/", round)
	_, err = w.store.Put(w.t.Context(), folder+"report.json", "application/json", body)
	w.must(err)
	return w.store.URI(folder + "report.html")
}

func TestSuiteHistoryReadsReports(t *testing.T) {
	w := newCluster(t)
	w.install()
	command := []string{"suite", "history", "checkout", "--system-namespace", w.namespace}
	if _, err := execute(t, command...); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "there is no BenchmarkSuite "+w.namespace+"/checkout") {
		t.Errorf("the history of no suite ends with %v", err)
	}
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "checkout"}}
	s.Spec.Runs = []v1alpha1.SuiteRun{{Name: "small", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte(`{}`)}}}}
	w.create(s)
	t.Cleanup(func() { w.must(w.c.Delete(context.Background(), s)) }) // Another test lists the suites of all namespaces.
	if out, err := execute(t, command...); err != nil || out != "suite checkout has no values yet\n" {
		t.Errorf("the history of a new suite is %q, %v", out, err)
	}
	for round := 1; round <= 18; round++ {
		r := ofSuite(s, round)
		w.create(r)
		w.update(r.Name, func(status *v1alpha1.BenchmarkRunStatus) {
			now, cost := metav1.Now(), 1.0
			if round > 10 {
				cost = 1.2
			}
			status.CompletionTime = &now
			switch round {
			case 17: // Its report is gone from the store.
				status.Report = v1alpha1.ReportRef{URI: w.store.URI("r/gone/reports/abc/report.html"), SHA256: strings.Repeat("a", 64)}
			case 18: // It never had one.
			default:
				status.Report = v1alpha1.ReportRef{URI: w.measured(round, cost), SHA256: strings.Repeat("a", 64)}
			}
		})
	}
	out, err := execute(t, command...)
	if err != nil || !strings.Contains(out, "round 11: +") || !strings.Contains(out, "worse, from 1.20× (10 rounds) to 1.4") || !strings.Contains(out, "(6 rounds)") {
		t.Errorf("the history is %s, %v", out, err)
	}
	if !strings.Contains(out, "small, round 17: left out: ") || !strings.Contains(out, "small, round 18: left out: it ended without a report") {
		t.Errorf("rounds without a report are not told of: %s", out)
	}
	for within, want := range map[string]int{"1": 0, "6": statusMissed} {
		_, err := execute(t, append(command, "--fail-within", within)...)
		if err == nil && want != 0 || err != nil && (status(err) != want || !strings.Contains(err.Error(), "server CPU time per request of go-slow / go under sweep: round 11: +")) {
			t.Errorf("within %s rounds it ends with %v", within, err)
		}
	}
	out, err = execute(t, append(command, "--output", "json")...)
	var h history.History
	note, printed, _ := strings.Cut(out, "\n")
	if err != nil || !strings.HasPrefix(note, "loadstone: reading the object store directly: ") || json.Unmarshal([]byte(printed), &h) != nil || h.Suite != "checkout" || len(h.Series) == 0 || len(h.Series[0].Values) != 16 || len(h.Gaps) != 2 {
		t.Errorf("for programs the history is %s, %v", out, err)
	}
}

// ofSuite is the run of a round, as the operator makes it.
func ofSuite(s *v1alpha1.BenchmarkSuite, round int) *v1alpha1.BenchmarkRun {
	r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.Namespace, Name: fmt.Sprintf("checkout-%d", round),
		Labels:      map[string]string{v1alpha1.LabelSuiteUID: string(s.UID), v1alpha1.LabelRound: fmt.Sprint(round)},
		Annotations: map[string]string{v1alpha1.AnnotationRound: fmt.Sprintf(`{"id": "%d", "run": "small", "runs": 1}`, round)},
	}}
	r.Spec.Implementations = []v1alpha1.Implementation{{Name: "go", Image: "go:dev", Port: 8080}}
	r.Spec.Loads = []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 100}}}}
	return r
}
