package flux

import (
	"io"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/testbed"
)

// Repository is a Git repository that Git serves by HTTP on loopback, and a working copy.
type Repository struct {
	// T is the current test or subtest.
	T *testing.T
	// URL is where it is served.
	URL    string
	folder string
}

// NewRepository has no files and no commit.
func NewRepository(t *testing.T) *Repository {
	t.Helper()
	testbed.Programs(t, "git")
	r := &Repository{T: t, folder: t.TempDir()}
	served := filepath.Join(t.TempDir(), "checkout.git")
	r.git("init", "--quiet", "--bare", "--initial-branch=main", served)
	r.git("init", "--quiet", "--initial-branch=main")
	r.git("remote", "add", "origin", served)
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(r.git("--exec-path"), "git-http-backend"), Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(served), "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"},
	})
	t.Cleanup(server.Close)
	r.URL = server.URL + "/checkout.git"
	return r
}

// git runs Git in the working copy, without the user's settings, and returns its output.
func (r *Repository) git(args ...string) string {
	r.T.Helper()
	c := exec.CommandContext(r.T.Context(), "git", args...)
	c.Dir = r.folder
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=team", "GIT_AUTHOR_EMAIL=team@shop.example", "GIT_COMMITTER_NAME=team", "GIT_COMMITTER_EMAIL=team@shop.example")
	out, err := c.CombinedOutput()
	if err != nil {
		r.T.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Path is the path of a file, which may not exist yet.
func (r *Repository) Path(file string) string {
	return filepath.Join(r.folder, filepath.FromSlash(file))
}

// Copy copies the files of a folder.
func (r *Repository) Copy(folder string) {
	r.T.Helper()
	if err := os.CopyFS(r.folder, os.DirFS(folder)); err != nil {
		r.T.Fatal(err)
	}
}

// Write writes a file.
func (r *Repository) Write(file, text string) {
	r.T.Helper()
	if err := os.MkdirAll(filepath.Dir(r.Path(file)), 0o750); err != nil {
		r.T.Fatal(err)
	}
	if err := os.WriteFile(r.Path(file), []byte(text), 0o600); err != nil {
		r.T.Fatal(err)
	}
}

// Edit replaces a text of a file. It fails if the text is missing.
func (r *Repository) Edit(file, old, with string) {
	r.T.Helper()
	text, err := os.ReadFile(r.Path(file))
	if err != nil {
		r.T.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		r.T.Fatalf("%s does not say %q", file, old)
	}
	r.Write(file, strings.ReplaceAll(string(text), old, with))
}

// Commit commits everything, and returns the commit's 40 hexadecimal digits.
func (r *Repository) Commit(message string) string {
	r.T.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--allow-empty", "--message", message)
	return r.git("rev-parse", "HEAD")
}

// Push commits and pushes everything, and returns the revision in Flux' form.
func (r *Repository) Push(message string) string {
	r.T.Helper()
	commit := r.Commit(message)
	r.git("push", "--quiet", "origin", "main")
	return "main@sha1:" + commit
}
