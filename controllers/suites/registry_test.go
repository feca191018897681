package suites

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/outbound"
	"loadstone.dev/loadstone/internal/suite"
)

func TestWhatARegistrySays(t *testing.T) {
	registry := func(status int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v2/" {
				w.WriteHeader(status)
			}
		}))
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	for name, tc := range map[string]struct{ image, reason, said string }{
		"it wants a password":        {registry(http.StatusUnauthorized) + "/a:1", v1alpha1.ReasonRegistryUnavailable, "denies the operator access to"},
		"it refuses":                 {registry(http.StatusForbidden) + "/a:1", v1alpha1.ReasonRegistryUnavailable, "add the pull Secret to imagePullSecrets"},
		"it does not have the image": {registry(http.StatusNotFound) + "/a:1", v1alpha1.ReasonImageNotFound, "does not have"},
		"it is asked too often":      {registry(http.StatusTeapot) + "/a:1", v1alpha1.ReasonRegistryUnavailable, "answers 418"},
		"nobody is there":            {"127.0.0.1:1/a:1", v1alpha1.ReasonRegistryUnavailable, "refused"},
		"that is no image":           {"A:1", v1alpha1.ReasonImageNotFound, "could not parse"},
	} {
		got := Registries(http.DefaultTransport)(t.Context(), tc.image, authn.NewMultiKeychain())
		if got.Digest != "" || got.Reason != tc.reason || !strings.Contains(got.Message, tc.said) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestARegistryIsAskedAsOftenAsItIsNeeded(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	s := &v1alpha1.BenchmarkSuite{}
	s.Generation = 1
	s.Spec.Triggers.Change.IntervalSeconds = 600
	s.Spec.Runs = []v1alpha1.SuiteRun{{Name: "r", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte(`{"image": "a:1"}`)}}}}
	answer := suite.Resolution{Digest: "sha256:aa"}
	asked := 0
	var a answers
	for _, step := range []struct {
		name   string
		change func()
		asks   bool
	}{
		{"at first", func() {}, true},
		{"soon after", func() { now = now.Add(599 * time.Second) }, false},
		{"when the interval is over", func() { now = now.Add(time.Second) }, true},
		{"of a new spec", func() { s.Generation++ }, true},
		{"on request", func() { s.Annotations = map[string]string{v1alpha1.AnnotationRequestedAt: "1"} }, true},
		{"of the same request", func() {}, false},
		{"after a restart", func() { a = answers{} }, true},
		{"when it goes away", func() { now, answer = now.Add(time.Hour), suite.Resolution{Reason: v1alpha1.ReasonRegistryUnavailable} }, true},
		{"soon after that", func() { now = now.Add(suite.RetryImages - time.Second) }, false},
		{"half a minute after that", func() { now = now.Add(time.Second) }, true},
	} {
		step.change()
		before := asked
		said := a.of(t.Context(), s, nil, now, func(_ context.Context, images []string) map[string]suite.Resolution {
			asked += len(images)
			return map[string]suite.Resolution{"a:1": answer}
		})
		if said["a:1"] != answer || (asked > before) != step.asks {
			t.Errorf("%s: it was asked %d times, and said %+v", step.name, asked-before, said)
		}
	}
}

func TestAnswersOfDeletedSuitesAreForgotten(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var a answers
	for i := range 10 {
		s := &v1alpha1.BenchmarkSuite{}
		s.Name, s.Spec.Triggers.Change.IntervalSeconds = strconv.Itoa(i), 600
		a.of(t.Context(), s, nil, now.Add(time.Duration(i)*400*time.Second), func(context.Context, []string) map[string]suite.Resolution { return nil })
	}
	if n := len(a.bySuite); n != 2 {
		t.Errorf("it remembers the answers for %d suites, want those of the last 600 s", n)
	}
}

// Image names are chosen by users. Neither the name nor a redirect of a registry may lead to the operator's own network.
func TestRegistryCannotProbeTheOperatorsNetwork(t *testing.T) {
	var asked atomic.Int32
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(inner.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	redirecting := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirecting.Close)
	// public lets one loopback address pass, like the address of a registry in the Internet.
	public := outbound.Way(outbound.Allowed{})
	guarded := public.DialContext
	public.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		if to == redirecting.Listener.Addr().String() {
			return (&net.Dialer{}).DialContext(ctx, network, to)
		}
		return guarded(ctx, network, to)
	}
	said := map[string]string{}
	for name, address := range map[string]string{
		"open port": inner.Listener.Addr().String(), "closed port": closed.Addr().String(), "redirect": redirecting.Listener.Addr().String(),
		"metadata": "169.254.169.254", "cluster address": "10.255.255.254:443",
	} {
		got := Registries(public)(t.Context(), address+"/a:1", authn.NewMultiKeychain())
		if got.Digest != "" || got.Reason != v1alpha1.ReasonRegistryUnavailable || !strings.Contains(got.Message, "chart value outbound.allow") {
			t.Errorf("%s: %+v", name, got)
		}
		said[name] = strings.ReplaceAll(got.Message, address, "")
	}
	for name, text := range said {
		if text != said["open port"] {
			t.Errorf("the message tells an open port (%q) from: %s (%q)", said["open port"], name, text)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("a service of the operator's own machine got %d requests", n)
	}
}
