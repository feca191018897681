package suites

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/test/gitops"
)

// shows asks for the round of a body as who shows something does, and returns the answer and its text.
func (h *hook) shows(authorization, suite, body string) (*http.Response, string) {
	h.t.Helper()
	q, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.address+"/v1/namespaces/"+h.namespace+"/benchmarksuites/"+suite+"/round", strings.NewReader(body))
	h.must(err)
	if authorization != "" {
		q.Header.Set("Authorization", authorization)
	}
	if len(body) > webhook.MaxBody {
		q.Header.Set("Expect", "100-continue") // As curl does.
	}
	answer, err := h.sender.Do(q)
	h.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	h.must(err)
	return answer, strings.TrimSpace(string(text))
}

// asks requests a round for an image until the answer has a status: rights take effect late, and writes to the suite conflict. It returns the
// request's state.
func (h *hook) asks(image string, status int) webhook.Round {
	h.t.Helper()
	for deadline := time.Now().Add(testbed.Patience); ; time.Sleep(time.Second) {
		answer, text := h.shows("Bearer shown", "checkout", fmt.Sprintf(`{"image": %q}`, image))
		if answer.StatusCode == status {
			var come webhook.Round
			if err := json.Unmarshal([]byte(text), &come); err != nil || answer.Header.Get("Content-Type") != "application/json" {
				h.t.Fatalf("it is answered %q as %s: %v", text, answer.Header.Get("Content-Type"), err)
			}
			return come
		}
		if again := answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusUnauthorized; !again || time.Now().After(deadline) {
			h.t.Fatalf("it is answered %d %q, want %d", answer.StatusCode, text, status)
		}
		h.now = h.now.Add(time.Second) // The limit has a second, too.
	}
}

// measure asks as Argo Rollouts does, by the sample, and wants what that makes of the answer.
func (h *hook) measure(what, image, phase string) {
	h.t.Helper()
	text, err := os.ReadFile("../../config/gitops/rollouts/analysistemplate.yaml")
	h.must(err)
	template := strings.NewReplacer(
		"http://loadstone-webhook.loadstone-system.svc", h.address, "namespaces/default/", "namespaces/"+h.namespace+"/", "benchmarksuites/servers/", "benchmarksuites/checkout/",
	).Replace(string(text))
	got, value, err := gitops.ArgoRollouts(template, map[string]string{"image": image, "token": "shown"}, nil)
	if err != nil || got != phase {
		h.t.Errorf("%s: Argo Rollouts measures %s with %s, %v, want %s", what, got, value, err, phase)
	}
}

func endedAs(round int32, outcome v1alpha1.RoundOutcome) func(*v1alpha1.BenchmarkSuite) bool {
	return func(s *v1alpha1.BenchmarkSuite) bool {
		return s.Status.LastRound.Round == round && s.Status.LastRound.Outcome == outcome && s.Status.Current.Round != round
	}
}

// Clients that cannot sign repeat a request with a token: the first one starts a round, the others return its state.
func TestWhoAsksAgainAndAgainGetsOneRound(t *testing.T) {
	h := newHook(t)
	h.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	h.await("the first round", measures(1))
	h.permit()
	if come := h.asks("shop/checkout:7", http.StatusAccepted); come.Message != "round requested" || come.Outcome != "" {
		t.Errorf("who asks first is told %+v", come)
	}
	h.measure("while it waits for another round", "shop/checkout:7", "Error")
	if come := h.asks("shop/checkout:8", http.StatusOK); !strings.HasPrefix(come.Message, "another request to this suite waits") || come.Outcome != "" {
		t.Errorf("who asks for another image meanwhile is told %+v", come)
	}
	h.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	s := h.await("the round of the image", measures(2))
	if c := s.Status.Current; c.Trigger != v1alpha1.TriggerWebhook || len(c.Parameters) != 1 || c.Parameters[0].Value != "shop/checkout:7" || len(c.Webhook) != 64 {
		t.Errorf("in progress is %+v", c)
	}
	if come := h.asks("shop/checkout:7", http.StatusOK); come.Round != 2 || come.Outcome != "" || come.Message != "the round is in progress: 0/1 runs have ended" {
		t.Errorf("who asks while it is measured is told %+v", come)
	}
	h.measure("while it is measured", "shop/checkout:7", "Error")
	h.asks("shop/checkout:8", http.StatusAccepted)
	h.end(metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "throughput 0.81 of anchor's")
	h.await("the round of the other image", measures(3))
	missed := h.asks("shop/checkout:7", http.StatusOK)
	want := webhook.Round{
		Round: 2, Outcome: v1alpha1.RoundMissed, Reason: v1alpha1.ReasonObjectivesMissed, Message: "r0: throughput 0.81 of anchor's",
		StartTime: missed.StartTime, CompletionTime: missed.CompletionTime,
	}
	if missed != want || missed.StartTime == nil || missed.CompletionTime == nil {
		t.Errorf("of a round that has missed its objectives they are told %+v", missed)
	}
	h.measure("a round that has missed its objectives", "shop/checkout:7", "Failed")
	h.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	h.await("its end", endedAs(3, v1alpha1.RoundPassed))
	h.measure("a round that has passed", "shop/checkout:8", "Successful")
	h.asks("shop/checkout:9", http.StatusAccepted)
	h.await("the next round", measures(4))
	h.end(metav1.ConditionFalse, v1alpha1.ReasonObjectivesUndecided, "throughput 0.9 to 1.0 of anchor's")
	h.await("its end", endedAs(4, v1alpha1.RoundInconclusive))
	h.measure("a round that is inconclusive", "shop/checkout:9", "Inconclusive")
	h.stop()
	h.close()
	h.open()
	h.start()
	h.measure("the round before it, by another webhook", "shop/checkout:8", "Successful")
	h.poke()
	h.wantRuns(4)
}

func TestAsksThatAreRefused(t *testing.T) {
	h := newHook(t)
	h.permit()
	s := h.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	for name, change := range map[string]func(*v1alpha1.BenchmarkSuiteSpec){
		"payment": func(spec *v1alpha1.BenchmarkSuiteSpec) { spec.Triggers.Webhook.SecretRef.Key = "token" }, // What signs is not to be sent.
		"unnamed": func(spec *v1alpha1.BenchmarkSuiteSpec) { spec.Triggers.Webhook = v1alpha1.WebhookTrigger{} },
	} {
		suspended := true
		other := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: name}, Spec: *s.Spec.DeepCopy()}
		other.Spec.Suspend = &suspended
		change(&other.Spec)
		h.must(h.c.Create(t.Context(), other))
	}
	pattern := fmt.Appendf(nil, `{"spec": {"parameters": [{"name": "image", "default": %q, "pattern": ".*shop/[a-z]+:[0-9a-z]+"}]}}`, s.Spec.Parameters[0].Default)
	h.must(h.c.Patch(t.Context(), s, client.RawPatch(types.MergePatchType, pattern)))
	h.asks("shop/checkout:7", http.StatusAccepted)
	const nobody = "no such webhook, or the request has no valid token"
	good := `{"image": "shop/checkout:8"}`
	for name, tc := range map[string]struct {
		authorization, suite, body string
		status                     int
		says                       string
	}{
		"no token":                        {"", "checkout", good, 401, nobody},
		"another token":                   {"Bearer guess", "checkout", good, 401, nobody},
		"the token without its scheme":    {"shown", "checkout", good, 401, nobody},
		"the key by which others sign":    {"Bearer secret", "checkout", good, 401, nobody},
		"an empty token":                  {"Bearer ", "checkout", good, 401, nobody},
		"a key that lies where tokens do": {"Bearer shown", "payment", good, 401, nobody},
		"a suite that there is not":       {"Bearer shown", "nothing", good, 401, nobody},
		"a suite without a webhook":       {"Bearer shown", "unnamed", good, 401, nobody},
		"a name that is a path":           {"Bearer shown", "..%2Fbenchmarkruns", good, 401, nobody},
		"much from who shows nothing":     {"Bearer guess", "checkout", strings.Repeat("x", 10<<20), 401, nobody},
		"a body of ten megabytes":         {"Bearer shown", "checkout", strings.Repeat("x", 10<<20), 413, "exceeds the limit of 1048576 bytes"},
		"a body that is no JSON":          {"Bearer shown", "checkout", "image=shop/checkout:8", 422, "the body is not JSON"},
		"no body":                         {"Bearer shown", "checkout", "", 422, "the body is not JSON"},
		"a body without the value":        {"Bearer shown", "checkout", "{}", 422, "no such key: image"},
	} {
		answer, says := h.shows(tc.authorization, tc.suite, tc.body)
		if answer.StatusCode != tc.status || !strings.Contains(says, tc.says) || tc.status == http.StatusUnauthorized && says != nobody {
			t.Errorf("%s is answered %d %q, want %d %q", name, answer.StatusCode, says, tc.status, tc.says)
		}
	}
	h.await("the round of what is in Git", measures(1))
	h.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	h.await("the round that was asked for", measures(2))
	answer, says := h.shows("Bearer shown", "checkout", `{"image": "Evil:1"}`)
	if answer.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(says, "does not match its pattern .*shop/[a-z]+:[0-9a-z]+") {
		t.Errorf("a value that breaks its pattern is answered %d %q", answer.StatusCode, says)
	}
	var checkout v1alpha1.BenchmarkSuite
	h.must(h.c.Get(t.Context(), client.ObjectKey{Namespace: h.namespace, Name: "checkout"}, &checkout))
	if r := webhook.Read(checkout.Annotations[v1alpha1.AnnotationWebhook]); len(r.Parameters) != 1 || r.Parameters[0].Value != "shop/checkout:7" {
		t.Errorf("of what was refused the suite has %+v", r)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: h.namespace, Name: "checkout-hook"}, Data: map[string][]byte{"key": []byte("secret")}}
	h.must(h.c.Update(t.Context(), secret))
	if answer, says := h.shows("Bearer shown", "checkout", good); answer.StatusCode != http.StatusUnauthorized || says != nobody {
		t.Errorf("where the token is taken away, it is answered %d %q", answer.StatusCode, says)
	}
	h.wantRuns(2)
}
