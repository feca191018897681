package gitops

import (
	"io"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a Git repository, served as Git itself serves it by HTTP, and a folder in which a team works on it.
type repository struct {
	t      *testing.T
	folder string
	url    string
}

// newRepository has the files of config/gitops/flux, which are not committed yet.
func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t: t, folder: t.TempDir()}
	served := filepath.Join(t.TempDir(), "checkout.git")
	r.git("init", "--quiet", "--bare", "--initial-branch=main", served)
	r.git("init", "--quiet", "--initial-branch=main")
	r.git("remote", "add", "origin", served)
	if err := os.CopyFS(r.folder, os.DirFS(layout)); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(r.git("--exec-path"), "git-http-backend"), Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(served), "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"},
	})
	t.Cleanup(server.Close)
	r.url = server.URL + "/checkout.git"
	return r
}

// git runs Git in the folder, without the settings of whoever runs the test, and returns what it prints.
func (r *repository) git(args ...string) string {
	r.t.Helper()
	c := exec.CommandContext(r.t.Context(), "git", args...)
	c.Dir = r.folder
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=team", "GIT_AUTHOR_EMAIL=team@shop.example", "GIT_COMMITTER_NAME=team", "GIT_COMMITTER_EMAIL=team@shop.example")
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// edit replaces a text of a file, which must be there.
func (r *repository) edit(file, old, with string) {
	r.t.Helper()
	path := filepath.Join(r.folder, filepath.FromSlash(file))
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		r.t.Fatalf("%s does not say %q", file, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old, with)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// commit commits and pushes everything, and returns the revision as Flux names it.
func (r *repository) commit(message string) string {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--allow-empty", "--message", message)
	r.git("push", "--quiet", "origin", "main")
	return "main@sha1:" + r.git("rev-parse", "HEAD")
}
