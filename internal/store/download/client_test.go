package download

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/store/artifact"
)

func TestAFileIsReadUpToTheSizeThatTheClientBears(t *testing.T) {
	for name, saysHowLong := range map[string]bool{"the answer says how long it is": true, "nobody knows how long it is": false} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Server", answers)
				if !saysHowLong {
					w.(http.Flusher).Flush()
				}
				_, _ = io.WriteString(w, "12345")
			}))
			defer server.Close()
			r := &v1alpha1.BenchmarkRun{}
			r.Namespace, r.Name, r.UID = "a", "quick", "0c9f3f11-0000-4000-8000-000000000001"
			r.Status.DownloadKey = "key"
			c := clientOf(t, &rest.Config{Host: server.URL})
			if body, err := c.Within(5).Of(r).Get(t.Context(), PrefixOf(r)+"/a.txt", ""); err != nil || string(body) != "12345" {
				t.Errorf("a file of just that size is %q, %v", body, err)
			}
			_, err := c.Within(4).Of(r).Get(t.Context(), PrefixOf(r)+"/a.txt", "")
			if !errors.Is(err, artifact.ErrMalformed) || !strings.Contains(err.Error(), "is larger than the 4 bytes that are read here") {
				t.Errorf("a larger one is %v", err)
			}
		})
	}
}
