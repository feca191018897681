package artifact_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/minio/minio-go/v7"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

func bucket(t *testing.T, at testbed.ObjectStore) (artifact.Config, *artifact.Store) {
	t.Helper()
	c := artifact.Config{Endpoint: at.Endpoint, Bucket: at.NewBucket(t), Region: "us-east-1", AccessKey: at.AccessKey, SecretKey: at.SecretKey}
	return c, open(t, c)
}

func open(t *testing.T, c artifact.Config) *artifact.Store {
	t.Helper()
	store, err := artifact.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func digest(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

func TestAnObjectIsWrittenOnce(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		ctx := t.Context()
		want := record.Artifact{Key: "a/b.json", Bytes: 5, SHA256: digest("first")}
		for _, name := range []string{"written", "written again with the same content"} {
			got, err := store.Put(ctx, "a/b.json", "application/json", []byte("first"))
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: error %v, (-want +got):\n%s", name, err, diff)
			}
		}
		for name, body := range map[string]string{"another content": "other", "another size": "longer than the first", "nothing": ""} {
			if _, err := store.Put(ctx, "a/b.json", "application/json", []byte(body)); !errors.Is(err, artifact.ErrExists) || !artifact.Terminal(err) {
				t.Errorf("%s: got %v, want ErrExists, for good", name, err)
			}
		}
		if got, err := store.Get(ctx, "a/b.json", want.SHA256); err != nil || string(got) != "first" {
			t.Errorf("the object holds %q, %v", got, err)
		}
	})
}

func TestAnEmptyObjectAndALargeOneAreObjectsLikeOthers(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		for key, body := range map[string][]byte{"empty": {}, "large": bytes.Repeat([]byte("loadstone"), 2<<20)} {
			a, err := store.Put(t.Context(), key, "text/plain", body)
			if err != nil {
				t.Errorf("%s: %v", key, err)
				continue
			}
			if err := store.Verify(t.Context(), a); err != nil {
				t.Errorf("%s: %v", key, err)
			}
			if got, err := store.Get(t.Context(), key, a.SHA256); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s: read %d bytes, %v", key, len(got), err)
			}
		}
	})
}

func put(t *testing.T, url string, headers map[string]string, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(said)
}

var refused = []int{http.StatusBadRequest, http.StatusForbidden}

func TestADestinationTakesOneObjectWithTheAnnouncedContent(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		const key, body = "run/trials/t/attempt-1/server/result.json", `{"cells": []}`
		url, headers, err := store.Destination(t.Context(), record.Artifact{Key: key, Bytes: int64(len(body)), SHA256: digest(body)}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		without := func(name string) map[string]string {
			rest := map[string]string{}
			for k, v := range headers {
				if k != name {
					rest[k] = v
				}
			}
			return rest
		}
		for _, step := range []struct {
			name    string
			url     string
			headers map[string]string
			body    string
			want    []int
		}{
			{"another body", url, headers, `{"cells": 1 }`, refused},
			{"no checksum", url, without("X-Amz-Checksum-Sha256"), body, refused},
			{"leave to overwrite", url, without("If-None-Match"), body, refused},
			{"another key", strings.Replace(url, "attempt-1", "attempt-2", 1), headers, body, refused},
			{"the announced body", url, headers, body, []int{http.StatusOK}},
			{"the announced body once more", url, headers, body, []int{http.StatusPreconditionFailed}},
		} {
			if status, said := put(t, step.url, step.headers, step.body); !slices.Contains(step.want, status) {
				t.Errorf("%s: answered %d, want one of %d: %s", step.name, status, step.want, said)
			}
		}
		if err := store.Verify(t.Context(), record.Artifact{Key: key, Bytes: int64(len(body)), SHA256: digest(body)}); err != nil {
			t.Error(err)
		}
	})
}

func TestADestinationTakesNoMoreBytesThanAnnounced(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		const body = "0123456789"
		url, headers, err := store.Destination(t.Context(), record.Artifact{Key: "k", Bytes: 3, SHA256: digest(body)}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if status, said := put(t, url, headers, body); !slices.Contains(refused, status) {
			t.Errorf("ten bytes where three were announced are answered %d: %s", status, said)
		}
		if _, err := store.Get(t.Context(), "k", ""); !errors.Is(err, artifact.ErrNotFound) {
			t.Errorf("afterwards, reading gives %v", err)
		}
	})
}

func TestNoDestinationForReservedNamesAndLargeFiles(t *testing.T) {
	_, store := bucket(t, testbed.Store(t))
	const folder = "run/trials/t/attempt-1/server-0/"
	names := []string{"manifest.json", "Manifest.JSON"}
	for _, key := range []string{
		artifact.ManifestKey(folder), artifact.PlanKey(folder), artifact.BegunKey(folder), artifact.MadeKey(folder),
	} {
		names = append(names, path.Base(key))
	}
	for _, name := range slices.Concat(names, report.FileNames()) {
		if _, _, err := store.Destination(t.Context(), record.Artifact{Key: folder + name, Bytes: 1, SHA256: digest("x")}, time.Minute); err == nil {
			t.Errorf("an agent may store %s", name)
		}
		if err := (protocol.State{Files: []protocol.File{{Name: name, Bytes: 1, SHA256: digest("x")}}}).Check(); err == nil {
			t.Errorf("an agent may hold %s", name)
		}
	}
	if _, _, err := store.Destination(t.Context(), record.Artifact{Key: folder + "wrk.txt", Bytes: protocol.MaxFile + 1, SHA256: digest("x")}, time.Minute); err == nil {
		t.Error("a file beyond the limit may be stored")
	}
}

func TestADestinationExpires(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		url, headers, err := store.Destination(t.Context(), record.Artifact{Key: "k", Bytes: 1, SHA256: digest("x")}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(url, "X-Amz-Expires=1&") {
			t.Errorf("%s does not say that it expires after a second", url)
		}
		old := strings.Replace(url, "X-Amz-Expires=1&", "X-Amz-Expires=600&", 1)
		if status, said := put(t, old, headers, "x"); status != http.StatusForbidden {
			t.Errorf("an address with a longer life was answered %d: %s", status, said)
		}
	})
}

func TestADestinationNeedsADigest(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		for _, sha := range []string{"", "abc", digest("x")[2:], strings.Repeat("g", 64)} {
			if _, _, err := store.Destination(t.Context(), record.Artifact{Key: "k", Bytes: 1, SHA256: sha}, time.Minute); err == nil {
				t.Errorf("%q passes as a SHA-256", sha)
			}
		}
	})
}

func TestVerifyNoticesWhatIsNotAsAnnounced(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		c, store := bucket(t, at)
		a, err := store.Put(t.Context(), "k", "text/plain", []byte("content"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := at.Client(t).PutObject(t.Context(), c.Bucket, "plain", strings.NewReader("content"), 7, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
		tests := map[string]struct {
			artifact record.Artifact
			want     error
		}{
			"what was written":             {artifact: a},
			"another size":                 {artifact: record.Artifact{Key: "k", Bytes: 8, SHA256: a.SHA256}, want: artifact.ErrExists},
			"another digest":               {artifact: record.Artifact{Key: "k", Bytes: 7, SHA256: digest("comtent")}, want: artifact.ErrExists},
			"no object":                    {artifact: record.Artifact{Key: "l", Bytes: 7, SHA256: a.SHA256}, want: artifact.ErrNotFound},
			"an object without a checksum": {artifact: record.Artifact{Key: "plain", Bytes: 7, SHA256: a.SHA256}, want: artifact.ErrNoDigests},
		}
		for name, tc := range tests {
			t.Run(name, func(t *testing.T) {
				if err := store.Verify(t.Context(), tc.artifact); !errors.Is(err, tc.want) {
					t.Errorf("got %v, want %v", err, tc.want)
				}
			})
		}
	})
}

func TestGetNoticesACorruptObject(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		c, store := bucket(t, at)
		a, err := store.Put(t.Context(), "k", "text/plain", []byte("content"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := at.Client(t).PutObject(t.Context(), c.Bucket, "k", strings.NewReader("contemt"), 7, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Get(t.Context(), "k", a.SHA256); !errors.Is(err, artifact.ErrCorrupt) {
			t.Errorf("got %v, want ErrCorrupt", err)
		}
		if _, err := store.Get(t.Context(), "absent", a.SHA256); !errors.Is(err, artifact.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	})
}

// Every error offers a remedy, is unambiguous, and reveals no secret.
func TestEveryTroubleWithAStoreHasItsError(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		good, _ := bucket(t, at)
		const closed = "127.0.0.1:1" // No server listens there.
		tests := map[string]struct {
			change   func(*artifact.Config)
			want     error
			terminal bool
		}{
			"the bucket is not there":   {change: func(c *artifact.Config) { c.Bucket = "nobody-made-this" }, want: artifact.ErrNoBucket, terminal: true},
			"the secret key is wrong":   {change: func(c *artifact.Config) { c.SecretKey = "not-the-secret-key" }, want: artifact.ErrDenied, terminal: true},
			"the access key is unknown": {change: func(c *artifact.Config) { c.AccessKey = "nobody" }, want: artifact.ErrDenied, terminal: true},
			"nobody listens":            {change: func(c *artifact.Config) { c.Endpoint = closed }, want: artifact.ErrUnreachable},
		}
		for name, tc := range tests {
			t.Run(name, func(t *testing.T) {
				c := good
				tc.change(&c)
				store := open(t, c)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				for doing, do := range map[string]func() error{
					"Put": func() error { _, err := store.Put(ctx, "k", "text/plain", []byte("x")); return err },
					"Get": func() error { _, err := store.Get(ctx, "k", ""); return err },
				} {
					err := do()
					if !errors.Is(err, tc.want) || artifact.Terminal(err) != tc.terminal {
						t.Errorf("%s: got %v (for good: %v), want %v (for good: %v)", doing, err, artifact.Terminal(err), tc.want, tc.terminal)
					}
					if ctx.Err() != nil {
						t.Fatalf("%s: no answer within %s", doing, patience)
					}
					noSecrets(t, c, err)
				}
				// HEAD has no body, so it only says missing or refused.
				noSecrets(t, c, store.Verify(ctx, record.Artifact{Key: "k", Bytes: 1, SHA256: digest("x")}))
			})
		}
	})
}

func noSecrets(t *testing.T, c artifact.Config, err error) {
	t.Helper()
	if err == nil {
		t.Error("no error")
		return
	}
	for _, secret := range []string{"X-Amz-Signature", "X-Amz-Credential", c.SecretKey} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds %s: %v", secret, err)
		}
	}
}

// A canceled caller gets its error at once, not after the deadline.
func TestPutEndsWithItsContext(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		c, _ := bucket(t, at)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := open(t, c).Put(ctx, "k", "text/plain", []byte("x")); !errors.Is(err, artifact.ErrUnreachable) {
			t.Errorf("got %v, want ErrUnreachable", err)
		}
	})
}

func TestAnObjectIsReadAsItComes(t *testing.T) {
	testbed.OnEachStore(t, func(t *testing.T, at testbed.ObjectStore) {
		_, store := bucket(t, at)
		if _, err := store.Put(t.Context(), "a/b.json", "application/json", []byte("first")); err != nil {
			t.Fatal(err)
		}
		body, size, err := store.Stream(t.Context(), "a/b.json")
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		if got, err := io.ReadAll(body); err != nil || string(got) != "first" || size != 5 {
			t.Errorf("it reads %q of %d bytes, %v", got, size, err)
		}
		if _, _, err := store.Stream(t.Context(), "a/none.json"); !errors.Is(err, artifact.ErrNotFound) {
			t.Errorf("what is not there ends with %v", err)
		}
	})
}
