package argo

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestAStepWithABodyIsRefusedUnread(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	e := &Endpoint{Client: fake.NewClientBuilder().WithScheme(scheme).Build(), changed: make(chan struct{})}
	for name, tc := range map[string]struct {
		body io.Reader
		want int
	}{
		"none":                      {nil, http.StatusNotFound},
		"an empty one, as Argo has": {strings.NewReader(""), http.StatusNotFound},
		"a short one":               {strings.NewReader("{}"), http.StatusRequestEntityTooLarge},
		"one of unknown length":     {io.LimitReader(endless{}, 1<<40), http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			answer := httptest.NewRecorder()
			e.handler().ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/v1/trials/bench/none", tc.body))
			if closes := answer.Header().Get("Connection") == "close"; answer.Code != tc.want || closes != (tc.want == http.StatusRequestEntityTooLarge) {
				t.Errorf("answered %d, want %d; the connection is closed: %v", answer.Code, tc.want, closes)
			}
		})
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
