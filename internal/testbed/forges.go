package testbed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// GitHub fakes GitHub's API for the repository shop/checkout with pull request 7. It records commit statuses and comments.
type GitHub struct {
	t     *testing.T
	token string

	mu       sync.Mutex
	statuses []CommitStatus
	comments []string
	asked    int
}

// CommitStatus is a recorded status of a commit.
type CommitStatus struct{ Commit, State, Context, Description string }

// NewGitHub starts with no status, and one comment by another user. A wrong token fails the test.
func NewGitHub(t *testing.T, token string) *GitHub {
	t.Helper()
	return &GitHub{t: t, token: token, comments: []string{"Nice!"}}
}

// ServeHTTP implements http.Handler.
func (g *GitHub) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	if q.Header.Get("Authorization") != "Bearer "+g.token {
		g.t.Errorf("GitHub is shown %q", q.Header.Get("Authorization"))
	}
	var sent struct{ State, Context, Description, Body string }
	if q.Method != http.MethodGet {
		if err := json.NewDecoder(q.Body).Decode(&sent); err != nil {
			g.t.Errorf("%s %s has no body: %v", q.Method, q.URL, err)
		}
	}
	path := strings.TrimPrefix(q.URL.Path, "/repos/shop/checkout")
	switch commit, ofCommit := strings.CutPrefix(path, "/statuses/"); {
	case q.Method == http.MethodPost && ofCommit:
		g.statuses = append(g.statuses, CommitStatus{commit, sent.State, sent.Context, sent.Description})
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"creator": {"id": 1}}`)
	case q.Method == http.MethodGet && path == "/issues/7/comments":
		var list []map[string]any
		for i, body := range g.comments {
			list = append(list, map[string]any{"id": i + 1, "body": body, "user": map[string]any{"login": "somebody", "id": i}}) // The token's account makes the second.
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			g.t.Error(err)
		}
	case q.Method == http.MethodPost && path == "/issues/7/comments":
		g.comments = append(g.comments, sent.Body)
		w.WriteHeader(http.StatusCreated)
	case q.Method == http.MethodPatch && path == "/issues/comments/2":
		g.comments[1] = sent.Body
	default:
		g.t.Errorf("GitHub is asked for %s %s", q.Method, q.URL)
		http.NotFound(w, q)
	}
}

// Seen returns all statuses and comments, oldest first, and the number of requests.
func (g *GitHub) Seen() (statuses []CommitStatus, comments []string, asked int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.statuses), slices.Clone(g.comments), g.asked
}

// GitLab fakes GitLab's API for the project shop/checkout with merge request 7. It records commit statuses and notes.
type GitLab struct {
	t     *testing.T
	token string

	mu       sync.Mutex
	statuses []CommitStatus
	notes    []string
}

// NewGitLab starts with no status, and one note by another user. A wrong token fails the test.
func NewGitLab(t *testing.T, token string) *GitLab {
	t.Helper()
	return &GitLab{t: t, token: token, notes: []string{"Nice!"}}
}

// ServeHTTP implements http.Handler.
func (g *GitLab) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q.Header.Get("Private-Token") != g.token {
		g.t.Errorf("GitLab is shown %q", q.Header.Get("Private-Token"))
	}
	var sent struct{ State, Name, Description, Body string }
	if q.Method != http.MethodGet {
		if err := json.NewDecoder(q.Body).Decode(&sent); err != nil {
			g.t.Errorf("%s %s has no body: %v", q.Method, q.URL, err)
		}
	}
	const project = "/projects/shop%2Fcheckout"
	path := q.URL.EscapedPath()
	commit := strings.TrimPrefix(path, project+"/statuses/")
	switch q.Method + " " + path {
	case "POST " + project + "/statuses/" + commit:
		g.statuses = append(g.statuses, CommitStatus{commit, sent.State, sent.Name, sent.Description})
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"author": {"id": 1}}`)
	case "GET " + project + "/merge_requests/7/notes":
		var list []map[string]any
		for i, body := range g.notes {
			list = append(list, map[string]any{"id": i + 1, "body": body, "author": map[string]any{"id": i}}) // The token's account makes the second.
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			g.t.Error(err)
		}
	case "POST " + project + "/merge_requests/7/notes":
		g.notes = append(g.notes, sent.Body)
		w.WriteHeader(http.StatusCreated)
	case "PUT " + project + "/merge_requests/7/notes/2":
		g.notes[1] = sent.Body
	default:
		g.t.Errorf("GitLab is asked for %s %s", q.Method, q.URL)
		http.NotFound(w, q)
	}
}

// Seen returns all statuses and notes, oldest first.
func (g *GitLab) Seen() (statuses []CommitStatus, notes []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.statuses), slices.Clone(g.notes)
}
