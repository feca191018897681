package e2e

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/suite/webhook"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/test/e2e/registry"
	"loadstone.dev/loadstone/test/flux"
)

const (
	// The Roles of config/gitops are for a suite with this name.
	servers = "servers"
	// followed is the GitRepository and the Kustomization that applies it.
	followed = "checkout"
	// suiteFile is the suite's path in the repository, measuredTag its image without the registry.
	suiteFile, measuredTag = "performance/suite.yaml", "shop/checkout:main"
	// cheap and costly are loop iterations per request: almost nothing, and more than a millisecond.
	cheap, costly = "1", "1000000"
	// forgeToken is for GitHub, hookKey signs requests to the webhook, and askToken is for questions about outcomes.
	forgeToken, hookKey, askToken = "ghs_of_the_namespace", "of the namespace, too", "a-token-that-nobody-guesses-so-soon"
	// tries limits how often a disturbed round is requested again.
	tries = 3
)

// Flux applies each commit of a suite, and the operator measures the changes. One server has a planted cost.
func TestACommitIsMeasuredAndItsPullRequestIsTold(t *testing.T) {
	w := newFromGit(t)
	for _, step := range []struct {
		name string
		do   func(*fromGit)
	}{
		{"the first commit is measured", aFirstCommitPasses},
		{"a commit that makes the server slower is found out", aSlowCommitIsFoundOut},
		{"the next commit repairs it", aRepairPasses},
		{"what is applied again starts nothing", nothingIsMeasuredAgain},
		{"a revert is told of the round that had its inputs", aRevertIsTold},
		{"a new digest behind the same tag is measured once", aNewDigestIsMeasuredOnce},
		{"a request to the webhook is measured", aWebhookIsMeasured},
		{"who asks for a round is told what has come of it", anAskIsAnswered},
		{"the pages show the suite", thePagesShowIt},
	} {
		began := time.Now()
		// The steps depend on each other.
		if !t.Run(step.name, func(t *testing.T) { w.T, w.git.T = t, t; step.do(w) }) {
			return
		}
		t.Logf("%s: %.1f s", step.name, time.Since(began).Seconds())
	}
	w.T = t
	w.wantRounds()
}

// fromGit is a suite in a Git repository that Flux follows. Its image is in a separate registry, and a test server simulates GitHub.
type fromGit struct {
	*flux.Objects
	git      *flux.Repository
	gitHub   *testbed.GitHub
	registry registry.Registry
	image    v1.Image
	// written is the suite in Git.
	written *v1alpha1.BenchmarkSuite
	// commit is measured. revision is the repository's in Flux' form.
	commit, revision string
	pushed           time.Time
	// rounds counts all rounds, asked the repeated ones. late is true if Flux has not seen the last repeated one.
	rounds, asked int32
	late          bool
}

func newFromGit(t *testing.T) *fromGit {
	t.Helper()
	p := registry.NewPrivate(t, here(t))
	w := &fromGit{git: flux.NewRepository(t), gitHub: testbed.NewGitHub(t, forgeToken)}
	trust(t, p)
	w.Objects = &flux.Objects{T: t, Client: loadstone.Client, Namespace: namespace}
	w.registry, w.image = registry.New(t, p), registry.Archived(t, "gohttp")
	w.registry.Push(t, measuredTag, w.image)
	w.write("https://" + p.Serve(t, w.gitHub))
	w.lend()
	w.follow()
	return w
}

// trust adds the authority of the test's servers to the operator, and installs the webhook and the pages.
func trust(t *testing.T, p registry.Private) {
	t.Helper()
	const authorities = "e2e-authorities"
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: authorities}, Data: map[string]string{"ca.crt": p.Authority}}
	if err := loadstone.Client.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := loadstone.Client.Delete(context.Background(), m); err != nil {
			t.Error(err)
		}
	})
	values := filepath.Join(t.TempDir(), "values.yaml")
	text := `
webhook: {enabled: true}
ui: {enabled: true}
outbound: {allow: ["` + p.Address + `"]}
operator:
  extraEnv: [{name: SSL_CERT_FILE, value: /etc/authorities/ca.crt}]
  extraVolumes: [{name: authorities, configMap: {name: ` + authorities + `}}]
  extraVolumeMounts: [{name: authorities, mountPath: /etc/authorities, readOnly: true}]
`
	if err := os.WriteFile(values, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { upgrade(t, "--reset-values") })
	upgrade(t, "--reset-values", "--values", values)
}

func (w *fromGit) write(api string) {
	w.T.Helper()
	s := aSuite(w.T, servers, small("small", func(spec *v1alpha1.BenchmarkRunSpec) {
		spec.Implementations[0].Image = w.registry.Host + "/" + measuredTag
		spec.Implementations[0].Command = append(spec.Implementations[0].Command, "--burn=$(burn)")
		spec.Blocks = 3
		spec.Objectives = []v1alpha1.Objective{{Metric: v1alpha1.ObjectiveServerCPUPerRequest, Max: "400"}}
	}))
	s.Spec.Parameters = []v1alpha1.Parameter{
		{Name: "burn", Default: cheap, Pattern: "[0-9]+"},
		{Name: "commit", Default: "none", Pattern: "[0-9a-f]{40}|none"},
		{Name: "pull-request", Default: "7", Pattern: "[0-9]+|none"},
	}
	s.Spec.Triggers = v1alpha1.Triggers{
		Change: v1alpha1.ChangeTrigger{Images: v1alpha1.ImagesResolve, IntervalSeconds: 10},
		Webhook: v1alpha1.WebhookTrigger{
			SecretRef: v1alpha1.KeyReference{Name: "servers-hook", Key: "key"}, Parameters: []v1alpha1.PickedParameter{{Name: "burn", Value: "body.burn"}},
		},
	}
	s.Spec.Notifications = []v1alpha1.Notification{{Name: "github", GitHub: v1alpha1.GitHubNotification{
		Repository: "shop/checkout", APIURL: api, SecretRef: v1alpha1.KeyReference{Name: "servers-github", Key: "token"},
		CommitParameter: "commit", PullRequestParameter: "pull-request",
	}}}
	w.written = s
	w.git.Write("performance/kustomization.yaml", "resources: [suite.yaml]\n")
}

// lend provides the GitHub token and the webhook's key as a namespace does.
func (w *fromGit) lend() {
	t := w.T
	t.Helper()
	for name, data := range map[string]map[string]string{"servers-github": {"token": forgeToken}, "servers-hook": {"key": hookKey, "token": askToken}} {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data}
		w.Must(w.Client.Create(t.Context(), s))
		t.Cleanup(func() {
			if err := loadstone.Client.Delete(context.Background(), s); err != nil {
				t.Error(err)
			}
		})
	}
	roles := []string{"--namespace", namespace, "--filename", "../../config/gitops/github.yaml", "--filename", "../../config/gitops/webhook.yaml"}
	kubectl(t, append([]string{"apply"}, roles...)...)
	t.Cleanup(func() { kubectl(t, append([]string{"delete"}, roles...)...) })
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), flux.Patience)
	defer cancel()
	var said bytes.Buffer
	c := exec.CommandContext(ctx, "kubectl", args...)
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, said.Bytes())
	}
	return string(out)
}

// follow starts Flux for the duration of the test. It polls the repository every two seconds.
func (w *fromGit) follow() {
	t := w.T
	t.Helper()
	var definitions []string
	for _, folder := range flux.Definitions(t, "../..") {
		definitions = append(definitions, "--filename", folder)
	}
	if there := kubectl(t, append([]string{"get", "--ignore-not-found", "--output", "name"}, definitions...)...); there != "" {
		t.Fatalf("the test brings Flux, and would take this one's definitions away:\n%s", there)
	}
	kubectl(t, append([]string{"create"}, definitions...)...)
	t.Cleanup(func() { kubectl(t, append([]string{"delete"}, definitions...)...) })
	kubectl(t, append([]string{"wait", "--for=condition=Established"}, definitions...)...)
	// CPU 0 is for everything except the measured server.
	flux.Place{Kubeconfig: os.Getenv("KUBECONFIG"), Namespace: namespace, Alone: true, CPU: "0"}.Start(t)
	source, applied := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	source.SetGroupVersionKind(flux.Sources)
	applied.SetGroupVersionKind(flux.Kustomizations)
	source.Object["spec"] = map[string]any{"url": w.git.URL, "ref": map[string]any{"branch": "main"}, "interval": "2s"}
	applied.Object["spec"] = map[string]any{
		"sourceRef": map[string]any{"kind": flux.Sources.Kind, "name": followed}, "path": "./performance", "interval": "1h", "wait": true, "timeout": "5m", "prune": true,
	}
	for _, o := range []*unstructured.Unstructured{source, applied} {
		o.SetNamespace(namespace)
		o.SetName(followed)
		w.Must(w.Client.Create(t.Context(), o))
	}
	t.Cleanup(func() { w.unfollow(t, applied, source) })
}

// unfollow removes Flux' objects, which deletes the suite.
func (w *fromGit) unfollow(t *testing.T, followed ...client.Object) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), flux.Patience)
	defer cancel()
	s := &v1alpha1.BenchmarkSuite{}
	err := loadstone.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: servers}, s)
	if client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
	there := err == nil
	runs := []v1alpha1.BenchmarkRun{}
	if there {
		runs = runsOf(t, s)
	}
	for _, o := range followed {
		if err := loadstone.Client.Delete(ctx, o); err != nil {
			t.Error(err)
		}
		if err := gone(ctx, o); err != nil {
			t.Error(err)
		}
	}
	if there {
		if err := gone(ctx, s); err != nil {
			t.Errorf("Flux has pruned the suite: %v", err)
		}
	}
	for i := range runs {
		leave(t, &runs[i])
	}
}

// push commits the measured change and then, like a team's pipeline, the suite with that commit.
func (w *fromGit) push(message, burn string) {
	w.T.Helper()
	w.git.Write("server.txt", message+"\n")
	w.commit = w.git.Commit(message)
	w.written.Spec.Parameters[0].Default, w.written.Spec.Parameters[1].Default = burn, w.commit
	text, err := yaml.Marshal(w.written)
	w.Must(err)
	w.git.Write(suiteFile, string(text))
	w.pushed = time.Now()
	w.revision = w.git.Push("Measure: " + message)
}

// ends waits for the next round and expects an outcome. A round that is inconclusive because of other programs is requested again.
func (w *fromGit) ends(want v1alpha1.RoundOutcome) *v1alpha1.BenchmarkSuite {
	w.T.Helper()
	for try := 1; ; try++ {
		w.rounds++
		s := awaitRound(w.T, servers, w.rounds)
		got := s.Status.LastRound
		w.T.Logf("round %d of %s: %s: %s", got.Round, got.Trigger, got.Outcome, got.Message)
		switch {
		case got.Outcome == want:
			return s
		case got.Outcome != v1alpha1.RoundInconclusive:
			w.T.Fatalf("round %d has ended as %s, want %s: %s", w.rounds, got.Outcome, want, got.Message)
		case try == tries:
			w.T.Skipf("%d rounds in a row were disturbed: %s", tries, got.Message)
		}
		w.asked, w.late = w.asked+1, true
		request(w.T, servers, fmt.Sprintf("again-%d", w.asked))
	}
}

// stands expects a state of the revision in Flux. Flux checks a suite without a new commit once an hour, or on request.
func (w *fromGit) stands(status metav1.ConditionStatus, text string) {
	w.T.Helper()
	if w.late {
		w.late = false
		w.Again(fmt.Sprintf("after-%d", w.rounds), followed, followed)
	}
	w.Stands(followed, status, w.revision, text)
}

// ready expects a Ready condition with a part of its message.
func (w *fromGit) ready(s *v1alpha1.BenchmarkSuite, status metav1.ConditionStatus, text string) {
	w.T.Helper()
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c == nil || c.Status != status || !strings.Contains(c.Message, text) {
		w.T.Errorf("Ready is %+v, want %s with %q", c, status, text)
	}
}

// told waits until GitHub has a state of the commit, and one comment that agrees.
func (w *fromGit) told(state, text string) {
	w.T.Helper()
	w.Await("that GitHub is told", func() string {
		statuses, comments, _ := w.gitHub.Seen()
		if len(statuses) == 0 || len(comments) != 2 {
			return fmt.Sprintf("the statuses are %+v, and there are %d comments: %s", statuses, len(comments), w.notified())
		}
		last := statuses[len(statuses)-1]
		title := "**" + strings.ToUpper(state[:1]) + state[1:] + ".**"
		if last.Commit == w.commit && last.State == state && contains(last.Description, text) && contains(comments[1], title, text, "commit "+w.commit) && comments[0] == "Nice!" {
			return ""
		}
		return fmt.Sprintf("the last status is %+v, and the comment is %s: %s", last, comments[1], w.notified())
	})
}

func (w *fromGit) notified() string {
	w.T.Helper()
	c := meta.FindStatusCondition(readSuite(w.T, servers).Status.Conditions, v1alpha1.ConditionNotified)
	if c == nil {
		return "nobody was told"
	}
	return c.Message
}

func (w *fromGit) madeIn(round int32) []v1alpha1.BenchmarkRun {
	w.T.Helper()
	return slices.DeleteFunc(runsOf(w.T, readSuite(w.T, servers)), func(r v1alpha1.BenchmarkRun) bool {
		return r.Labels[v1alpha1.LabelRound] != strconv.Itoa(int(round))
	})
}

// sinceCommit and sinceRequest are the times to a round's first request. make bench-commits prints them; the test does not judge them.
var (
	sinceCommit  = figures.Figure{Name: "suite-commit-first-request", Unit: "s", Aim: figures.AtMost(15), Note: "from a commit, with a repository that Flux asks every 2 s"}
	sinceRequest = figures.Figure{Name: "suite-webhook-first-request", Unit: "s", Aim: figures.AtMost(5), Note: "from a request to the webhook"}
)

// tell logs the time from an event to the round's run and its first request.
func (w *fromGit) tell(f figures.Figure, at time.Time, round int32) {
	w.T.Helper()
	for _, run := range w.madeIn(round) {
		var first time.Time
		for _, tr := range trials(w.T, &run) {
			if s := tr.Status.StartTime; s != nil && (first.IsZero() || s.Time.Before(first)) {
				first = s.Time
			}
		}
		if first.IsZero() {
			w.T.Errorf("no trial of %s has started", run.Name)
			continue
		}
		one := f
		one.Value = first.Sub(at).Seconds()
		one.Note += fmt.Sprintf(", to round %d; its run was made in the second that began %.1f s after it", round, run.CreationTimestamp.Sub(at).Seconds())
		w.T.Log(one.Line())
	}
}

func aFirstCommitPasses(w *fromGit) {
	w.push("Sell", cheap)
	s := w.ends(v1alpha1.RoundPassed)
	w.ready(s, metav1.ConditionTrue, "1 of 1 objective checks met")
	w.told("success", "1 of 1 objective checks met")
	w.stands(metav1.ConditionTrue, "")
}

func aSlowCommitIsFoundOut(w *fromGit) {
	w.push("Sell with care", costly)
	round := w.rounds + 1
	s := w.ends(v1alpha1.RoundMissed)
	w.tell(sinceCommit, w.pushed, round)
	const figure = "server CPU time per request of go at l-4 is "
	w.ready(s, metav1.ConditionFalse, figure)
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady)
	w.T.Logf("%s: %s", c.Reason, c.Message)
	if c.Reason != v1alpha1.ReasonObjectivesMissed || !regexp.MustCompile(figure+`[0-9.,]+ (us|µs|ms), max `).MatchString(c.Message) {
		w.T.Errorf("Ready has no figure: %+v", c)
	}
	w.told("failure", figure)
	w.stands(metav1.ConditionFalse, "BenchmarkSuite/"+namespace+"/"+servers+" status: 'Failed'")
}

func aRepairPasses(w *fromGit) {
	w.push("Sell as fast as before", "2")
	round := w.rounds + 1
	s := w.ends(v1alpha1.RoundPassed)
	w.tell(sinceCommit, w.pushed, round)
	w.ready(s, metav1.ConditionTrue, "1 of 1 objective checks met")
	w.told("success", "1 of 1 objective checks met")
	w.stands(metav1.ConditionTrue, "")
}

// The next step would count a new round.
func nothingIsMeasuredAgain(w *fromGit) {
	w.Again("a-sync", followed, followed)
	kubectl(w.T, "apply", "--filename", w.git.Path(suiteFile))
	w.Again("another-sync", followed, followed)
	w.wantRounds()
}

// A branch that requires the status accepts the commit. The test counts rounds, so an extra one fails it.
func aRevertIsTold(w *fromGit) {
	w.push("Sell as at first", cheap)
	w.told("success", "easured before, in round ")
	w.stands(metav1.ConditionTrue, "")
	w.wantRounds()
}

// wantRounds expects each round to have started once, and no other.
func (w *fromGit) wantRounds() {
	w.T.Helper()
	s := readSuite(w.T, servers)
	if s.Status.Current.Round != 0 || s.Status.LastRound.Round != w.rounds {
		w.T.Errorf("there were %d rounds, and the status is %+v", w.rounds, s.Status)
	}
	if runs := runsOf(w.T, s); len(runs) != int(w.rounds) {
		w.T.Errorf("%d rounds have made %d runs", w.rounds, len(runs))
	}
}

func aNewDigestIsMeasuredOnce(w *fromGit) {
	config, err := w.image.ConfigFile()
	w.Must(err)
	other := *config.Config.DeepCopy()
	other.Labels = map[string]string{"example.com/commit": w.commit}
	image, err := mutate.Config(w.image, other)
	w.Must(err)
	digest, err := image.Digest()
	w.Must(err)
	w.registry.Push(w.T, measuredTag, image)
	s := w.ends(v1alpha1.RoundPassed)
	if of := s.Status.Inputs.Images; len(of) != 1 || of[0].Digest != digest.String() {
		w.T.Errorf("the inputs have the images %+v, want %s", of, digest)
	}
	for _, run := range w.madeIn(w.rounds) {
		if image := run.Spec.Implementations[0].Image; !strings.HasSuffix(image, "@"+digest.String()) {
			w.T.Errorf("%s has measured %s, want %s", run.Name, image, digest)
		}
	}
	w.ready(s, metav1.ConditionTrue, "1 of 1 objective checks met")
}

// at returns the URL of a component's only pod, on port 8080.
func (w *fromGit) at(component, path string) string {
	w.T.Helper()
	pod, err := onlyPod(w.T.Context(), component)
	w.Must(err)
	return "http://" + net.JoinHostPort(pod.Status.PodIP, "8080") + path
}

// Argo Rollouts repeats the same request until the answer has an outcome.
func anAskIsAnswered(w *fromGit) {
	address := w.at("webhook", "/v1/namespaces/"+namespace+"/benchmarksuites/"+servers+"/round")
	w.rounds++
	var come webhook.Round
	w.Await("an outcome", func() string {
		q, err := http.NewRequestWithContext(w.T.Context(), http.MethodPost, address, strings.NewReader(`{"burn": "4"}`))
		w.Must(err)
		q.Header.Set("Authorization", "Bearer "+askToken)
		status, answer := sent(q)
		if status/100 != 2 {
			return fmt.Sprintf("%d %s", status, answer)
		}
		come = webhook.Round{}
		w.Must(json.Unmarshal(answer, &come))
		if come.Outcome == "" {
			return come.Message
		}
		return ""
	})
	w.T.Logf("round %d: %s: %s", come.Round, come.Outcome, come.Message)
	if come.Round != w.rounds || come.Outcome != v1alpha1.RoundPassed && come.Outcome != v1alpha1.RoundInconclusive {
		w.T.Errorf("who asks is told of %+v, want that round %d has passed, or was disturbed", come, w.rounds)
	}
}

func thePagesShowIt(w *fromGit) {
	q, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, w.at("ui", "/suites/"+namespace+"/"+servers), nil)
	w.Must(err)
	w.Await("a page of the suite", func() string {
		status, page := sent(q)
		if status != http.StatusOK || !bytes.Contains(page, []byte("1 of 1 objective")) {
			return fmt.Sprintf("%d %.300s", status, page)
		}
		return ""
	})
}

// sent returns the status and body of an answer, or 0 and the error.
func sent(q *http.Request) (int, []byte) {
	answer, err := (&http.Client{Timeout: 30 * time.Second}).Do(q)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return answer.StatusCode, body
}

func aWebhookIsMeasured(w *fromGit) {
	address := w.at("webhook", "/v1/namespaces/"+namespace+"/benchmarksuites/"+servers+"/trigger")
	var at time.Time
	w.Await("that the webhook takes a request", func() string {
		at = time.Now()
		return hook(w.T, address, `{"burn": "3"}`, at)
	})
	round := w.rounds + 1
	s := w.ends(v1alpha1.RoundPassed)
	w.tell(sinceRequest, at, round)
	if p := s.Status.LastRound.Parameters; s.Status.LastRound.Round == round && (len(p) != 1 || p[0].Value != "3") {
		w.T.Errorf("the round has measured the parameters %+v", p)
	}
}

// hook sends a signed request to a webhook. It returns the message if the request is refused.
func hook(t *testing.T, address, body string, at time.Time) string {
	t.Helper()
	stamp := strconv.FormatInt(at.Unix(), 10)
	sum := hmac.New(sha256.New, []byte(hookKey))
	sum.Write([]byte(stamp + "." + body))
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set(webhook.TimeHeader, stamp)
	q.Header.Set(webhook.SignatureHeader, "sha256="+hex.EncodeToString(sum.Sum(nil)))
	status, answer := sent(q)
	if status/100 == 2 {
		return ""
	}
	return fmt.Sprintf("%d %s", status, answer)
}
