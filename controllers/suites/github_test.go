package suites

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/testbed"
)

// forgeToken is for GitHub only.
const forgeToken = "ghs_of_the_namespace"

// repository gives the suite of the test a repository of GitHub.
func (w *world) repository(name string) *testbed.GitHub {
	w.t.Helper()
	g := testbed.NewGitHub(w.t, forgeToken)
	w.sinks = append(w.sinks, v1alpha1.Notification{Name: name, GitHub: v1alpha1.GitHubNotification{
		Repository: "shop/checkout", APIURL: w.serves(g),
		SecretRef: v1alpha1.KeyReference{Name: "servers-github", Key: "token"}, CommitParameter: "commit", PullRequestParameter: "pull",
	}})
	return g
}

// project gives the suite of the test a project of GitLab.
func (w *world) project(name string) *testbed.GitLab {
	w.t.Helper()
	g := testbed.NewGitLab(w.t, forgeToken)
	w.sinks = append(w.sinks, v1alpha1.Notification{Name: name, GitLab: v1alpha1.GitLabNotification{
		Project: "shop/checkout", APIURL: w.serves(g),
		SecretRef: v1alpha1.KeyReference{Name: "servers-github", Key: "token"}, CommitParameter: "commit", MergeRequestParameter: "pull",
	}})
	return g
}

// serves is the address of a forge, which the operator reaches.
func (w *world) serves(forge http.Handler) string {
	w.t.Helper()
	server := httptest.NewTLSServer(forge)
	w.t.Cleanup(server.Close)
	way := server.Client().Transport.(*http.Transport).Clone()
	way.TLSClientConfig.ServerName = "example.com" // Nothing may be sent to a loopback address; the certificate, the same of all, is for this name.
	w.forge = way
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// endsWithReports ends the current round, with reports like the operator's.
func (w *world) endsWithReports(store *counted, status metav1.ConditionStatus, reason, message string) {
	w.t.Helper()
	table, err := analysis.Analyse(recordtest.Round(1, 1))
	w.must(err)
	files, err := report.Files(table)
	w.must(err)
	for _, run := range w.runs() {
		if run.Status.CompletionTime != nil {
			continue
		}
		for _, f := range files {
			_, err := store.Put(w.t.Context(), lies(&run)+"/reports/0123456789ab/"+f.Name, f.ContentType, f.Body)
			w.must(err)
		}
	}
	w.end(status, reason, message)
}

// A namespace lends its token, and the commit and the pull request say what the suite says: each round once, whatever becomes of the operator.
func TestACommitAndItsPullRequestAreToldOfRounds(t *testing.T) {
	first, second, third := strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("3", 40)
	fixed := strings.Replace(template, "$(image)", "shop/checkout@sha256:"+strings.Repeat("a", 64), 1) // The same inputs are the same image.
	w := newWorld(t)
	w.operator.Expect("get secrets") // Before the namespace permits it.
	w.stop()
	at := testbed.Store(t)
	store := w.bucket(at, at.NewBucket(t))
	w.reports = store
	gitHub, gitLab := w.repository("forge"), w.project("lab")
	w.start()
	w.parameters = []v1alpha1.Parameter{{Name: "commit", Default: first, Pattern: "[0-9a-f]{40}|none"}, {Name: "pull", Default: "7", Pattern: "[0-9]+|none"}}
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(fixed, 10))
	w.await("the first round", measures(1))
	w.known()
	w.endsWithReports(store, metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "p99 +23 %, at most +10 % wanted")
	s := w.await("that the token is missed", is(v1alpha1.ConditionNotified, metav1.ConditionFalse, v1alpha1.ReasonTokenMissing))
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNotified); !strings.Contains(c.Message, "forge was not notified: the operator may not read the Secret servers-github of gitHub.secretRef: create a Role for it in this namespace") {
		t.Errorf("Notified is %+v", c)
	}
	w.warned(v1alpha1.ReasonTokenMissing, "the operator may not read the Secret servers-github")
	w.await("a stall all the same", is(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonObjectivesMissed))

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "servers-github"}, Data: map[string][]byte{"token": []byte(forgeToken + "\n")}}
	w.must(w.c.Create(t.Context(), secret))
	w.permit("github.yaml", "servers-github", "servers-github")
	w.ahead.Add(int64(time.Minute))
	w.poke()
	w.await("that GitHub is told", has("forge", 1))
	w.await("that GitLab is told", has("lab", 1))
	statuses, comments, _ := gitHub.Seen()
	of := "loadstone/" + w.namespace + "/checkout/forge"
	red := testbed.CommitStatus{Commit: first, State: "failure", Context: of, Description: "missed: r0: p99 +23 %, at most +10 % wanted"}
	if !slices.Equal(statuses, []testbed.CommitStatus{red}) {
		t.Errorf("the statuses are %q", statuses)
	}
	if len(comments) != 2 || !strings.Contains(comments[1], "**Failure.** Missed: r0: p99 +23 %") || !strings.Contains(comments[1], "| --- |") {
		t.Errorf("the comments are %q", comments)
	}

	w.parameters[0].Default = second
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(fixed, 20))
	w.await("the second round", measures(2))
	w.endsWithReports(store, metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.await("that GitHub is told of the second", has("forge", 2))
	w.await("that GitLab is told of the second", has("lab", 2))
	w.stop()
	w.start()
	w.poke()
	w.await("readiness", is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDone))
	statuses, comments, asked := gitHub.Seen()
	green := testbed.CommitStatus{Commit: second, State: "success", Context: of, Description: "passed: r0: all objectives met"}
	if !slices.Equal(statuses, []testbed.CommitStatus{red, green}) || asked != 6 {
		t.Errorf("the statuses are %q, after %d requests", statuses, asked)
	}
	if len(comments) != 2 || comments[0] != "Nice!" || !strings.Contains(comments[1], "**Success.** Passed: r0: all objectives met") || !strings.Contains(comments[1], "commit "+second) {
		t.Errorf("the comments are %q", comments)
	}
	wantInGitLab(t, gitLab, "loadstone/"+w.namespace+"/checkout/lab", first, second)

	// A revert has the first round's inputs: no round begins, and its commit gets that round's status.
	w.parameters[0].Default = third
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(fixed, 10))
	s = w.await("that GitHub and GitLab are told of the third", func(s *v1alpha1.BenchmarkSuite) bool {
		later := func(r v1alpha1.NotifiedRound) bool { return r.Round == 1 && r.FirstSeenTime != nil }
		return slices.ContainsFunc(told(s, "forge").Rounds, later) && slices.ContainsFunc(told(s, "lab").Rounds, later)
	})
	w.stop()
	w.start()
	w.poke()
	statuses, comments, asked = gitHub.Seen()
	before := testbed.CommitStatus{Commit: third, State: "failure", Context: of, Description: "measured before, in round 1: missed: r0: p99 +23 %, at most +10 % wanted"}
	if !slices.Equal(statuses, []testbed.CommitStatus{red, green, before}) || asked != 9 || len(w.runs()) != 2 {
		t.Errorf("the statuses are %q, after %d requests and %d runs", statuses, asked, len(w.runs()))
	}
	if !strings.Contains(comments[1], "**Failure.** Measured before, in round 1: missed: r0: p99 +23 %") || !strings.Contains(comments[1], "commit "+third) {
		t.Errorf("the comments are %q", comments)
	}
	w.wantNoToken(s)
}

// wantInGitLab expects two rounds in GitLab: a missed one and a passed one.
func wantInGitLab(t *testing.T, g *testbed.GitLab, of, first, second string) {
	t.Helper()
	statuses, notes := g.Seen()
	if !slices.Equal(statuses, []testbed.CommitStatus{
		{Commit: first, State: "failed", Context: of, Description: "missed: r0: p99 +23 %, at most +10 % wanted"},
		{Commit: second, State: "success", Context: of, Description: "passed: r0: all objectives met"},
	}) {
		t.Errorf("GitLab's statuses are %q", statuses)
	}
	if len(notes) != 2 || notes[0] != "Nice!" || !strings.Contains(notes[1], "**Success.** Passed: r0: all objectives met") || !strings.Contains(notes[1], "commit "+second) {
		t.Errorf("the notes are %q", notes)
	}
}

// wantNoToken wants the token to stand nowhere but in its Secret.
func (w *world) wantNoToken(s *v1alpha1.BenchmarkSuite) {
	w.t.Helper()
	var events corev1.EventList
	w.must(w.c.List(w.t.Context(), &events, client.InNamespace(w.namespace)))
	for _, o := range []any{s, events} {
		text, err := json.Marshal(o)
		w.must(err)
		if strings.Contains(string(text), forgeToken) {
			w.t.Errorf("the token stands in %s", text)
		}
	}
}
