package notifications

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// lab is a server that behaves as the API of GitLab does by its documentation, as far as it is asked, and the suite that tells it.
type lab struct {
	*hubbub
	// set are the statuses of the commit, the oldest first.
	set []labStatus
}

// labStatus is a status of a commit in GitLab.
type labStatus struct {
	ID          int64  `json:"id"`
	State       string `json:"status"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Target      string `json:"target_url"`
	Author      author `json:"author"`
}

const (
	listsNotes = "GET /merge_requests/7/notes?order_by=created_at&sort=asc&per_page=100&page=1"
	makesNote  = "POST /merge_requests/7/notes"
	asksWhose  = "GET /api/v4/user"
	ofLab      = "loadstone/perf/checkout/forge"
	asksState  = "GET /repository/commits/" + commit + "/statuses?per_page=100&name=loadstone%2Fperf%2Fcheckout%2Fforge"
)

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{hubbub: newHubbub(t)}
	l.root, l.plays = "/api/v4/projects/shop%2Fweb%2Fcheckout", l.play
	l.sink = v1alpha1.Notification{Name: "forge", GitLab: v1alpha1.GitLabNotification{
		Project: "shop/web/checkout", APIURL: l.address + "/api/v4/", SecretRef: v1alpha1.KeyReference{Name: "checkout-github", Key: "token"},
		CommitParameter: "commit", MergeRequestParameter: "pull", Link: "https://bench.example/",
	}}
	return l
}

func (l *lab) play(w http.ResponseWriter, q *http.Request, path string) {
	note, ofNote := strings.CutPrefix(path, "/merge_requests/7/notes/")
	switch {
	case q.Header.Get("Authorization") != "":
		l.t.Errorf("the header is %v", q.Header)
	case q.Header.Get("Private-Token") != token:
		http.Error(w, `{"message": "401 Unauthorized"}`, http.StatusUnauthorized)
	case path == "/api/v4/user":
		fmt.Fprintf(w, `{"id": %d, "username": "project_42_bot"}`, ours)
	case path == q.URL.EscapedPath():
		http.Error(w, `{"message": "404 Project Not Found"}`, http.StatusNotFound)
	case q.Method == http.MethodPost && path == "/statuses/"+commit:
		l.sets(w, q)
	case q.Method == http.MethodPost && strings.HasPrefix(path, "/statuses/"):
		http.Error(w, `{"message": "404 Commit Not Found"}`, http.StatusNotFound)
	case q.Method == http.MethodGet && path == "/repository/commits/"+commit+"/statuses":
		l.writes(w, http.StatusOK, l.set)
	case q.Method == http.MethodGet && path == "/merge_requests/7/notes":
		l.lists(w, q)
	case q.Method == http.MethodPost && path == "/merge_requests/7/notes":
		l.comments = append(l.comments, comment{int64(1000 + len(l.comments)), l.body(q), author{ours}})
		w.WriteHeader(http.StatusCreated)
	case q.Method == http.MethodPut && ofNote:
		i := slices.IndexFunc(l.comments, func(c comment) bool { return note == strconv.FormatInt(c.ID, 10) })
		switch {
		case i < 0:
			http.Error(w, `{"message": "404 Not found"}`, http.StatusNotFound)
		case l.comments[i].User.ID != ours:
			http.Error(w, `{"message": "403 Forbidden"}`, http.StatusForbidden)
		default:
			l.comments[i].Body = l.body(q)
		}
	default:
		http.Error(w, `{"message": "404 Merge Request Not Found"}`, http.StatusNotFound)
	}
}

// sets sets the commit's status. The account's earlier pending or running status changes; otherwise a new one is created.
func (l *lab) sets(w http.ResponseWriter, q *http.Request) {
	var sent struct {
		State, Name, Description string
		Target                   string `json:"target_url"`
	}
	if err := json.NewDecoder(q.Body).Decode(&sent); err != nil {
		l.t.Error(err)
	}
	if !slices.Contains([]string{"pending", "running", "success", "failed", "canceled"}, sent.State) || utf8.RuneCountInString(sent.Description) > 255 || len(sent.Target) > 255 {
		l.t.Errorf("the status is %+v", sent)
	}
	s := labStatus{int64(len(l.set) + 1), sent.State, sent.Name, sent.Description, sent.Target, author{ours}}
	open := slices.IndexFunc(l.set, func(old labStatus) bool {
		return old.Author == s.Author && old.Name == s.Name && (old.State == "pending" || old.State == "running")
	})
	switch {
	case open < 0:
		l.set = append(l.set, s)
	case l.set[open].State == s.State:
		refuses(w, s.State)
		return
	default:
		s.ID, l.set[open] = l.set[open].ID, s
	}
	l.writes(w, http.StatusCreated, s)
}

func refuses(w http.ResponseWriter, state string) {
	http.Error(w, fmt.Sprintf(`{"message": "Cannot transition status via :hush from :%s (Reason(s): Status cannot transition via \"hush\")"}`, state), http.StatusBadRequest)
}

// lists shows a page of notes in the order that is asked for.
func (l *lab) lists(w http.ResponseWriter, q *http.Request) {
	type note struct {
		ID     int64  `json:"id"`
		Body   string `json:"body"`
		Author author `json:"author"`
		System bool   `json:"system"`
	}
	page, err := strconv.Atoi(q.URL.Query().Get("page"))
	if err != nil || q.URL.Query().Get("sort") != "asc" || q.URL.Query().Get("order_by") != "created_at" {
		l.t.Errorf("the notes are asked for by %q: the newest come first unless they are asked for in another order", q.URL.RawQuery)
	}
	from, to := min((page-1)*l.onPage, len(l.comments)), min(page*l.onPage, len(l.comments))
	if to < len(l.comments) {
		w.Header().Set("Link", `<https://elsewhere.example/steal?page=2>; rel="next", <https://elsewhere.example/?page=1>; rel="first"`)
	}
	notes := []note{}
	for _, c := range l.comments[from:to] {
		notes = append(notes, note{c.ID, c.Body, c.User, false})
	}
	l.writes(w, http.StatusOK, notes)
}

// body is the text of the note that is sent.
func (l *lab) body(q *http.Request) string {
	var sent struct{ Body string }
	if err := json.NewDecoder(q.Body).Decode(&sent); err != nil || sent.Body == "" {
		l.t.Errorf("the note is %q: %v", sent.Body, err)
	}
	return sent.Body
}

func (l *lab) writes(w http.ResponseWriter, status int, what any) {
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(what); err != nil {
		l.t.Error(err)
	}
}

func TestACommitOfGitLabHasItsStatusAndAMergeRequestOneNote(t *testing.T) {
	l := newLab(t)
	l.comments = []comment{{1, "Nice!", author{another}}}
	if a := l.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	l.wantAsked(setsStatus, listsNotes, makesNote)
	first := labStatus{1, "failed", ofLab, "missed: small: throughput 0.81, at least 0.95 wanted", "https://bench.example/", author{ours}}
	if !slices.Equal(l.set, []labStatus{first}) {
		t.Errorf("the statuses are %+v", l.set)
	}
	body := l.comments[1].Body
	for _, part := range []string{"## Loadstone: perf/checkout\n", "**Failure.** Missed: small: throughput 0.81", "| throughput | missed |", "[more](<https://bench.example/>)"} {
		if !strings.Contains(body, part) {
			t.Errorf("the note lacks %q:\n%s", part, body)
		}
	}
	// The next round replaces its own note only: other users can copy the marker.
	l.line.Round, l.line.Outcome, l.line.Message = 4, v1alpha1.RoundPassed, "all objectives met"
	l.comments = slices.Insert(l.comments, 1, comment{2, body, author{another}})
	if a := l.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	l.wantAsked(setsStatus, listsNotes, "PUT /merge_requests/7/notes/1001")
	if len(l.comments) != 3 || !strings.Contains(l.comments[2].Body, "**Success.** Passed: all objectives met") || l.comments[0].Body != "Nice!" || l.comments[1].Body != body {
		t.Errorf("the notes are %+v", l.comments)
	}
	if len(l.set) != 2 || l.set[1].State != "success" {
		t.Errorf("the statuses are %+v", l.set)
	}
	l.line.Noted[1].Value = "none"
	if a := l.tell(); a.Reason != "" {
		t.Errorf("the answer is %+v", a)
	}
	l.wantAsked(setsStatus)
}

// A project has a number, too, and one that is named by it needs no new name when it moves.
func TestAProjectOfGitLabIsNamedByItsNumber(t *testing.T) {
	l := newLab(t)
	l.sink.GitLab.Project, l.root = "42", "/api/v4/projects/42"
	if a := l.tell(); a.Reason != "" {
		t.Errorf("the answer is %+v", a)
	}
	l.wantAsked(setsStatus, listsNotes, makesNote)
}

func TestTheNoteIsFoundOnAnyPage(t *testing.T) {
	l := newLab(t)
	l.onPage = 10
	for i := range 25 {
		l.comments = append(l.comments, comment{int64(i), "words", author{another}})
	}
	second, third := strings.TrimSuffix(listsNotes, "1")+"2", strings.TrimSuffix(listsNotes, "1")+"3"
	for _, last := range []string{makesNote, "PUT /merge_requests/7/notes/1025"} {
		if a := l.tell(); a.Reason != "" {
			t.Fatalf("the answer is %+v", a)
		}
		l.wantAsked(setsStatus, listsNotes, second, third, last)
	}
}

// GitLab takes a line of a note that begins with a slash for an order, which it carries out with the rights of the token's account.
func TestNoLineOfANoteIsAnOrderToGitLab(t *testing.T) {
	l := newLab(t)
	l.stored["perf/a/reports/1/report.md"] = "/merge\n\r/close\n \t/assign @me\n| a/b | /c |\nsee https://bench.example/"
	if a := l.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	if body := l.comments[0].Body; !strings.Contains(body, "\n\\/merge\n\r\\/close\n \t\\/assign @me\n| a/b | /c |\nsee https://bench.example/\n") {
		t.Errorf("the note is %q", body)
	}
}

// GitLab refuses to set pending or running again; the status is then right already.
func TestAStatusOfGitLabThatStandsIsNotSetAgain(t *testing.T) {
	theirs := labStatus{9, "failed", ofLab, "", "", author{another}}
	for what, tc := range map[string]struct {
		set     []labStatus
		message string
		after   []string
	}{
		"it stands":                      {[]labStatus{{1, "running", ofLab, "", "", author{ours}}, {2, "failed", ofLab, "", "", author{ours}}, theirs}, "", []string{listsNotes, makesNote}},
		"it stood":                       {[]labStatus{{2, "running", ofLab, "", "", author{ours}}, {1, "failed", ofLab, "", "", author{ours}}}, "it does not allow a change from running", nil},
		"that of another account stands": {[]labStatus{theirs}, "it does not allow a change from nothing", nil},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			l.set = tc.set
			l.first = func(w http.ResponseWriter, q *http.Request) bool {
				set := q.Method == http.MethodPost && strings.HasSuffix(q.URL.Path, commit)
				if set {
					refuses(w, "failed")
				}
				return set
			}
			a := l.tell()
			l.wantAsked(append([]string{setsStatus, asksWhose, asksState}, tc.after...)...)
			if want := "answers 400 Bad Request to the commit status: " + tc.message + " to failed"; tc.message != "" && (a.Message != want || a.Final) {
				t.Errorf("the answer is %+v, want %q", a, want)
			} else if tc.message == "" && a.Reason != "" {
				t.Errorf("the answer is %+v", a)
			}
		})
	}
}

// answers lets a request be answered with a status, a body and a header, as GitLab answers where it refuses.
func answers(request string, status int, body string, header ...string) func(*lab) {
	return func(l *lab) {
		l.first = func(w http.ResponseWriter, _ *http.Request) bool {
			if l.asked[len(l.asked)-1] != request {
				return false
			}
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			http.Error(w, body, status)
			return true
		}
	}
}

func TestWhatGitLabRefuses(t *testing.T) {
	const limited = "answers 429 Too Many Requests: rate limit exceeded; retried when the limit is reset"
	in := func(d time.Duration) string { return strconv.FormatInt(noon.Add(d).Unix(), 10) }
	for name, tc := range map[string]struct {
		change  func(*lab)
		message string
		after   time.Duration
		final   bool
		// requests is how many GitLab is asked.
		requests int
	}{
		"a token that it does not know": {
			func(l *lab) { l.secret.Data["token"] = []byte("glpat-hush_of_yesterday") },
			"answers 401 Unauthorized: the token of gitLab.secretRef is invalid or expired: put a new one into the Secret checkout-github", 0, false, 1,
		},
		"a token that may not set statuses": {
			answers(setsStatus, http.StatusForbidden, `{"error": "insufficient_scope", "scope": "hush"}`),
			"answers 403 Forbidden to the commit status: the token of gitLab.secretRef needs the scope api, and its account the role Developer in gitLab.project" +
				" and, if the commit's branch is protected, the right to push or merge there", 0, false, 1,
		},
		"a commit of a protected branch": {
			answers(setsStatus, http.StatusForbidden, `{"message": "403 Forbidden"}`),
			"answers 403 Forbidden to the commit status: the token of gitLab.secretRef needs the scope api, and its account the role Developer in gitLab.project" +
				" and, if the commit's branch is protected, the right to push or merge there", 0, true, 1,
		},
		"a project that it does not show": {
			func(l *lab) { l.sink.GitLab.Project = "shop/chekout" },
			"answers 404 Not Found to the commit status: gitLab.project does not exist, or the token of gitLab.secretRef may not see it", 0, false, 1,
		},
		"a commit that is not there": {
			func(l *lab) { l.line.Noted[0].Value = strings.Repeat("0", 40) },
			"answers 404 Not Found to the commit status: shop/web/checkout has no commit 0000000000000000000000000000000000000000 in any branch: correct parameter commit",
			0, true, 1,
		},
		"a commit that is in no branch": {
			answers(setsStatus, http.StatusNotFound, `{"message": "404 References for commit Not Found"}`),
			"answers 404 Not Found to the commit status: shop/web/checkout has no commit " + commit + " in any branch: correct parameter commit",
			0, true, 1,
		},
		"another who sets it now": {
			answers(setsStatus, http.StatusConflict, `{"message": "hush"}`), "answers 409 Conflict to the commit status", 0, false, 1,
		},
		"a merge request without a number": {
			func(l *lab) { l.line.Noted[1].Value = "!7" },
			`has the status of the commit but no comment: the value of pull is "!7". Use the number of a merge request, or none, with the pattern [1-9][0-9]*|none`,
			0, true, 1,
		},
		"a merge request that is not there": {
			func(l *lab) { l.line.Noted[1].Value = "8" },
			"answers 404 Not Found to the comment, but has the commit status: shop/web/checkout has no merge request 8, or the token of gitLab.secretRef may not see it: correct parameter pull",
			0, true, 2,
		},
		"a discussion that is locked": {
			answers(makesNote, http.StatusForbidden, `{"message": "403 Forbidden"}`),
			"answers 403 Forbidden to the comment, but has the commit status: allow the account of gitLab.secretRef's token to comment on merge requests of gitLab.project, or unlock the discussion",
			0, true, 3,
		},
		"a token that may not write notes": {
			answers(makesNote, http.StatusForbidden, `{"error": "insufficient_scope", "scope": "hush"}`),
			"answers 403 Forbidden to the comment, but has the commit status: allow the account of gitLab.secretRef's token to comment on merge requests of gitLab.project, or unlock the discussion",
			0, false, 3,
		},
		"more notes than it takes": {
			answers(makesNote, http.StatusBadRequest, `{"message": "hush"}`),
			"answers 400 Bad Request to the comment, but has the commit status: the comment on merge request 7 is not accepted, or there are too many", 0, true, 3,
		},
		"more requests than it takes, in seconds": {
			answers(setsStatus, http.StatusTooManyRequests, "Retry later", "Retry-After", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", in(time.Hour)),
			limited, 2*time.Minute + time.Second, false, 1,
		},
		"more requests than it takes until then": {
			answers(listsNotes, http.StatusTooManyRequests, "Retry later", "RateLimit-Remaining", "0", "RateLimit-Reset", in(5*time.Minute)),
			limited, 5*time.Minute + time.Second, false, 2,
		},
		"more notes than it takes in a minute": {
			answers(makesNote, http.StatusTooManyRequests, `{"message": {"error": "This endpoint has been requested too many times. Try again later."}}`),
			limited, time.Minute, false, 3,
		},
		"trouble of its own": {
			answers(setsStatus, http.StatusBadGateway, "hush"), "answers 502 Bad Gateway", 0, false, 1,
		},
		"a project with another name": {
			answers(setsStatus, http.StatusMovedPermanently, "", "Location", "https://elsewhere.example/steal"),
			"answers 301 Moved Permanently; redirects are not followed: correct gitLab.project or gitLab.apiURL", 0, false, 1,
		},
		"a note that was deleted meanwhile": {
			func(l *lab) {
				l.comments = []comment{{9, notify.Marker(l.suite, l.sink.Name, notify.Place{Repository: "shop/web/checkout", Pull: "7"}) + "\n", author{ours}}}
				answers("PUT /merge_requests/7/notes/9", http.StatusNotFound, `{"message": "404 Not found"}`)(l)
			},
			"answers 404 Not Found to the comment, which existed a moment before", 0, false, 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			tc.change(l)
			a := l.tell()
			if a.Reason != v1alpha1.ReasonSinkRefused || a.Message != tc.message || a.After != tc.after || a.Final != tc.final {
				t.Errorf("got %+v, want %+v", a, tc)
			}
			if len(l.asked) != tc.requests {
				t.Errorf("GitLab was asked for %q", l.asked)
			}
		})
	}
}

// What one notification was asked to wait for, no other asks with the same token.
func TestWhatGitLabAskedOneToWaitIsAskedByNoOther(t *testing.T) {
	l := newLab(t)
	answers(setsStatus, http.StatusTooManyRequests, "Retry later", "Retry-After", "90")(l)
	g := l.forges(l.way)
	if a, err := l.says(g); err != nil || a.After != 91*time.Second {
		t.Errorf("the answer is %+v, %v", a, err)
	}
	l.sink.Name = "another"
	const alone = "is paused: another notification exceeded the rate limit of the token in gitLab.secretRef"
	if a, err := l.says(g); err != nil || a.Message != alone {
		t.Errorf("the answer is %+v, %v", a, err)
	}
	l.wantAsked(setsStatus)
}
