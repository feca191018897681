package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/trial/protocol"
)

const secret = "X-Amz-Signature=5ec2e7"

// fakeS3 answers each PUT with the object's next status, or 200 when none is left.
type fakeS3 struct {
	t       *testing.T
	mu      sync.Mutex
	answers map[string][]int
	puts    map[string]int
	bodies  map[string]string
}

func (s *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := filepath.Base(r.URL.Path)
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPut || r.URL.RawQuery != secret {
		s.t.Errorf("got %s %s, error %v", r.Method, r.URL, err)
	}
	if r.Header.Get("If-None-Match") != "*" || r.Header.Get("X-Amz-Checksum-Sha256") != "sum-of-"+name {
		s.t.Errorf("PUT of %s has not the signed headers: %v", name, r.Header)
	}
	if len(r.TransferEncoding) > 0 || r.ContentLength != int64(len(body)) {
		s.t.Errorf("PUT of %s came in encoding %v with length %d", name, r.TransferEncoding, r.ContentLength)
	}
	s.puts[name]++
	status := http.StatusOK
	if next := s.answers[name]; len(next) > 0 {
		status, s.answers[name] = next[0], next[1:]
	}
	w.WriteHeader(status)
	if status == http.StatusOK {
		s.bodies[name] = string(body)
		return
	}
	_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>SomeCode</Code><Message>`+r.URL.String()+`</Message></Error>`)
}

func holding(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := idle(t)
	var held []protocol.File
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		held = append(held, protocol.File{Name: name, Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])})
	}
	b.agent.update(func(s *protocol.State) { s.Phase, s.Files = protocol.Measured, held })
	return b
}

func storeCommand(url string, names ...string) protocol.Command {
	s := protocol.Store{}
	for _, name := range names {
		s.Files = append(s.Files, protocol.Destination{
			Name: name, URL: url + "/bucket/" + name + "?" + secret,
			Headers: map[string]string{"If-None-Match": "*", "x-amz-checksum-sha256": "sum-of-" + name},
		})
	}
	return protocol.Command{Store: &s}
}

func TestStore(t *testing.T) {
	tests := map[string]struct {
		answers   map[string][]int
		wantPhase protocol.Phase
		wantError string
		wantPuts  map[string]int
	}{
		"all files are stored": {wantPhase: protocol.Stored, wantPuts: map[string]int{"a.txt": 1, "empty.txt": 1}},
		"a file that is there already is stored": {
			answers: map[string][]int{"a.txt": {412}}, wantPhase: protocol.Stored, wantPuts: map[string]int{"a.txt": 1, "empty.txt": 1},
		},
		"a store that is busy is asked again": {
			answers: map[string][]int{"a.txt": {503, 500, 409}}, wantPhase: protocol.Stored, wantPuts: map[string]int{"a.txt": 4, "empty.txt": 1},
		},
		"a refused signature is not tried again": {
			answers: map[string][]int{"a.txt": {403}}, wantPhase: protocol.Measured,
			wantError: "storing a.txt: the object store answered 403 SomeCode", wantPuts: map[string]int{"a.txt": 1},
		},
		"a redirect is not followed": {
			answers: map[string][]int{"empty.txt": {307}}, wantPhase: protocol.Measured,
			wantError: "storing empty.txt: the object store answered 307 SomeCode", wantPuts: map[string]int{"a.txt": 1, "empty.txt": 1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s3 := &fakeS3{t: t, answers: tc.answers, puts: map[string]int{}, bodies: map[string]string{}}
			server := httptest.NewServer(s3)
			defer server.Close()
			b := holding(t, map[string]string{"a.txt": "text", "empty.txt": ""})
			b.must(storeCommand(server.URL, "a.txt", "empty.txt"))
			state := b.await("done", func(s protocol.State) bool { return !s.Uploading })
			if state.Phase != tc.wantPhase || state.StoreError != tc.wantError {
				t.Errorf("got phase %s, error %q; want %s, %q", state.Phase, state.StoreError, tc.wantPhase, tc.wantError)
			}
			if diff := cmp.Diff(tc.wantPuts, s3.puts); diff != "" {
				t.Errorf("uploads (-want +got):\n%s", diff)
			}
			if tc.wantPhase == protocol.Stored {
				return
			}
			before := s3.puts["a.txt"]
			s3.answers = nil
			b.must(storeCommand(server.URL, "a.txt", "empty.txt"))
			b.await("Stored", func(s protocol.State) bool { return s.Phase == protocol.Stored && s.StoreError == "" })
			if stored := tc.answers["a.txt"] == nil; stored && s3.puts["a.txt"] != before {
				t.Error("a file that had been stored was sent again")
			}
			if s3.bodies["a.txt"] != "text" {
				t.Errorf("the stored body is %q", s3.bodies["a.txt"])
			}
		})
	}
}

func TestStoreSaysNothingOfTheURL(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	nobody := server.URL
	server.Close()
	tests := map[string]string{"nobody there": nobody, "a URL that is not one": "http://a b"}
	for name, url := range tests {
		t.Run(name, func(t *testing.T) {
			b := holding(t, map[string]string{"a.txt": "text"})
			tries := 0
			b.agent.upload.pause = func(_ context.Context, _ time.Duration) error {
				if tries++; tries < 3 {
					return nil
				}
				return io.EOF
			}
			b.must(storeCommand(url, "a.txt"))
			state := b.await("done", func(s protocol.State) bool { return !s.Uploading })
			if !strings.HasPrefix(state.StoreError, "storing a.txt: ") || strings.Contains(state.StoreError, "5ec2e7") || strings.Contains(state.StoreError, "bucket") {
				t.Errorf("StoreError = %q", state.StoreError)
			}
		})
	}
}

func TestStoreRefusesFilesThatAreNotHeld(t *testing.T) {
	b := holding(t, map[string]string{"a.txt": "text"})
	if status, _, text := b.command(storeCommand("http://127.0.0.1:1", "../a.txt")); status != http.StatusUnprocessableEntity {
		t.Errorf("answered %d: %s", status, text)
	}
}
