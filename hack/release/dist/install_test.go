package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The programs that install.sh runs, besides its loaders.
var needed = []string{"sh", "awk", "chmod", "cp", "gzip", "mkdir", "mktemp", "mv", "openssl", "rm", "sha256sum", "tar"}

// system is a machine that install.sh runs on, and the release that it downloads.
type system struct {
	os, cpu string
	// loader downloads: curl or wget.
	loader string
	// files are those of the release by name.
	files map[string][]byte
	// key signed the release.
	key *ecdsa.PrivateKey
	// home is the user's folder.
	home string
}

const linuxArchive = "loadstone_0.1.0_linux_amd64.tar.gz"

func published(t *testing.T) *system {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &system{os: "Linux", cpu: "x86_64", loader: "curl", files: map[string][]byte{}, key: key, home: t.TempDir()}
	for _, p := range platforms {
		s.files[fmt.Sprintf("loadstone_0.1.0_%s_%s.tar.gz", p.os, p.cpu)] = packed(t, "loadstone", "#!/bin/sh\necho loadstone 0.1.0 "+p.os+" "+p.cpu+"\n")
	}
	s.list(t)
	return s
}

func packed(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	_, err := w.Write([]byte(text))
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// list writes and signs the checksums of the archives.
func (s *system) list(t *testing.T) {
	t.Helper()
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if strings.HasSuffix(name, ".tar.gz") {
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(s.files[name]), name)
		}
	}
	hash := sha256.Sum256([]byte(sums.String()))
	signature, err := ecdsa.SignASN1(rand.Reader, s.key, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	s.files["checksums.txt"] = []byte(sums.String())
	s.files["checksums.txt.sig"] = []byte(base64.StdEncoding.EncodeToString(signature))
}

// public writes the release's public key into a file.
func (s *system) public(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(&s.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "loadstone.pub")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// programs returns a folder with the system's programs and a uname that names this system.
func (s *system) programs(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range append([]string{s.loader}, needed...) {
		path, err := exec.LookPath(name)
		if err != nil && os.Getenv("CI") == "" {
			t.Skipf("%s is not in PATH", name)
		}
		if err := errors.Join(err, os.Symlink(path, filepath.Join(bin, name))); err != nil {
			t.Fatal(err)
		}
	}
	uname := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = -s ] && echo %s || echo %s\n", s.os, s.cpu)
	if err := os.WriteFile(filepath.Join(bin, "uname"), []byte(uname), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

// install runs the release's install.sh, and returns its output.
func (s *system) install(t *testing.T, args ...string) (string, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := s.files[strings.TrimPrefix(r.URL.Path, "/0.1.0/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	script, err := release{Version: "0.1.0", Downloads: server.URL + "/0.1.0"}.script()
	if err != nil {
		t.Fatal(err)
	}
	return s.sh(t, script, args...)
}

// sh runs a script as "curl | sh" would.
func (s *system) sh(t *testing.T, script string, args ...string) (string, error) {
	t.Helper()
	tmp := t.TempDir()
	c := exec.CommandContext(t.Context(), "sh", append([]string{"-s", "--"}, args...)...)
	c.Dir = s.home
	c.Stdin = strings.NewReader(script)
	c.Env = []string{"PATH=" + s.programs(t), "HOME=" + s.home, "TMPDIR=" + tmp}
	out, err := c.CombinedOutput()
	if left, e := os.ReadDir(tmp); e != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, e)
	}
	return string(out), err
}

// installed returns what the program in a folder prints, and fails if other files are there.
func installed(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%s has %v, %v", dir, entries, err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "loadstone"), "version").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestInstallerInstallsTheArchiveOfThePlatform(t *testing.T) {
	for _, c := range []struct{ os, cpu, loader, want string }{
		{"Linux", "x86_64", "curl", "linux amd64"},
		{"Linux", "aarch64", "wget", "linux arm64"},
		{"Darwin", "x86_64", "curl", "darwin amd64"},
		{"Darwin", "arm64", "curl", "darwin arm64"},
	} {
		t.Run(c.want+" with "+c.loader, func(t *testing.T) {
			s := published(t)
			s.os, s.cpu, s.loader = c.os, c.cpu, c.loader
			out, err := s.install(t)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			dir := filepath.Join(s.home, ".local", "bin")
			if got := installed(t, dir); got != "loadstone 0.1.0 "+c.want {
				t.Errorf("installed %q", got)
			}
			for _, want := range []string{"Installed loadstone 0.1.0", "Signature: not checked", dir + " is not in PATH", "To remove it: rm " + dir + "/loadstone"} {
				if !strings.Contains(out, want) {
					t.Errorf("it does not say %q:\n%s", want, out)
				}
			}
		})
	}
}

func TestInstallerReplacesAnOlderProgramInAnotherFolder(t *testing.T) {
	s := published(t)
	dir := filepath.Join(s.home, "my programs")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "loadstone"), []byte("#!/bin/sh\necho old\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if out, err := s.install(t, "--dir", "my programs", "--key", s.public(t)); err != nil || !strings.Contains(out, "Signature: checked with ") {
		t.Fatalf("%v: %s", err, out)
	}
	if got := installed(t, dir); got != "loadstone 0.1.0 linux amd64" {
		t.Errorf("installed %q", got)
	}
}

// refusals are the changes that install.sh must refuse, each with one sentence.
var refusals = map[string]struct {
	change func(*testing.T, *system)
	args   []string
	want   string
}{
	"unknown system":           {func(_ *testing.T, s *system) { s.os = "FreeBSD" }, nil, "there is no loadstone for FreeBSD: use Linux or macOS"},
	"unknown CPU":              {func(_ *testing.T, s *system) { s.cpu = "riscv64" }, nil, "there is no loadstone for the CPU riscv64: use amd64 or arm64"},
	"missing checksums":        {func(_ *testing.T, s *system) { delete(s.files, "checksums.txt") }, nil, "/0.1.0/checksums.txt ("},
	"missing archive":          {func(_ *testing.T, s *system) { delete(s.files, linuxArchive) }, nil, "/0.1.0/" + linuxArchive + " ("},
	"missing archive and wget": {func(_ *testing.T, s *system) { delete(s.files, linuxArchive); s.loader = "wget" }, nil, "/0.1.0/" + linuxArchive + ": check"},
	"unlisted archive": {func(t *testing.T, s *system) {
		t.Helper()
		archive := s.files[linuxArchive]
		delete(s.files, linuxArchive)
		s.list(t)
		s.files[linuxArchive] = archive
	}, nil, "checksums.txt does not list " + linuxArchive},
	"tampered archive": {func(t *testing.T, s *system) {
		t.Helper()
		s.files[linuxArchive] = packed(t, "loadstone", "#!/bin/sh\necho evil\n")
	}, nil, "but checksums.txt says"},
	"archive without the program": {func(t *testing.T, s *system) {
		t.Helper()
		s.files[linuxArchive] = packed(t, "other", "")
		s.list(t)
	}, nil, "has no program loadstone"},
	"program that does not start": {func(t *testing.T, s *system) {
		t.Helper()
		s.files[linuxArchive] = packed(t, "loadstone", "#!/bin/sh\nexit 1\n")
		s.list(t)
	}, nil, "does not start"},
	"missing key":       {func(*testing.T, *system) {}, []string{"--key", "/nowhere/loadstone.pub"}, "cannot read the key /nowhere/loadstone.pub"},
	"unknown option":    {func(*testing.T, *system) {}, []string{"--prefix", "/usr"}, "usage: install.sh"},
	"option of no use":  {func(*testing.T, *system) {}, []string{"--dir"}, "usage: install.sh"},
	"folder of no file": {func(*testing.T, *system) {}, []string{"--dir", "/dev/null/bin"}, "cannot create the folder /dev/null/bin"},
}

func TestInstallerRefusesInOneSentence(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := published(t)
			c.change(t, s)
			out, err := s.install(t, c.args...)
			if err == nil || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "install.sh: ") || !strings.Contains(out, c.want) {
				t.Errorf("%v, want %q:\n%s", err, c.want, out)
			}
			if entries, err := os.ReadDir(filepath.Join(s.home, ".local", "bin")); err == nil && len(entries) > 0 {
				t.Errorf("it left %v", entries)
			}
		})
	}
}

func TestInstallerRefusesChecksumsThatTheKeyDidNotSign(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *system){
		"other key": func(t *testing.T, s *system) {
			t.Helper()
			s.files["checksums.txt.sig"] = published(t).files["checksums.txt.sig"]
		},
		"changed":   func(_ *testing.T, s *system) { s.files["checksums.txt"] = append(s.files["checksums.txt"], '\n') },
		"no base64": func(_ *testing.T, s *system) { s.files["checksums.txt.sig"] = []byte("<html>") },
		"missing":   func(_ *testing.T, s *system) { delete(s.files, "checksums.txt.sig") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := published(t)
			key := s.public(t)
			change(t, s)
			if out, err := s.install(t, "--key", key); err == nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, "checksums.txt") {
				t.Errorf("%v:\n%s", err, out)
			}
			if out, err := s.install(t); err != nil {
				t.Errorf("without a key: %v:\n%s", err, out)
			}
		})
	}
}

func TestInstallerOfNoReleaseAndPartOfAnInstallerDoNothing(t *testing.T) {
	s := published(t)
	text, err := os.ReadFile(installer)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.sh(t, string(text)); err == nil || !strings.Contains(out, "belongs to no release") {
		t.Errorf("%v: %s", err, out)
	}
	part, _, _ := strings.Cut(string(text), "\nmain ")
	if out, err := s.sh(t, part); err != nil || out != "" {
		t.Errorf("%v: %s", err, out)
	}
}
