package artifact_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

const (
	bodyS3 = `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>a</Key><RequestId>4442587FB7D0A2F9</RequestId><HostId>h</HostId></Error>`
	bodyGarage = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchKey</Code><Message>Key not found</Message><Resource>/b/a</Resource><Region>garage</Region></Error>`
	bodyDenied = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`
	bodyNginx  = "<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>\r\n"
)

func TestWhatAProxyAnswersByItselfIsNotTheStoresWord(t *testing.T) {
	numbered := map[string]string{"X-Amz-Request-Id": "4442587FB7D0A2F9"}
	for name, tc := range map[string]struct {
		status             int
		body               string
		headers            map[string]string
		reading, lookingUp error
	}{
		"S3 has no such object":          {404, bodyS3, numbered, artifact.ErrNotFound, artifact.ErrNotFound},
		"a store that numbers nothing":   {404, bodyGarage, nil, artifact.ErrNotFound, artifact.ErrUnreachable},
		"a store that says nothing":      {404, "", numbered, artifact.ErrNotFound, artifact.ErrNotFound},
		"S3 refuses the key":             {403, bodyDenied, numbered, artifact.ErrDenied, artifact.ErrDenied},
		"nginx knows no such page":       {404, bodyNginx, map[string]string{"Server": "nginx/1.25.3"}, artifact.ErrUnreachable, artifact.ErrUnreachable},
		"Go's server knows no such page": {404, "404 page not found\n", nil, artifact.ErrUnreachable, artifact.ErrUnreachable},
		"Envoy knows no route":           {404, "", map[string]string{"Server": "envoy"}, artifact.ErrUnreachable, artifact.ErrUnreachable},
		"an ingress has no backend":      {404, "default backend - 404", nil, artifact.ErrUnreachable, artifact.ErrUnreachable},
		"a page that is XML":             {404, `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>404</body></html>`, nil, artifact.ErrUnreachable, artifact.ErrUnreachable},
		"a gateway in JSON":              {404, `{"message":"no Route matched with those values"}`, map[string]string{"Server": "kong/3.4.2"}, artifact.ErrUnreachable, artifact.ErrUnreachable},
		"a firewall refuses the request": {403, "<html><body>Request blocked</body></html>", nil, artifact.ErrUnreachable, artifact.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range tc.headers {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			}))
			t.Cleanup(server.Close)
			store := open(t, artifact.Config{Endpoint: strings.TrimPrefix(server.URL, "http://"), Bucket: "bucket", Region: "us-east-1", AccessKey: "k", SecretKey: "s"})
			_, reading := store.Get(t.Context(), "a", "")
			lookingUp := store.Verify(t.Context(), record.Artifact{Key: "a", SHA256: digest("")})
			for doing, c := range map[string]struct{ got, want error }{"reading": {reading, tc.reading}, "looking up": {lookingUp, tc.lookingUp}} {
				if !errors.Is(c.got, c.want) || artifact.Unreadable(c.got) != errors.Is(c.want, artifact.ErrNotFound) {
					t.Errorf("%s: got %v, want %v", doing, c.got, c.want)
				}
			}
		})
	}
}

func TestARefusalNamesWhoseKeyItIs(t *testing.T) {
	const expired = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message><RequestId>1</RequestId></Error>`
	for name, tc := range map[string]struct {
		byRole bool
		status int
		body   string
		want   error
		says   string
		never  string
	}{
		"the operator's key, of a Secret":                       {false, 403, bodyDenied, artifact.ErrDenied, "restart the operator", "role"},
		"a key of the user's own, beside a role":                {true, 403, bodyDenied, artifact.ErrOwnKeyDenied, "AWS_PROFILE", "restart the operator"},
		"a key of the user's own is a refusal as others are":    {true, 403, bodyDenied, artifact.ErrDenied, "your own access key", "the role"},
		"a temporary key of the user's own, whose time is over": {true, 400, expired, artifact.ErrLapsed, "have expired", "refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.body))
			}))
			t.Cleanup(server.Close)
			store := open(t, artifact.Config{
				Endpoint: strings.TrimPrefix(server.URL, "http://"), Bucket: "bucket", Region: "us-east-1", AccessKey: "k", SecretKey: "s", ByRole: tc.byRole,
			})
			_, err := store.Get(t.Context(), "a", "")
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), tc.never) {
				t.Errorf("got %v, want %v, which says %q and not %q", err, tc.want, tc.says, tc.never)
			}
			if errors.Is(err, artifact.ErrLapsed) && (errors.Is(err, artifact.ErrDenied) || artifact.Terminal(err)) {
				t.Errorf("credentials that have expired are a missing right: %v", err)
			}
		})
	}
}

// A proxy's temporary 404 must not fail a trial.
func TestAProxyThatAnswersForTheStoreCostsNoTrial(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		c, store := bucket(t, at)
		keep(t, store, "p", recordtest.Run(recordtest.Duel(2)))
		var away atomic.Bool
		way := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: c.Endpoint})
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if away.Load() && strings.Contains(q.URL.Path, "/trials/") {
				http.NotFound(w, q)
				return
			}
			way.ServeHTTP(w, q)
		}))
		t.Cleanup(proxy.Close)
		c.Endpoint = strings.TrimPrefix(proxy.URL, "http://")
		through := open(t, c)
		away.Store(true)
		if _, err := through.Load(t.Context(), "p", ""); !errors.Is(err, artifact.ErrUnreachable) || artifact.Unreadable(err) || artifact.Terminal(err) {
			t.Errorf("while it answers 404: %v", err)
		}
		away.Store(false)
		d, err := through.Load(t.Context(), "p", "")
		if err != nil || d.Lost != "" || len(d.Trials) != len(d.Manifest.Trials) {
			t.Errorf("afterwards: %d trials of %d, %q, %v", len(d.Trials), len(d.Manifest.Trials), d.Lost, err)
		}
	})
}

// A store without checksums would accept the plan, and lose each trial at verification.
func TestAStoreThatTellsNoDigestIsNamed(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		c, store := bucket(t, at)
		way := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: c.Endpoint})
		way.ModifyResponse = func(r *http.Response) error {
			r.Header.Del("X-Amz-Checksum-Sha256")
			return nil
		}
		poor := httptest.NewServer(way)
		t.Cleanup(poor.Close)
		c.Endpoint = strings.TrimPrefix(poor.URL, "http://")
		through := open(t, c)
		a, err := through.Put(t.Context(), "plan.json", "application/json", []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if err := through.Verify(t.Context(), a); !errors.Is(err, artifact.ErrNoDigests) || !artifact.Mendable(err) {
			t.Errorf("looked up through it: %v", err)
		}
		if again, err := through.Put(t.Context(), "plan.json", "application/json", []byte("{}")); err != nil || again != a {
			t.Errorf("written again through it: %+v, %v", again, err)
		}
		if err := store.Verify(t.Context(), a); err != nil {
			t.Errorf("looked up where it lies: %v", err)
		}
	})
}

// A store that ignores If-None-Match would let operators overwrite each other's objects.
func TestStoreThatOverwritesIsNamed(t *testing.T) {
	loose := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", `"1"`) }))
	t.Cleanup(loose.Close)
	store := open(t, artifact.Config{Endpoint: strings.TrimPrefix(loose.URL, "http://"), Bucket: "bucket", Region: "us-east-1", AccessKey: "k", SecretKey: "s"})
	err := store.CheckWriteOnce(t.Context(), "plan.json", "application/json", []byte("{}"))
	if !errors.Is(err, artifact.ErrOverwrites) || !artifact.Mendable(err) || !strings.Contains(err.Error(), "s3.endpoint") {
		t.Errorf("got %v", err)
	}
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		a, err := store.Put(t.Context(), "plan.json", "application/json", []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if err := store.CheckWriteOnce(t.Context(), a.Key, "application/json", []byte("{}")); err != nil {
			t.Errorf("a store that does not overwrite: %v", err)
		}
		if err := store.Verify(t.Context(), a); err != nil {
			t.Error(err)
		}
	})
}

// A store without conditional writes answers them with 501.
func TestStoreThatRejectsConditionsIsNamed(t *testing.T) {
	strict := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotImplemented)
			fmt.Fprint(w, `<?xml version="1.0"?><Error><Code>NotImplemented</Code><Message>A header you provided implies functionality that is not implemented</Message></Error>`)
		}
	}))
	t.Cleanup(strict.Close)
	store := open(t, artifact.Config{Endpoint: strings.TrimPrefix(strict.URL, "http://"), Bucket: "bucket", Region: "us-east-1", AccessKey: "k", SecretKey: "s"})
	err := artifact.Prove(t.Context(), store, artifact.ProofKey, "text/plain", []byte("x"))
	if !errors.Is(err, artifact.ErrNoConditions) || !artifact.Mendable(err) || !strings.Contains(err.Error(), "s3.endpoint") {
		t.Errorf("got %v", err)
	}
}

func TestUsableStoreIsProvedAgain(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		for range 2 {
			if err := artifact.Prove(t.Context(), store, artifact.ProofKey, "text/plain", []byte("x")); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestAnotherRegionIsNamed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `<?xml version="1.0"?><Error><Code>AuthorizationHeaderMalformed</Code><Message>the region is wrong</Message><Region>us-east-1</Region></Error>`)
	}))
	t.Cleanup(elsewhere.Close)
	store := open(t, artifact.Config{Endpoint: strings.TrimPrefix(elsewhere.URL, "http://"), Bucket: "bucket", Region: "eu-west-9", AccessKey: "k", SecretKey: "s"})
	err := artifact.Prove(t.Context(), store, artifact.ProofKey, "text/plain", []byte("x"))
	if !errors.Is(err, artifact.ErrRegion) || !artifact.Mendable(err) || !strings.Contains(err.Error(), "s3.region to us-east-1") {
		t.Errorf("got %v", err)
	}
}

func TestAddressingStyle(t *testing.T) {
	for style, want := range map[string]string{
		"": "https://s3.example.com/bucket/p/f", artifact.AutoStyle: "https://s3.example.com/bucket/p/f", artifact.PathStyle: "https://s3.example.com/bucket/p/f",
		artifact.VirtualStyle: "https://bucket.s3.example.com/p/f",
	} {
		store := open(t, artifact.Config{Endpoint: "s3.example.com", Secure: true, Bucket: "bucket", Region: "us-east-1", AccessKey: "k", SecretKey: "s", Addressing: style})
		got, _, err := store.Destination(t.Context(), record.Artifact{Key: "p/f", SHA256: strings.Repeat("0", 64)}, time.Minute)
		if err != nil || !strings.HasPrefix(got, want+"?") {
			t.Errorf("%q: %s, %v; want %s", style, got, err, want)
		}
	}
	if _, err := artifact.Open(artifact.Config{Endpoint: "s3.example.com", AccessKey: "k", SecretKey: "s", Addressing: "dns"}); err == nil || !strings.Contains(err.Error(), "s3.addressingStyle") {
		t.Errorf("an unknown style: %v", err)
	}
}
