package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/samples"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/testbed"
)

const allRounds, worse = 20, 12

const aaRuns = 6

// early is a verdict in an unfinished run's status, found in an ended run's.
const early, found = "again makes 40 % more requests per second than a", "no difference between a and again"

// shown is a cluster with data for each page: a store with an ended run's report, a measuring run, a waiting run, and a suite with history. No
// operator is running.
type shown struct {
	*world
	store              *artifact.Store
	measuring, waiting *v1alpha1.BenchmarkRun
	suite              *v1alpha1.BenchmarkSuite
}

func newShown(t *testing.T) *shown {
	t.Helper()
	w := &shown{world: newWorld(t, "ui-browser")}
	w.operator(testbed.Store(t))
	w.publish(w.run)
	w.end(w.run, found)
	w.measuring = w.begin("now")
	w.trials()
	w.waiting = w.another("later")
	w.sum(w.waiting, metav1.ConditionUnknown, v1alpha1.ReasonQueued, "BenchmarkRun ui-browser/now is measuring: runs take turns")
	w.rounds()
	w.aaRuns()
	return w
}

func (w *shown) of(t *testing.T) *shown {
	t.Helper()
	own, around := *w, *w.world
	around.t, own.world = t, &around
	return &own
}

func (w *shown) operator(at testbed.ObjectStore) {
	w.t.Helper()
	bucket := at.NewBucket(w.t)
	var err error
	w.store, err = artifact.Open(artifact.Config{Endpoint: at.Endpoint, Bucket: bucket, Region: "us-east-1", AccessKey: at.AccessKey, SecretKey: at.SecretKey})
	w.must(err)
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.run.Namespace, Name: "store"}, StringData: map[string]string{"access": at.AccessKey, "secret": at.SecretKey}}
	w.keep(key)
	labels := map[string]string{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "operator"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.run.Namespace, Name: "loadstone", Labels: labels}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "operator", Image: "localhost/loadstone/manager:dev", Args: []string{"--s3-endpoint=" + at.Endpoint, "--s3-bucket=" + bucket},
		Env: []corev1.EnvVar{ofSecret(artifact.AccessKeyVariable, "access"), ofSecret(artifact.SecretKeyVariable, "secret")},
	}}
	w.keep(d)
}

func ofSecret(name, key string) corev1.EnvVar {
	from := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "store"}, Key: key}
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: from}}
}

func (w *shown) keep(o client.Object) {
	w.t.Helper()
	w.must(w.c.Create(w.t.Context(), o))
	w.t.Cleanup(func() {
		o.SetFinalizers(nil)
		w.must(client.IgnoreNotFound(w.c.Patch(context.Background(), o, client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"finalizers": null}}`)))))
		w.must(client.IgnoreNotFound(w.c.Delete(context.Background(), o)))
	})
}

func (w *shown) another(name string) *v1alpha1.BenchmarkRun {
	w.t.Helper()
	r := &v1alpha1.BenchmarkRun{}
	w.must(yaml.Unmarshal(samples.AA, r))
	r.Namespace, r.Name, r.Finalizers = w.run.Namespace, name, []string{v1alpha1.Finalizer}
	w.keep(r)
	return r
}

func (w *shown) sum(r *v1alpha1.BenchmarkRun, status metav1.ConditionStatus, reason, message string) {
	w.t.Helper()
	r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now()}}
	if status == metav1.ConditionTrue {
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionConclusive, Status: status, Reason: reason, LastTransitionTime: metav1.Now()})
	}
	w.must(w.c.Status().Update(w.t.Context(), r))
}

// begin is a measuring run with a verdict in its status that must not be shown yet.
func (w *shown) begin(name string) *v1alpha1.BenchmarkRun {
	w.t.Helper()
	r := w.another(name)
	began := metav1.NewTime(time.Now().Add(-2 * time.Minute))
	r.Status.StartTime, r.Status.Progress, r.Status.TimeLeft, r.Status.Verdict = &began, "9/40", "6m20s", early
	r.Status.Repeats = v1alpha1.RepeatStatus{ScannedBlocks: 2, DisturbedBlocks: []int32{2}}
	w.sum(r, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "")
	return r
}

func (w *shown) end(r *v1alpha1.BenchmarkRun, verdict string) {
	w.t.Helper()
	began, ended := metav1.NewTime(time.Now().Add(-9*time.Minute)), metav1.NewTime(time.Now().Add(-3*time.Minute))
	r.Status.StartTime, r.Status.CompletionTime, r.Status.Verdict = &began, &ended, verdict
	w.sum(r, metav1.ConditionTrue, v1alpha1.ReasonDone, "the report is stored")
}

func (w *shown) publish(r *v1alpha1.BenchmarkRun) {
	w.t.Helper()
	table, err := analysis.Analyse(recordtest.Run(recordtest.Duel(4)))
	w.must(err)
	files, err := report.Files(table)
	w.must(err)
	sha := digest(files[0].Body)
	for _, f := range files {
		_, err := w.store.Put(w.t.Context(), artifact.ReportKey(download.PrefixOf(r), sha, f.Name), f.ContentType, f.Body)
		w.must(err)
	}
	r.Status.Report = v1alpha1.ReportRef{URI: w.store.URI(artifact.ReportKey(download.PrefixOf(r), sha, files[0].Name)), SHA256: sha}
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// trials are the measuring run's first blocks: one lost, one being retried, and two to come.
func (w *shown) trials() {
	w.t.Helper()
	p, err := plan.Compile(w.measuring.Spec, plan.Options{Name: w.measuring.Name, UID: string(w.measuring.UID)})
	w.must(err)
	for i, line := range p.Trials[:8] {
		trial := render.Trial(w.measuring, line)
		trial.Namespace, trial.OwnerReferences = w.run.Namespace, nil
		w.keep(trial)
		began, ended := metav1.NewMicroTime(time.Now().Add(-time.Duration(9-i)*20*time.Second)), metav1.NewMicroTime(time.Now().Add(-time.Duration(8-i)*20*time.Second))
		switch i {
		case 3:
			trial.Status = trialEnded(began, ended, metav1.ConditionFalse, v1alpha1.ReasonPodLost, "the pod of the server was lost")
		case 5:
			trial.Status = v1alpha1.TrialStatus{Attempt: 2, StartTime: &began, Progress: "1/2", Failures: []string{"the pod of the server was lost"}}
		case 6, 7:
			continue
		default:
			trial.Status = trialEnded(began, ended, metav1.ConditionTrue, v1alpha1.ReasonDone, "stored")
		}
		w.must(w.c.Status().Update(w.t.Context(), trial))
	}
}

func trialEnded(began, ended metav1.MicroTime, status metav1.ConditionStatus, reason, message string) v1alpha1.TrialStatus {
	c := metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.Now()}
	return v1alpha1.TrialStatus{Attempt: 1, StartTime: &began, CompletionTime: &ended, Progress: "2/2", Conditions: []metav1.Condition{c}}
}

// rounds are a suite's rounds with stored reports. One run of the newest is still in the cluster, and one of another round measures.
func (w *shown) rounds() {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "gitops", "suite.yaml"))
	w.must(err)
	w.suite = &v1alpha1.BenchmarkSuite{}
	w.must(yaml.Unmarshal(text, w.suite))
	w.suite.Namespace, w.suite.Name = w.run.Namespace, "checkout"
	w.keep(w.suite)
	s := &w.suite.Status
	for round := int32(allRounds); round > 0; round-- {
		s.GoodRounds = append(s.GoodRounds, v1alpha1.GoodRound{Round: round, Runs: []v1alpha1.GoodRun{w.good(round)}})
	}
	began, ended, next := metav1.NewTime(time.Now().Add(-3*time.Hour)), metav1.NewTime(time.Now().Add(-2*time.Hour)), metav1.NewTime(time.Now().Add(time.Hour))
	missed := v1alpha1.SuiteRound{
		Round: allRounds, Trigger: v1alpha1.TriggerChange, Outcome: v1alpha1.RoundMissed, Reason: v1alpha1.ReasonObjectivesMissed, Message: "p99 is 12.4 ms, and may be 10 ms",
		StartTime: &began, CompletionTime: &ended, Against: []int32{allRounds - 1},
	}
	passed := v1alpha1.SuiteRound{Round: allRounds - 1, Trigger: v1alpha1.TriggerSchedule, Outcome: v1alpha1.RoundPassed, StartTime: &began, CompletionTime: &ended}
	s.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonObjectivesMissed, Message: "round 20: p99 is 12.4 ms, and may be 10 ms",
		ObservedGeneration: w.suite.Generation, LastTransitionTime: ended,
	}}
	s.LastRound, s.LastGood, s.History, s.NextScheduleTime = missed, passed, []v1alpha1.SuiteRound{missed, passed}, &next
	s.Current = v1alpha1.CurrentRound{Round: allRounds + 1, Trigger: v1alpha1.TriggerRequest, Run: "checkout-21-00", Progress: "0/1", StartTime: &began}
	s.Inputs.Images = []v1alpha1.ResolvedImage{{Image: "localhost/loadstone/gohttp:dev", Digest: "sha256:" + digest(nil)}}
	w.must(w.c.Status().Update(w.t.Context(), w.suite))
	w.end(w.ofRound(allRounds), "a makes 3.1 % fewer requests per second than again")
	w.ofRound(allRounds + 1)
}

func (w *shown) good(round int32) v1alpha1.GoodRun {
	w.t.Helper()
	cost := 1.0
	if round >= worse {
		cost = 1.2
	}
	table, err := analysis.Analyse(recordtest.Round(int(round), cost))
	w.must(err)
	body, err := report.JSON(table)
	w.must(err)
	prefix := fmt.Sprintf("%s/checkout-%02d", w.run.Namespace, round)
	_, err = w.store.Put(w.t.Context(), artifact.ReportKey(prefix, digest(body), report.FileNames()[1]), "application/json", body)
	w.must(err)
	return v1alpha1.GoodRun{Name: "small", Prefix: prefix, Run: v1alpha1.PastRun{Name: "old", UID: "01234567-89ab", ManifestSHA256: digest(body)}, Report: artifact.ReportKey(prefix, digest(body), report.FileNames()[0])}
}

func (w *shown) ofRound(round int) *v1alpha1.BenchmarkRun {
	w.t.Helper()
	r := &v1alpha1.BenchmarkRun{}
	w.must(yaml.Unmarshal(samples.AA, r))
	r.Namespace, r.Name = w.run.Namespace, fmt.Sprintf("checkout-%d-00", round)
	r.Labels = map[string]string{v1alpha1.LabelSuite: w.suite.Name, v1alpha1.LabelSuiteUID: string(w.suite.UID), v1alpha1.LabelRound: fmt.Sprint(round)}
	w.keep(r)
	return r
}

// aaRuns measured one server under two names; in the last one noise looks like a difference.
func (w *shown) aaRuns() {
	w.t.Helper()
	for i := range aaRuns {
		r := &v1alpha1.BenchmarkRun{}
		w.must(yaml.Unmarshal(samples.AA, r))
		r.Namespace, r.Name = w.run.Namespace, fmt.Sprintf("aa-%d", i)
		w.keep(r)
		cost := 1.0
		if i == aaRuns-1 {
			cost = 1.05
		}
		body := aaReport(w.t, uint64(i), r.Spec.Implementations[0].Image, cost)
		key := artifact.ReportKey(download.PrefixOf(r), digest(body), report.FileNames()[1])
		_, err := w.store.Put(w.t.Context(), key, "application/json", body)
		w.must(err)
		r.Status.Report = v1alpha1.ReportRef{URI: w.store.URI(artifact.ReportKey(download.PrefixOf(r), digest(body), report.FileNames()[0])), SHA256: digest(body)}
		w.end(r, found)
	}
}
