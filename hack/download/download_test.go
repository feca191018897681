package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var programs = []string{"kube-apiserver", "kubectl"}

func pack(t *testing.T, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	files := tar.NewWriter(zipped)
	for _, name := range names {
		if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(name)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, end := range []func() error{files.Close, zipped.Close} {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func sumOf(body []byte) string {
	sum := sha512.Sum512(body)
	return hex.EncodeToString(sum[:])
}

// site starts a server with one answer for all requests.
func site(t *testing.T, status int, body []byte) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body) // Whoever asks may be gone.
	}))
	t.Cleanup(s.Close)
	return s.URL + "/envtest.tar.gz"
}

func left(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestLeavesTheProgramsOfAnArchive(t *testing.T) {
	folder := t.TempDir()
	old := filepath.Join(folder, "kubectl")
	if err := os.WriteFile(old, []byte("an older one, which is longer than the new one"), 0o755); err != nil {
		t.Fatal(err)
	}
	body := pack(t, "controller-tools/envtest/etcd", "controller-tools/envtest/kube-apiserver", "controller-tools/envtest/kubectl")
	if err := download(t.Context(), site(t, http.StatusOK, body), sumOf(body), folder, programs); err != nil {
		t.Fatal(err)
	}
	if got := left(t, folder); !slices.Equal(got, programs) {
		t.Errorf("the folder has %q, want %q", got, programs)
	}
	for _, name := range programs {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || string(text) != "controller-tools/envtest/"+name {
			t.Errorf("%s is %q, %v", name, text, err)
		}
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s cannot be run: %v", name, err)
		}
	}
}

func TestRefusesWhatItCannotTrustAndLeavesNothing(t *testing.T) {
	body := pack(t, "kube-apiserver", "kubectl")
	damaged := slices.Clone(body)
	damaged[len(damaged)/2] ^= 1
	for name, tc := range map[string]struct{ url, sum, want string }{
		"a damaged archive":           {site(t, http.StatusOK, damaged), sumOf(body), "is refused: its SHA-512 is " + sumOf(damaged) + ", expected " + sumOf(body)},
		"a page instead of an answer": {site(t, http.StatusNotFound, body), sumOf(body), "answers 404 Not Found"},
		"a site that is down":         {"http://127.0.0.1:1", sumOf(body), "connection refused"},
		"no archive":                  {site(t, http.StatusOK, []byte("log in first")), sumOf([]byte("log in first")), "invalid header"},
		"an archive without kubectl":  {site(t, http.StatusOK, pack(t, "etcd")), sumOf(pack(t, "etcd")), "it has no kube-apiserver, kubectl"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			err := download(t.Context(), tc.url, tc.sum, folder, programs)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it says %v, want %q", err, tc.want)
			}
			if got := left(t, folder); len(got) > 0 {
				t.Errorf("it leaves %q", got)
			}
		})
	}
}
