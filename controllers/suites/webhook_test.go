package suites

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/webhooks"
	"loadstone.dev/loadstone/internal/suite/webhook"
	"loadstone.dev/loadstone/internal/testbed"
)

// account is the account of the webhook.
const account = "system:serviceaccount:loadstone-system:loadstone-webhook"

// hook is a webhook under its service account, with a stopped clock and a client.
type hook struct {
	*world
	now     time.Time
	address string
	close   func()
	// sender asks before it sends a large body, and waits for the answer.
	sender http.Client
}

// newHook gives the suite of the test a webhook, and the webhook a key that it may not read yet.
func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{world: newWorld(t), now: time.Now(), sender: http.Client{Transport: &http.Transport{ExpectContinueTimeout: testbed.Patience}}}
	h.webhook = v1alpha1.WebhookTrigger{
		SecretRef: v1alpha1.KeyReference{Name: "checkout-hook", Key: "key"}, Parameters: []v1alpha1.PickedParameter{{Name: "image", Value: "body.image"}},
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: "checkout-hook"}, Data: map[string][]byte{"key": []byte("secret"), "token": []byte("shown")}}
	h.must(h.c.Create(t.Context(), secret))
	h.open()
	t.Cleanup(func() { h.close() })
	return h
}

func (h *hook) open() {
	h.t.Helper()
	access := rest.CopyConfig(testbed.Cluster(h.t, "../.."))
	access.Impersonate.UserName = account
	c, err := client.New(access, client.Options{Scheme: h.scheme})
	h.must(err)
	server := httptest.NewServer((&webhooks.Server{Client: c, Now: func() time.Time { return h.now }}).Handler())
	h.address, h.close = server.URL, server.Close
}

// permit gives the webhook the rights of the sample for two suites, as the page says: neither takes the place of the other's.
func (h *hook) permit() {
	h.t.Helper()
	text, err := os.ReadFile("../../config/gitops/webhook.yaml")
	h.must(err)
	page, err := os.ReadFile("../../docs/how-to/webhook.md")
	h.must(err)
	for _, suite := range []string{"checkout", "payment"} {
		if edit := "sed 's/servers/" + suite + "/' config/gitops/webhook.yaml"; suite == "checkout" && !strings.Contains(string(page), edit) {
			h.t.Errorf("the page has no %s", edit)
		}
		documents := strings.Split(strings.ReplaceAll(string(text), "servers", suite), "\n---\n")
		for i, o := range []client.Object{&rbacv1.Role{}, &rbacv1.RoleBinding{}} {
			h.must(yaml.Unmarshal([]byte(documents[i]), o))
			o.SetNamespace(h.namespace)
			h.must(h.c.Create(h.t.Context(), o))
		}
	}
}

// sent is a request as it is sent.
type sent struct {
	suite, key, body string
	at               time.Time
}

func (h *hook) send(s sent) (int, string, http.Header) {
	h.t.Helper()
	timestamp := strconv.FormatInt(s.at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.key))
	fmt.Fprintf(mac, "%s.%s", timestamp, s.body)
	q, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.address+"/v1/namespaces/"+h.namespace+"/benchmarksuites/"+s.suite+"/trigger", strings.NewReader(s.body))
	h.must(err)
	q.Header.Set(webhook.TimeHeader, timestamp)
	q.Header.Set(webhook.SignatureHeader, fmt.Sprintf("sha256=%x", mac.Sum(nil)))
	if len(s.body) > webhook.MaxBody {
		q.Header.Set("Expect", "100-continue") // As curl does.
	}
	answer, err := h.sender.Do(q)
	h.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	h.must(err)
	return answer.StatusCode, string(bytes.TrimSpace(text)), answer.Header
}

// accept sends a request until it is taken: the API server learns of rights a moment after they are given.
func (h *hook) accept(s sent) string {
	h.t.Helper()
	var status int
	var says string
	testbed.Await(h.t, "a signed request to be accepted", func() bool {
		status, says, _ = h.send(s)
		return status == http.StatusAccepted || status == http.StatusOK // It was taken, though the answer was another.
	})
	return says
}

// documented sends the page's request, and returns its output.
func (h *hook) documented() string {
	h.t.Helper()
	page, err := os.ReadFile("../../docs/how-to/webhook.md")
	h.must(err)
	_, rest, _ := strings.Cut(string(page), "\n```sh\nbody=")
	step, _, _ := strings.Cut("body="+rest, "```\n")
	return h.step(strings.Replace(step, "https://hooks.example/v1/namespaces/default/", h.address+"/v1/namespaces/"+h.namespace+"/", 1), "KEY=secret")
}

// workflow sends the request of the sample workflow, and returns its output.
func (h *hook) workflow(commit string) string {
	h.t.Helper()
	text, err := os.ReadFile("../../config/gitops/github-workflow.yaml")
	h.must(err)
	var w struct {
		Env  map[string]string `json:"env"`
		Jobs map[string]struct {
			Steps []struct {
				Env map[string]string `json:"env"`
				Run string            `json:"run"`
			} `json:"steps"`
		} `json:"jobs"`
	}
	h.must(yaml.Unmarshal(text, &w))
	step := w.Jobs["measure"].Steps[0]
	replacer := strings.NewReplacer(
		"${{ secrets.LOADSTONE_KEY }}", "secret", "${{ github.event.pull_request.number }}", "17", "${{ github.event.pull_request.head.sha }}", commit,
		"${{ vars.LOADSTONE_URL }}", h.address+"/v1/namespaces/"+h.namespace+"/benchmarksuites/checkout/trigger",
	)
	var env []string
	for _, values := range []map[string]string{w.Env, step.Env} {
		for name, value := range values {
			env = append(env, name+"="+replacer.Replace(value))
		}
	}
	return h.step(step.Run, env...)
}

// job sends the request of GitLab's sample job, and returns its output.
func (h *hook) job(commit string) string {
	h.t.Helper()
	text, err := os.ReadFile("../../config/gitops/gitlab-ci.yml")
	h.must(err)
	var jobs map[string]struct {
		Script []string `json:"script"`
	}
	h.must(yaml.Unmarshal(text, &jobs))
	return h.step(jobs["measure"].Script[0], "CI_MERGE_REQUEST_IID=17", "CI_COMMIT_SHA="+commit, "LOADSTONE_KEY=secret",
		"LOADSTONE_URL="+h.address+"/v1/namespaces/"+h.namespace+"/benchmarksuites/checkout/trigger")
}

// step runs a pipeline step, and returns its output.
func (h *hook) step(script string, env ...string) string {
	h.t.Helper()
	c := exec.CommandContext(h.t.Context(), "bash", "-euo", "pipefail", "-c", script)
	c.Env = append(os.Environ(), env...)
	out, err := c.Output()
	h.must(err)
	return string(out)
}

// answers sends a request and wants an answer.
func (h *hook) answers(what string, s sent, status int, says string) {
	h.t.Helper()
	if got, text, _ := h.send(s); got != status || !strings.Contains(text, says) {
		h.t.Errorf("%s is answered %d %q, want %d %q", what, got, text, status, says)
	}
}

// A request that is signed starts one round with its values, however often it is sent, and whatever ends in between.
func TestASignedRequestStartsOneRound(t *testing.T) {
	testbed.Programs(t, "curl", "openssl")
	h := newHook(t)
	h.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10), fmt.Sprintf(template, 20))
	h.await("the first round", measures(1))
	h.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	h.await("readiness", is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDone))
	request := sent{suite: "checkout", key: "secret", body: `{"image": "shop/checkout:7"}`, at: h.now}
	h.answers("a request to a webhook without rights", request, http.StatusUnauthorized, "no such webhook")
	h.permit()
	h.accept(request)
	s := h.await("the round of the request", measures(2))
	if c := s.Status.Current; c.Trigger != v1alpha1.TriggerWebhook || len(c.Parameters) != 1 || c.Parameters[0].Value != "shop/checkout:7" {
		t.Errorf("in progress is %+v", c)
	}
	images := map[string]int{}
	for _, run := range h.runs() {
		images[run.Spec.Implementations[0].Image]++
	}
	if images["shop/checkout:7"] != 2 {
		t.Errorf("the runs measure %v", images)
	}
	again := func(what string) {
		t.Helper()
		h.answers(what, request, http.StatusOK, "accepted before")
		h.poke()
	}
	again("the request again")
	h.stop()
	h.close()
	h.open()
	again("the request, while there is no operator")
	h.start()
	again("the request to another operator")
	h.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	again("the request after its round")
	h.await("the end of the round", func(s *v1alpha1.BenchmarkSuite) bool {
		return s.Status.LastRound.Round == 2 && s.Status.Current.Round == 0
	})
	request.at = request.at.Add(time.Second)
	h.answers("the same, signed a second later", request, http.StatusAccepted, "round requested")
	h.await("its round", measures(3))
	h.wantRuns(6)
	if says := h.documented(); says != "round requested\n" {
		t.Errorf("the step of a pipeline that the page shows is answered %q", says)
	}
	h.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	s = h.await("the round of the page", measures(4))
	if values := s.Status.Current.Parameters; len(values) != 1 || values[0].Value != "registry.example/checkout:1a2b3c4" {
		t.Errorf("it measures %+v", values)
	}
	if says := h.workflow(strings.Repeat("8f", 20)); says != "round requested\n" {
		t.Errorf("the workflow is answered %q", says)
	}
	h.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	s = h.await("the round of the workflow", measures(5))
	if values := s.Status.Current.Parameters; len(values) != 1 || values[0].Value != "registry.example/checkout:"+strings.Repeat("8f", 20) {
		t.Errorf("it measures %+v", values)
	}
	if says := h.job(strings.Repeat("9e", 20)); says != "round requested\n" {
		t.Errorf("the job of GitLab is answered %q", says)
	}
	h.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	s = h.await("the round of the job", measures(6))
	if values := s.Status.Current.Parameters; len(values) != 1 || values[0].Value != "registry.example/checkout:"+strings.Repeat("9e", 20) {
		t.Errorf("it measures %+v", values)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	h := newHook(t)
	h.permit()
	s := h.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	suspended := true
	for name, change := range map[string]func(*v1alpha1.BenchmarkSuiteSpec){
		"payment": func(spec *v1alpha1.BenchmarkSuiteSpec) { spec.Parameters[0].Pattern = "shop/[a-z]+:[0-9]+" }, // It has the same key.
		"unnamed": func(spec *v1alpha1.BenchmarkSuiteSpec) { spec.Triggers.Webhook = v1alpha1.WebhookTrigger{} },
	} {
		other := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: name}, Spec: *s.Spec.DeepCopy()}
		other.Spec.Suspend = &suspended
		other.Spec.Parameters[0].Default = "shop/checkout:1"
		change(&other.Spec)
		h.must(h.c.Create(t.Context(), other))
	}
	good := sent{suite: "payment", key: "secret", body: `{"image": "shop/checkout:7"}`, at: h.now}
	if says := h.accept(good); !strings.HasSuffix(says, "the suite is suspended (spec.suspend)") {
		t.Errorf("a request to a suite that is suspended is answered %q", says)
	}
	h.await("the round of what is in Git, and no other", measures(1))
	for name, tc := range map[string]struct {
		change func(*sent)
		status int
		says   string
	}{
		"another key":                           {func(s *sent) { s.key = "guess" }, 401, "no such webhook, or the request has no valid signature"},
		"no key":                                {func(s *sent) { s.key = "" }, 401, "no such webhook, or the request has no valid signature"},
		"a suite that there is not":             {func(s *sent) { s.suite = "nothing" }, 401, "no such webhook, or the request has no valid signature"},
		"a suite without a webhook":             {func(s *sent) { s.suite = "unnamed" }, 401, "no such webhook, or the request has no valid signature"},
		"a name that is a path":                 {func(s *sent) { s.suite = "..%2Fbenchmarkruns" }, 401, "no such webhook, or the request has no valid signature"},
		"a request of six minutes ago":          {func(s *sent) { s.at = s.at.Add(-6 * time.Minute) }, 401, "more than 5 minutes off"},
		"a body of ten megabytes":               {func(s *sent) { s.body = strings.Repeat("x", 10<<20) }, 413, "exceeds the limit of 1048576 bytes"},
		"a body that is no JSON":                {func(s *sent) { s.body = "image=shop/checkout:7" }, 422, "the body is not JSON"},
		"a body without the value":              {func(s *sent) { s.body = "{}" }, 422, "no such key: image"},
		"a value that breaks its pattern":       {func(s *sent) { s.body = `{"image": "evil:1"}` }, 422, "does not match its pattern shop/[a-z]+:[0-9]+"},
		"a request that was taken, once more":   {func(*sent) {}, 200, "starts no second round"},
		"a request that is like it, and signed": {func(s *sent) { s.body += " " }, 202, "round requested"},
	} {
		request := good
		tc.change(&request)
		h.answers(name, request, tc.status, tc.says)
	}
	var payment v1alpha1.BenchmarkSuite
	h.must(h.c.Get(t.Context(), client.ObjectKey{Namespace: h.namespace, Name: "payment"}, &payment))
	if r := webhook.Read(payment.Annotations[v1alpha1.AnnotationWebhook]); len(r.Taken) != 2 || payment.Generation != 1 {
		t.Errorf("of two requests the suite has %+v", r)
	}
	h.wantRuns(1)
}

// All concurrent requests are recorded, since the operator reads only the newest. A suite with too many requests refuses some for a while.
func TestManyRequestsAtOnce(t *testing.T) {
	h := newHook(t)
	h.permit()
	h.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	at := h.now
	request := func(i int) sent {
		return sent{suite: "checkout", key: "secret", body: fmt.Sprintf(`{"image": "shop/checkout:%d"}`, i), at: at}
	}
	h.accept(request(0))
	var all sync.WaitGroup
	var statuses [4]int
	for i := range statuses {
		all.Go(func() { statuses[i], _, _ = h.send(request(1 + i)) })
	}
	all.Wait()
	most := 10
	for i, status := range statuses {
		if status == http.StatusServiceUnavailable { // A busy machine may not get to it, asks for it again, and counts it twice.
			h.accept(request(1 + i))
			most--
		} else if status != http.StatusAccepted {
			t.Errorf("one of four requests is answered %d", status)
		}
	}
	taken := 1 + len(statuses)
	status, says, header := h.send(request(taken))
	for ; status == http.StatusAccepted; status, says, header = h.send(request(taken)) {
		taken++
	}
	if status != http.StatusTooManyRequests || header.Get("Retry-After") != "10" || taken < most || taken > 10 {
		t.Errorf("after %d requests, another is answered %d %q, to be sent again after %s s", taken, status, says, header.Get("Retry-After"))
	}
	for i := range taken {
		h.answers("a request that was taken", request(i), http.StatusOK, "accepted before")
	}
	h.answers("one with another key", sent{suite: "checkout", key: "guess", body: "{}", at: h.now}, http.StatusUnauthorized, "no such webhook")
	h.now = h.now.Add(10 * time.Second)
	h.answers("the one that was refused, ten seconds later", request(taken), http.StatusAccepted, "round requested")
}
