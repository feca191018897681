package notifications

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/controllers/outbound"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite/notify"
)

const (
	commit = "1a2b3c4d5e6f708192a3b4c5d6e7f80912a3b4c5"
	token  = "ghs_hush"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// hubbub is a server that behaves as the API of GitHub does, as far as it is asked, and the suite that tells it.
type hubbub struct {
	t       *testing.T
	address string
	way     *http.Transport
	// first answers a request before GitHub does; nil or false leaves it to GitHub.
	first func(w http.ResponseWriter, q *http.Request) bool
	// asked are the requests that came, such as "POST /statuses/abc", and statuses what commits were given.
	asked    []string
	statuses []notify.CommitStatus
	// comments are those of pull request 7, the oldest first.
	comments []comment
	// nobody: GitHub does not name the token's account.
	nobody bool
	// onPage is how many comments a page has at most.
	onPage int
	// root is where the repository is in the API, and plays answers what first has not.
	root   string
	plays  func(w http.ResponseWriter, q *http.Request, path string)
	secret corev1.Secret
	// forbidden is why the Secret is not read; nil if it is.
	forbidden error
	stored    map[string]string
	// away is why the store gives nothing; nil if it does.
	away error
	sink v1alpha1.Notification
	line v1alpha1.SuiteRound
	// came is when the later commit came; nil for the round's own.
	came  *metav1.Time
	suite *v1alpha1.BenchmarkSuite
}

type comment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	// User is who has made it, on GitHub.
	User author `json:"user"`
}

// ours is the account of the token, and another that of an attacker.
const ours, another = 41898282, 666

func newHubbub(t *testing.T) *hubbub {
	t.Helper()
	h := &hubbub{t: t, onPage: 100, stored: map[string]string{"perf/a/reports/1/report.md": "| throughput | missed |"}}
	server := httptest.NewTLSServer(http.HandlerFunc(h.serve))
	t.Cleanup(server.Close)
	h.way = server.Client().Transport.(*http.Transport)
	h.address = server.URL
	h.secret = corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout-github"}, Data: map[string][]byte{"token": []byte(token + "\n")}}
	h.root, h.plays = "/api/v3/repos/shop/checkout", h.playsGitHub
	h.sink = v1alpha1.Notification{Name: "forge", GitHub: v1alpha1.GitHubNotification{
		Repository: "shop/checkout", APIURL: server.URL + "/api/v3", SecretRef: v1alpha1.KeyReference{Name: "checkout-github", Key: "token"},
		CommitParameter: "commit", PullRequestParameter: "pull", Link: "https://bench.example/",
	}}
	h.line = v1alpha1.SuiteRound{
		Round: 3, Outcome: v1alpha1.RoundMissed, Message: "small: throughput 0.81, at least 0.95 wanted", StartTime: &metav1.Time{Time: noon}, CompletionTime: &metav1.Time{Time: noon},
		Noted: []v1alpha1.ParameterValue{{Name: "commit", Value: commit}, {Name: "pull", Value: "7"}},
	}
	h.suite = &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "7d0e"}}
	return h
}

func (h *hubbub) Get(_ context.Context, key, _ string) ([]byte, error) {
	text, there := h.stored[key]
	switch {
	case h.away != nil:
		return nil, h.away
	case !there:
		return nil, fmt.Errorf("reading %s: %w", key, artifact.ErrNotFound)
	}
	return []byte(text), nil
}

func (h *hubbub) serve(w http.ResponseWriter, q *http.Request) {
	path := strings.TrimPrefix(q.URL.EscapedPath(), h.root)
	h.asked = append(h.asked, strings.TrimSuffix(q.Method+" "+path+"?"+q.URL.RawQuery, "?"))
	if q.Header.Get("User-Agent") != "loadstone" {
		h.t.Errorf("the header is %v", q.Header)
	}
	if h.first == nil || !h.first(w, q) {
		h.plays(w, q, path)
	}
}

func (h *hubbub) playsGitHub(w http.ResponseWriter, q *http.Request, path string) {
	below := path != q.URL.EscapedPath()
	if q.Header.Get("Accept") != "application/vnd.github+json" || q.Header.Get("Private-Token") != "" {
		h.t.Errorf("the header is %v", q.Header)
	}
	var sent struct {
		notify.CommitStatus
		Body string `json:"body"`
	}
	if q.Method != http.MethodGet {
		if err := json.NewDecoder(q.Body).Decode(&sent); err != nil {
			h.t.Errorf("%s has no body: %v", path, err)
		}
	}
	switch {
	case q.Header.Get("Authorization") != "Bearer "+token:
		http.Error(w, `{"message": "Bad credentials"}`, http.StatusUnauthorized)
	case !below:
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
	case q.Method == http.MethodPost && path == "/statuses/"+commit:
		h.statuses = append(h.statuses, sent.CommitStatus)
		w.WriteHeader(http.StatusCreated)
		if !h.nobody {
			fmt.Fprintf(w, `{"id": 1, "state": %q, "creator": {"login": "loadstone[bot]", "id": %d, "type": "Bot"}}`, sent.State, ours)
		}
	case q.Method == http.MethodPost && strings.HasPrefix(path, "/statuses/"):
		http.Error(w, `{"message": "No commit found for SHA"}`, http.StatusUnprocessableEntity)
	case q.Method == http.MethodGet && path == "/issues/7/comments":
		h.list(w, q)
	case q.Method == http.MethodPost && path == "/issues/7/comments":
		h.comments = append(h.comments, comment{int64(1000 + len(h.comments)), sent.Body, author{ours}})
		w.WriteHeader(http.StatusCreated)
	case q.Method == http.MethodPatch && strings.HasPrefix(path, "/issues/comments/"):
		i := slices.IndexFunc(h.comments, func(c comment) bool { return path == fmt.Sprintf("/issues/comments/%d", c.ID) })
		if i < 0 {
			http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
			return
		}
		h.comments[i].Body = sent.Body
	default:
		http.Error(w, `{"message": "Not Found"}`, http.StatusNotFound)
	}
}

// list shows a page of comments, and whether there is another.
func (h *hubbub) list(w http.ResponseWriter, q *http.Request) {
	page, err := strconv.Atoi(q.URL.Query().Get("page"))
	if err != nil {
		h.t.Errorf("the page is %q", q.URL.RawQuery)
	}
	from := min((page-1)*h.onPage, len(h.comments))
	to := min(page*h.onPage, len(h.comments))
	if to < len(h.comments) {
		w.Header().Set("Link", `<https://elsewhere.example/steal?page=2>; rel="next", <https://elsewhere.example/?page=9>; rel="last"`)
	}
	shown := h.comments[from:to]
	if shown == nil {
		shown = []comment{}
	}
	if err := json.NewEncoder(w).Encode(shown); err != nil {
		h.t.Error(err)
	}
}

func (h *hubbub) tell() notify.Answer {
	h.t.Helper()
	a, err := h.tells(h.way)
	if err != nil {
		h.t.Error(err)
	}
	if strings.Contains(a.Message, "hush") || strings.Contains(a.Message, h.address) {
		h.t.Errorf("the answer shows what it should not: %s", a.Message)
	}
	return a
}

func (h *hubbub) tells(way http.RoundTripper) (notify.Answer, error) {
	h.t.Helper()
	return h.says(h.forges(way))
}

// forges is who tells the forge, and knows nothing yet.
func (h *hubbub) forges(way http.RoundTripper) *Forges {
	c := fake.NewClientBuilder().WithObjects(&h.secret).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if h.forbidden != nil {
				return h.forbidden
			}
			return c.Get(ctx, key, o, options...)
		},
	}).Build()
	return &Forges{Live: c, Reports: h, Way: way, Now: func() time.Time { return noon }}
}

func (h *hubbub) says(g *Forges) (notify.Answer, error) {
	h.t.Helper()
	e := notify.EventOf(h.suite, h.line, nil, []notify.Run{{Name: "small", BenchmarkRun: "checkout-1-00", Verdict: "slower", Report: "s3://bench/perf/a/reports/1/report.html"}})
	e.Data.MeasuredBefore = h.came != nil
	return g.Tell(h.t.Context(), h.suite, notify.Due{Sink: h.sink, Round: h.line, FirstSeenTime: h.came}, e)
}

// wantAsked wants GitHub to have been asked for some things, and no others.
func (h *hubbub) wantAsked(want ...string) {
	h.t.Helper()
	if !slices.Equal(h.asked, want) {
		h.t.Errorf("GitHub was asked for %q, want %q", h.asked, want)
	}
	h.asked = nil
}

const (
	setsStatus = "POST /statuses/" + commit
	listsFirst = "GET /issues/7/comments?per_page=100&page=1"
	comments   = "POST /issues/7/comments"
)

func TestACommitHasItsStatusAndAPullRequestOneComment(t *testing.T) {
	h := newHubbub(t)
	h.comments = []comment{{1, "Nice!", author{another}}}
	if a := h.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	h.wantAsked(setsStatus, listsFirst, comments)
	want := notify.CommitStatus{State: "failure", Description: "missed: small: throughput 0.81, at least 0.95 wanted", Context: "loadstone/perf/checkout/forge", Target: "https://bench.example/"}
	if len(h.statuses) != 1 || h.statuses[0] != want {
		t.Errorf("the statuses are %+v", h.statuses)
	}
	body := h.comments[1].Body
	for _, part := range []string{"## Loadstone: perf/checkout\n", "**Failure.** Missed: small: throughput 0.81", "| throughput | missed |", "[more](<https://bench.example/>)"} {
		if !strings.Contains(body, part) {
			t.Errorf("the comment lacks %q:\n%s", part, body)
		}
	}
	// The next round replaces its own comment, not another user's.
	h.line.Round, h.line.Outcome, h.line.Message = 4, v1alpha1.RoundPassed, "all objectives met"
	h.comments = append(h.comments, comment{3, "> " + h.comments[1].Body, author{another}}, comment{4, h.comments[1].Body, author{ours}})
	if a := h.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	h.wantAsked(setsStatus, listsFirst, "PATCH /issues/comments/1001")
	if len(h.comments) != 4 || !strings.Contains(h.comments[1].Body, "**Success.** Passed: all objectives met") || h.comments[0].Body != "Nice!" || h.comments[3].Body != body {
		t.Errorf("the comments are %+v", h.comments)
	}
	if len(h.statuses) != 2 || h.statuses[1].State != "success" {
		t.Errorf("the statuses are %+v", h.statuses)
	}
}

// For a commit that started no round, status and comment say that its inputs were measured before.
func TestACommitThatWasMeasuredBeforeIsToldSo(t *testing.T) {
	h := newHubbub(t)
	h.came = &metav1.Time{Time: noon.Add(time.Hour)}
	if a := h.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	h.wantAsked(setsStatus, listsFirst, comments)
	if want := "measured before, in round 3: missed: small: throughput 0.81, at least 0.95 wanted"; len(h.statuses) != 1 || h.statuses[0].Description != want || h.statuses[0].State != "failure" {
		t.Errorf("the statuses are %+v", h.statuses)
	}
	if body := h.comments[0].Body; !strings.Contains(body, "**Failure.** Measured before, in round 3: missed: small: ") || !strings.Contains(body, "| throughput | missed |") {
		t.Errorf("the comment is %s", body)
	}
}

func TestACommitWithoutAPullRequestHasNoComment(t *testing.T) {
	h := newHubbub(t)
	h.line.Noted[1].Value = "none"
	h.away = errors.New("nobody asks the store")
	if a := h.tell(); a.Reason != "" {
		t.Errorf("the answer is %+v", a)
	}
	h.wantAsked(setsStatus)
}

func TestTheCommentIsFoundOnAnyPage(t *testing.T) {
	h := newHubbub(t)
	h.onPage = 10
	for i := range 25 {
		h.comments = append(h.comments, comment{int64(i), strings.Repeat("ö", 30_000), author{another}})
	}
	if a := h.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	all := []string{setsStatus, listsFirst, "GET /issues/7/comments?per_page=100&page=2", "GET /issues/7/comments?per_page=100&page=3"}
	h.wantAsked(append(all, comments)...)
	if a := h.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	h.wantAsked(append(all, "PATCH /issues/comments/1025")...)
	// Where it may be, and is not within bounds, none is made each time.
	h.comments, h.onPage = h.comments[:20], 1
	if a := h.tell(); !a.Final || a.Message != "has the commit status but no comment: the first 10 pages of comments of pull request 7 have none of the suite, and more are not read" {
		t.Errorf("the answer is %+v", a)
	}
	if len(h.asked) != 1+maxPages || len(h.comments) != 20 {
		t.Errorf("GitHub was asked for %q", h.asked)
	}
}

// Other users can copy the comment's marker, but must not get the suite's text under their name, where they could change it.
func TestACommentOfAnotherAccountIsLeftAlone(t *testing.T) {
	h := newHubbub(t)
	copied := notify.Marker(h.suite, h.sink.Name, notify.Place{Repository: "shop/checkout", Pull: "7"}) + "\n**Success.**"
	h.comments = []comment{{1, copied, author{another}}, {2, copied, author{}}}
	if a := h.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	h.wantAsked(setsStatus, listsFirst, comments)
	if len(h.comments) != 3 || h.comments[0].Body != copied || h.comments[1].Body != copied {
		t.Errorf("the comments are %+v", h.comments)
	}
	if a := h.tell(); a.Reason != "" {
		t.Fatalf("the answer is %+v", a)
	}
	h.wantAsked(setsStatus, listsFirst, "PATCH /issues/comments/1002")
	// The token's account is never guessed.
	h.nobody = true
	if a := h.tell(); a.Reason != v1alpha1.ReasonSinkUnavailable || a.Message != "has the commit status but no comment: the answer does not name the token's account" {
		t.Errorf("the answer is %+v", a)
	}
	h.wantAsked(setsStatus)
}

// limits lets the status of a commit be refused with a body, as GitHub's secondary limits do.
func limits(status int, body string, header ...string) func(*hubbub) {
	return func(h *hubbub) {
		h.first = func(w http.ResponseWriter, _ *http.Request) bool {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			http.Error(w, body, status)
			return true
		}
	}
}

// Only the text shows some rate limits. Taken for missing rights, they would make users check a valid token.
func TestALimitIsNoMissingRight(t *testing.T) {
	const limited = "answers 403 Forbidden: rate limit exceeded; retried when the limit is reset"
	for name, tc := range map[string]struct {
		change  func(*hubbub)
		message string
		after   time.Duration
	}{
		"a secondary limit without a header": {
			limits(http.StatusForbidden, `{"message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. hush"}`, "X-RateLimit-Remaining", "4998"),
			limited, time.Minute,
		},
		"a secondary limit that says how long": {
			limits(http.StatusForbidden, `{"message": "You have exceeded a secondary rate limit and have been temporarily blocked from content creation."}`, "Retry-After", "90"),
			limited, 91 * time.Second,
		},
		"that of an older server": {
			limits(http.StatusForbidden, `{"message": "You have triggered an abuse detection mechanism. Please retry your request again later."}`), limited, time.Minute,
		},
		"a missing right": {
			limits(http.StatusForbidden, `{"message": "Resource not accessible by integration", "documentation_url": "https://docs.example/rest/commits/statuses"}`),
			"answers 403 Forbidden to the commit status: allow the token of gitHub.secretRef to write commit statuses of gitHub.repository", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHubbub(t)
			tc.change(h)
			if a := h.tell(); a.Reason != v1alpha1.ReasonSinkRefused || a.Message != tc.message || a.After != tc.after || a.Final {
				t.Errorf("got %+v", a)
			}
		})
	}
}

// A short outage of the API server says nothing about the token.
func TestASecretThatIsNotShownNowIsNoMissingToken(t *testing.T) {
	const secret = "is not notified yet: the API server does not return the Secret checkout-github of gitHub.secretRef: "
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"nothing came":      {fmt.Errorf("hush: %w", context.DeadlineExceeded), "no answer within 10 s"},
		"too busy":          {apierrors.NewTooManyRequests("hush", 1), "TooManyRequests"},
		"its own deadline":  {apierrors.NewTimeoutError("hush", 1), "Timeout"},
		"a broken line":     {errors.New("connection refused by hush"), "it does not answer"},
		"an internal error": {apierrors.NewInternalError(errors.New("hush")), "InternalError"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHubbub(t)
			h.forbidden = tc.err
			if a := h.tell(); a.Reason != v1alpha1.ReasonSinkUnavailable || a.Message != secret+tc.want || a.Final {
				t.Errorf("got %+v", a)
			}
			h.wantAsked()
		})
	}
}

// fallsOn lets a request be answered with a status and a header, as GitHub answers where it refuses.
func fallsOn(request string, status int, header ...string) func(*hubbub) {
	return func(h *hubbub) {
		h.first = func(w http.ResponseWriter, _ *http.Request) bool {
			if h.asked[len(h.asked)-1] != request {
				return false
			}
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			http.Error(w, `{"message": "hush"}`, status)
			return true
		}
	}
}

func TestWhatGitHubRefuses(t *testing.T) {
	const status, patched = setsStatus, "PATCH /issues/comments/9"
	in := func(d time.Duration) string { return strconv.FormatInt(noon.Add(d).Unix(), 10) }
	for name, tc := range map[string]struct {
		change          func(*hubbub)
		reason, message string
		after           time.Duration
		final           bool
		// requests is how many GitHub is asked.
		requests int
	}{
		"a token that it does not know": {
			func(h *hubbub) { h.secret.Data["token"] = []byte("ghs_hush_of_yesterday") },
			v1alpha1.ReasonSinkRefused,
			"answers 401 Unauthorized: the token of gitHub.secretRef is invalid or expired: put a new one into the Secret checkout-github",
			0, false, 1,
		},
		"a token that may not set statuses": {
			fallsOn(status, http.StatusForbidden, "X-RateLimit-Remaining", "4999"),
			v1alpha1.ReasonSinkRefused,
			"answers 403 Forbidden to the commit status: allow the token of gitHub.secretRef to write commit statuses of gitHub.repository",
			0, false, 1,
		},
		"a repository that it does not show": {
			func(h *hubbub) { h.sink.GitHub.Repository = "shop/chekout" },
			v1alpha1.ReasonSinkRefused,
			"answers 404 Not Found to the commit status: gitHub.repository does not exist, or the token of gitHub.secretRef may not write its commit statuses",
			0, false, 1,
		},
		"a commit that is not there": {
			func(h *hubbub) { h.line.Noted[0].Value = strings.Repeat("0", 40) },
			v1alpha1.ReasonSinkRefused,
			"answers 422 Unprocessable Entity to the commit status: shop/checkout has no commit 0000000000000000000000000000000000000000, or it already has 1,000 statuses: correct parameter commit",
			0, true, 1,
		},
		"half a commit": {
			func(h *hubbub) { h.line.Noted[0].Value = "1a2b3c4" },
			v1alpha1.ReasonSinkRefused,
			`has no commit: the value of commit is "1a2b3c4". Use the commit's 40 hexadecimal digits, or none, with the pattern [0-9a-f]{40}|none`,
			0, true, 0,
		},
		"a pull request without a number": {
			func(h *hubbub) { h.line.Noted[1].Value = "7/../8" },
			v1alpha1.ReasonSinkRefused,
			`has the status of the commit but no comment: the value of pull is "7/../8". Use the number of a pull request, or none, with the pattern [1-9][0-9]*|none`,
			0, true, 1,
		},
		"a pull request that is not there": {
			func(h *hubbub) { h.line.Noted[1].Value = "8" },
			v1alpha1.ReasonSinkRefused,
			"answers 404 Not Found to the comment, but has the commit status: shop/checkout has no pull request 8, or the token of gitHub.secretRef may not write it: correct parameter pull",
			0, true, 2,
		},
		"a conversation that is locked": {
			func(h *hubbub) {
				h.first = func(w http.ResponseWriter, _ *http.Request) bool {
					if h.asked[len(h.asked)-1] != comments {
						return false
					}
					http.Error(w, `{"message": "Unable to create comment because issue is locked."}`, http.StatusForbidden)
					return true
				}
			},
			v1alpha1.ReasonSinkRefused,
			"answers 403 Forbidden to the comment, but has the commit status: the conversation of pull request 7 is locked: unlock it",
			0, true, 3,
		},
		"a token that may not write comments": {
			fallsOn(comments, http.StatusForbidden),
			v1alpha1.ReasonSinkRefused,
			"answers 403 Forbidden to the comment, but has the commit status: allow the token of gitHub.secretRef to write pull requests of gitHub.repository, or unlock the conversation",
			0, false, 3,
		},
		"more requests than it takes, in seconds": {
			fallsOn(status, http.StatusForbidden, "Retry-After", "120"),
			v1alpha1.ReasonSinkRefused,
			"answers 403 Forbidden: rate limit exceeded; retried when the limit is reset",
			2*time.Minute + time.Second, false, 1,
		},
		"more requests than it takes in an hour": {
			fallsOn(listsFirst, http.StatusForbidden, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", in(40*time.Minute)),
			v1alpha1.ReasonSinkRefused,
			"answers 403 Forbidden: rate limit exceeded; retried when the limit is reset",
			40*time.Minute + time.Second, false, 2,
		},
		"a limit that is over": {
			fallsOn(status, http.StatusTooManyRequests, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", in(-time.Hour)),
			v1alpha1.ReasonSinkRefused,
			"answers 429 Too Many Requests: rate limit exceeded; retried when the limit is reset",
			time.Minute, false, 1,
		},
		"a limit of which it says no more": {
			fallsOn(comments, http.StatusTooManyRequests),
			v1alpha1.ReasonSinkRefused,
			"answers 429 Too Many Requests: rate limit exceeded; retried when the limit is reset",
			time.Minute, false, 3,
		},
		"trouble of its own": {
			fallsOn(status, http.StatusBadGateway), v1alpha1.ReasonSinkRefused, "answers 502 Bad Gateway", 0, false, 1,
		},
		"a repository with another name": {
			fallsOn(status, http.StatusMovedPermanently, "Location", "https://elsewhere.example/steal"),
			v1alpha1.ReasonSinkRefused,
			"answers 301 Moved Permanently; redirects are not followed: correct gitHub.repository or gitHub.apiURL",
			0, false, 1,
		},
		"a comment that was deleted meanwhile": {
			func(h *hubbub) {
				h.comments = []comment{{9, notify.Marker(h.suite, h.sink.Name, notify.Place{Repository: "shop/checkout", Pull: "7"}) + "\n", author{ours}}}
				fallsOn(patched, http.StatusNotFound)(h)
			},
			v1alpha1.ReasonSinkRefused,
			"answers 404 Not Found to the comment, which existed a moment before",
			0, false, 3,
		},
		"a connection that ends": {
			func(h *hubbub) {
				h.first = func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
			},
			v1alpha1.ReasonSinkUnavailable,
			"does not answer: the connection was closed before an answer",
			0, false, 1,
		},
		"a list that is none": {
			func(h *hubbub) {
				h.first = func(w http.ResponseWriter, q *http.Request) bool {
					if q.Method == http.MethodGet {
						fmt.Fprint(w, `[{"id": 1, "body": "hus`)
					}
					return q.Method == http.MethodGet
				}
			},
			v1alpha1.ReasonSinkUnavailable,
			"has the commit status but no comment: its list of comments is incomplete or invalid",
			0, false, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHubbub(t)
			tc.change(h)
			a := h.tell()
			if a.Reason != tc.reason || a.Message != tc.message || a.After != tc.after || a.Final != tc.final {
				t.Errorf("got %+v, want %+v", a, tc)
			}
			if len(h.asked) != tc.requests {
				t.Errorf("GitHub was asked for %q", h.asked)
			}
		})
	}
}

// A status that was set stands when the comment fails, and is set again with it: nothing is said twice.
func TestACommentThatWasMadeWithoutAnAnswerIsNotMadeAgain(t *testing.T) {
	h := newHubbub(t)
	h.first = func(_ http.ResponseWriter, q *http.Request) bool {
		if q.Method == http.MethodPost && strings.HasSuffix(q.URL.Path, "/comments") {
			var sent comment
			if err := json.NewDecoder(q.Body).Decode(&sent); err != nil {
				t.Error(err)
			}
			h.comments = append(h.comments, comment{5, sent.Body, author{ours}})
			panic(http.ErrAbortHandler)
		}
		return false
	}
	if a := h.tell(); a.Reason != v1alpha1.ReasonSinkUnavailable {
		t.Errorf("the answer is %+v", a)
	}
	h.first = nil
	if a := h.tell(); a.Reason != "" || len(h.comments) != 1 {
		t.Errorf("the answer is %+v, and there are %d comments", a, len(h.comments))
	}
}

func TestWithoutAPermittedTokenNobodyIsAsked(t *testing.T) {
	const secret = "was not notified: the Secret checkout-github of gitHub.secretRef "
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "checkout-github", errors.New("hush"))
	for name, tc := range map[string]struct {
		change func(*hubbub)
		want   string
	}{
		"no Role": {
			func(h *hubbub) { h.forbidden = denied },
			"was not notified: the operator may not read the Secret checkout-github of gitHub.secretRef: create a Role for it in this namespace",
		},
		"no Secret":      {func(h *hubbub) { h.sink.GitHub.SecretRef.Name = "other" }, "was not notified: the Secret other of gitHub.secretRef does not exist"},
		"no key":         {func(h *hubbub) { h.sink.GitHub.SecretRef.Key = "other" }, secret + "has no valid token under key other"},
		"an empty token": {func(h *hubbub) { h.secret.Data["token"] = []byte(" \n") }, secret + "has no valid token under key token"},
		"two lines":      {func(h *hubbub) { h.secret.Data["token"] = []byte("a\nX-Evil: b") }, secret + "has no valid token under key token"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHubbub(t)
			tc.change(h)
			if a := h.tell(); a.Reason != v1alpha1.ReasonTokenMissing || a.Message != tc.want || a.Final {
				t.Errorf("got %+v", a)
			}
			h.wantAsked()
		})
	}
}

func TestAReportThatCannotBeReadIsWaitedForOnlyWhileTheStoreIsAway(t *testing.T) {
	h := newHubbub(t)
	h.away = errors.New("no route to the hush store")
	if a := h.tell(); a.Reason != v1alpha1.ReasonStoreUnavailable || a.Message != "has the commit status but no comment: the report of small cannot be read from the object store" {
		t.Errorf("the answer is %+v", a)
	}
	h.wantAsked(setsStatus)
	h.away, h.stored = nil, nil
	if a := h.tell(); a.Reason != "" || !strings.Contains(h.comments[0].Body, "**slower** Its report can no longer be read from the object store.") {
		t.Errorf("the answer is %+v, the comments are %+v", a, h.comments)
	}
}

// The token goes to no server that has not shown the certificate of its host, and to none at all of an operator that does not lead.
func TestTheTokenStaysWithGitHub(t *testing.T) {
	h := newHubbub(t)
	if a, err := h.tells(unguarded()); err != nil || a.Message != "does not answer: its certificate is not trusted, or is for another host" {
		t.Errorf("the answer is %+v, %v", a, err)
	}
	fence := leader.NewFence(time.Minute, func() time.Time { return noon })
	if _, err := h.tells(fence.Guard(h.way)); !errors.Is(err, leader.ErrLost) {
		t.Errorf("an operator that does not lead gets %v", err)
	}
	if a, err := h.tells(outbound.Way(outbound.Allowed{})); err != nil || !strings.Contains(a.Message, "addresses are always refused") {
		t.Errorf("the answer is %+v, %v", a, err)
	}
	h.wantAsked()
}

// What takes longer than it may is given up, and the pass is not held up.
func TestAGitHubThatIsSlowIsNotWaitedFor(t *testing.T) {
	h := newHubbub(t)
	ctx, cancel := context.WithCancel(t.Context())
	h.first = func(_ http.ResponseWriter, q *http.Request) bool {
		read(q)  // Before that, no server hears that its client has gone.
		cancel() // As where the time is over.
		<-q.Context().Done()
		return true
	}
	g := &Forges{Live: fake.NewClientBuilder().WithObjects(&h.secret).Build(), Reports: h, Way: h.way, Now: time.Now}
	a, err := g.Tell(ctx, h.suite, notify.Due{Sink: h.sink, Round: h.line}, notify.EventOf(h.suite, h.line, nil, nil))
	if err != nil || a.Reason != v1alpha1.ReasonSinkUnavailable || !strings.HasPrefix(a.Message, "does not answer: ") {
		t.Errorf("the answer is %+v, %v", a, err)
	}
}
