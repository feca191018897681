package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/testbed"
)

func bucket(t *testing.T) *Installation {
	t.Helper()
	s := testbed.Store(t)
	store, err := artifact.Open(artifact.Config{Endpoint: s.Endpoint, Bucket: s.NewBucket(t), Region: "us-east-1", AccessKey: s.AccessKey, SecretKey: s.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	return &Installation{Store: store, Close: func() {}}
}

func TestRefusedDownloadIsReadWithKey(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{}
	run.Namespace, run.Name, run.UID, run.Status.DownloadKey = "bench", "quick", "0123456789", "key"
	own, foreign := download.PrefixOf(run)+"/manifest.json", "bench/gone-01234567/manifest.json"
	in := bucket(t)
	for _, key := range []string{own, foreign} {
		if _, err := in.Store.Put(t.Context(), key, "application/json", []byte("by key")); err != nil {
			t.Fatal(err)
		}
	}
	forbidden := errors.New("permission denied")
	for name, tc := range map[string]struct {
		status      int
		server, key string
		locked      bool
		want, says  string
		opened      bool
	}{
		"the operator hands out":                    {http.StatusOK, "loadstone", own, true, "handed out", "", false},
		"the operator refuses":                      {http.StatusForbidden, "loadstone", own, false, "by key", "", true},
		"the API server refuses":                    {http.StatusForbidden, "", own, false, "by key", "", true},
		"the operator is too old to hand out":       {http.StatusServiceUnavailable, "", own, false, "by key", "", true},
		"what belongs to no run":                    {http.StatusOK, "loadstone", foreign, false, "by key", "", true},
		"both refuse":                               {http.StatusForbidden, "loadstone", own, true, "", "the operator refused the download: handed out; without access to the operator you need the credentials of the object store: " + forbidden.Error(), true},
		"a file that is not there is asked no more": {http.StatusNotFound, "loadstone", own, false, "", artifact.ErrNotFound.Error(), false},
		"a store that is away is asked no more":     {http.StatusServiceUnavailable, "loadstone", own, false, "", "503", false},
	} {
		t.Run(name, func(t *testing.T) {
			operator := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if want := "/api/v1/namespaces/system/services/https:loadstone:handout/proxy/v1/namespaces/bench/benchmarkruns/quick/manifest.json"; q.URL.Path != want {
					t.Errorf("it asks for %s, want %s", q.URL.Path, want)
				}
				w.Header().Set("Server", tc.server)
				w.WriteHeader(tc.status)
				fmt.Fprint(w, "handed out")
			}))
			defer operator.Close()
			c, err := download.NewClient(&rest.Config{Host: operator.URL, BearerToken: "abc"}, "system")
			if err != nil {
				t.Fatal(err)
			}
			opened, notes := 0, 0
			s := &Stored{handout: c, note: func(string) { notes++ }, open: func(context.Context) (*Installation, error) {
				opened++
				if tc.locked {
					return nil, forbidden
				}
				return in, nil
			}}
			defer s.Close()
			s.Know(run)
			for range 2 {
				got, err := s.Get(t.Context(), tc.key, "")
				if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) || string(got) != tc.want {
					t.Errorf("it reads %q, %v, want %q, %q", got, err, tc.want, tc.says)
				}
			}
			if (opened > 0) != tc.opened || notes > 1 || (notes == 1) != (tc.opened && !tc.locked) {
				t.Errorf("the store was opened %d times, and %d notes were told", opened, notes)
			}
		})
	}
}

func TestFoldersAreListedByTheKey(t *testing.T) {
	in := bucket(t)
	if _, err := in.Store.Put(t.Context(), "calibrations/f/a.json", "application/json", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	s := &Stored{open: func(context.Context) (*Installation, error) { return in, nil }}
	if got, err := s.List(t.Context(), "calibrations/f"); err != nil || len(got) != 1 {
		t.Errorf("it lists %v, %v", got, err)
	}
	s = &Stored{open: func(context.Context) (*Installation, error) { return nil, errors.New("forbidden") }}
	if got, err := s.List(t.Context(), "calibrations/f"); !errors.Is(err, download.ErrRefused) || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("it lists %v, %v", got, err)
	}
}
