package notifications

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/lease"
	"loadstone.dev/loadstone/internal/notice"
	"loadstone.dev/loadstone/internal/report"
)

const (
	// wholePatience is how long all requests for one round may take.
	wholePatience = 40 * time.Second
	// secretPatience is how long the API server may take to show the token.
	secretPatience = 10 * time.Second
	// perPage and maxPages bound the comments of a pull request among which that of the suite is looked for.
	perPage, maxPages = 100, 10
	// maxPage bounds a page of them, of 65,536 characters each.
	maxPage = 32 << 20
	// maxStatus bounds the answer to a status, which shows whose the token is.
	maxStatus = 256 << 10
	// restAfterLimit is how long GitHub asks to be left alone where it only says that it was asked too often.
	restAfterLimit = time.Minute
)

// GitHub sets the statuses of commits, and keeps comments in pull requests.
type GitHub struct {
	// Live reads the Secrets that namespaces lend, from the API server itself.
	Live client.Reader
	// Reports is where the reports of runs are read from.
	Reports interface {
		Get(ctx context.Context, key, sha256 string) ([]byte, error)
	}
	Way http.RoundTripper
	Now func() time.Time

	rests rests
}

// failure is why GitHub was not told.
type failure struct{ notice.Answer }

// Error implements error.
func (f failure) Error() string { return f.Message }

func fails(reason, format string, args ...any) error {
	return failure{notice.Answer{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// final is a failure that would be the same at any other try, and says nothing of other rounds.
func final(format string, args ...any) error {
	return failure{notice.Answer{Reason: v1alpha1.ReasonSinkRefused, Message: fmt.Sprintf(format, args...), Final: true}}
}

// Tell tells a repository of a round: 1 the status of its commit, 2 the comment in its pull request. Said again, it replaces what was said. An error is
// lease.ErrLost, which says nothing of GitHub.
func (g *GitHub) Tell(ctx context.Context, s *v1alpha1.BenchmarkSuite, due notice.Due, e notice.Event) (notice.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, wholePatience)
	defer cancel()
	err := g.tell(ctx, s, due, e)
	var f failure
	if errors.As(err, &f) {
		return f.Answer, nil
	}
	return notice.Answer{}, err
}

func (g *GitHub) tell(ctx context.Context, s *v1alpha1.BenchmarkSuite, due notice.Due, e notice.Event) error {
	to := due.Sink.GitHub
	at := notice.PlaceOf(to, due.Round)
	if wrong := at.CommitFault(to); wrong != "" {
		return final("%s", wrong)
	}
	token, err := g.token(ctx, s.Namespace, to.SecretRef)
	if err != nil {
		return err
	}
	of := allowanceOf(at, token)
	if err := g.rests.refuses(of, g.Now()); err != nil {
		return err
	}
	c := &http.Client{Transport: g.Way, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	err = g.say(ctx, s, due, e, &hub{c, at.API + "/repos/" + at.Repository, token, to, at, g.Now})
	g.rests.note(of, err, g.Now())
	return err
}

// say sets the status of the commit, and then the comment.
func (g *GitHub) say(ctx context.Context, s *v1alpha1.BenchmarkSuite, due notice.Due, e notice.Event, h *hub) error {
	account, err := h.setStatus(ctx, notice.StatusOf(e, due.Sink, s.Spec.Gate))
	if err != nil || h.at.Pull == "" {
		return err
	}
	if wrong := h.at.PullFault(h.to); wrong != "" {
		return final("%s", wrong)
	}
	if account == 0 {
		return fails(v1alpha1.ReasonSinkUnavailable, "has the status of the commit and no comment: its answer does not say whose the token is")
	}
	reports, err := g.reports(ctx, e)
	if err != nil {
		return err
	}
	marker := notice.Marker(s, due.Sink.Name, h.at)
	return h.comment(ctx, account, marker, marker+"\n"+notice.CommentOf(e, h.at, s.Spec.Gate, h.to.Link, reports))
}

// token is the one that a Secret of a namespace holds, if the namespace lets the operator read it.
func (g *GitHub) token(ctx context.Context, namespace string, ref v1alpha1.KeyReference) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, secretPatience)
	defer cancel()
	var secret corev1.Secret
	switch err := g.Live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: ref.Name}, &secret); {
	case apierrors.IsForbidden(err):
		return "", fails(v1alpha1.ReasonTokenMissing, "is not told: the operator may not read the Secret %s of gitHub.secretRef, unless a Role of this namespace lets it",
			ref.Name)
	case apierrors.IsNotFound(err):
		return "", fails(v1alpha1.ReasonTokenMissing, "is not told: the Secret %s of gitHub.secretRef is not there", ref.Name)
	case err != nil: // Whether there is a token nobody knows: that passes.
		return "", fails(v1alpha1.ReasonSinkUnavailable, "is not told yet: the API server does not show the Secret %s of gitHub.secretRef now: %s", ref.Name, trouble(err))
	}
	token := strings.TrimSpace(string(secret.Data[ref.Key]))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fails(v1alpha1.ReasonTokenMissing, "is not told: the Secret %s of gitHub.secretRef has no token under its key %s", ref.Name, ref.Key)
	}
	return token, nil
}

// trouble is what keeps the API server from answering, in words that are the same at each try.
func trouble(err error) string {
	switch reason := apierrors.ReasonForError(err); {
	case reason != metav1.StatusReasonUnknown:
		return string(reason)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Sprintf("nothing came within %.0f s", secretPatience.Seconds())
	}
	return "it does not answer"
}

// reports are those of the runs of a round.
func (g *GitHub) reports(ctx context.Context, e notice.Event) ([]notice.Printed, error) {
	var all []notice.Printed
	for _, r := range e.Data.Runs {
		if r.Report == "" {
			all = append(all, notice.Printed{Why: "It has no report."})
			continue
		}
		text, err := g.Reports.Get(ctx, path.Join(path.Dir(notice.KeyOf(r.Report)), report.MarkdownFile), "")
		switch {
		case artifact.Unreadable(err):
			all = append(all, notice.Printed{Why: "Its report cannot be read from the object store any more."})
		case err != nil:
			return nil, fails(v1alpha1.ReasonStoreUnavailable, "has the status of the commit and no comment: the object store does not give the report of %s", r.Name)
		default:
			all = append(all, notice.Printed{Text: string(text)})
		}
	}
	return all, nil
}

// hub is one repository of GitHub, asked with a token.
type hub struct {
	client *http.Client
	// repository is its address in the API.
	repository, token string
	to                v1alpha1.GitHubNotification
	at                notice.Place
	now               func() time.Time
}

// refused says what an answer means that is none of success, redirects, limits and trouble of the server's own.
type refused func(status int, says string) error

// ask asks GitHub for something. The answer's status is 2xx, and its body is to be closed.
func (h *hub) ask(ctx context.Context, method, path string, refused refused, body any) (*http.Response, error) {
	var text io.Reader
	if body != nil {
		written, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("writing what GitHub is told: %w", err)
		}
		text = bytes.NewReader(written)
	}
	q, err := http.NewRequestWithContext(ctx, method, h.repository+path, text)
	if err != nil {
		return nil, fails(v1alpha1.ReasonSinkUnavailable, "cannot be asked: gitHub.apiURL is no address")
	}
	if body != nil {
		q.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + h.token, "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "loadstone",
	} {
		q.Header.Set(name, value)
	}
	answer, err := h.client.Do(q)
	if errors.Is(err, lease.ErrLost) {
		return nil, lease.ErrLost
	}
	if err != nil {
		return nil, fails(v1alpha1.ReasonSinkUnavailable, "does not answer: %s", cause(err))
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	says := drop(answer)
	return nil, h.refusal(answer, says, refused)
}

// setStatus sets the status of the commit, and returns the id of the account whose token it was set with; 0 if the answer does not name it. It is the same
// for the token of a person and of an app, whose comments have it for their author.
func (h *hub) setStatus(ctx context.Context, status notice.CommitStatus) (int64, error) {
	answer, err := h.ask(ctx, http.MethodPost, "/statuses/"+h.at.Commit, h.statusRefused, status)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	var set struct {
		Creator author `json:"creator"`
	}
	_ = json.NewDecoder(io.LimitReader(answer.Body, maxStatus)).Decode(&set) // The status is set, and who needs no comment needs no account.
	return set.Creator.ID, nil
}

// author is an account of GitHub.
type author struct {
	ID int64 `json:"id"`
}

// send asks for something of whose answer the status says all.
func (h *hub) send(ctx context.Context, method, path string, refused refused, body any) error {
	answer, err := h.ask(ctx, method, path, refused, body)
	if err != nil {
		return err
	}
	drop(answer)
	return nil
}

// drop ends an answer of which no more than the beginning is read, and returns that.
func drop(answer *http.Response) string {
	begins, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // What does not come is not needed: its status says nearly all.
	_ = answer.Body.Close()
	return string(begins)
}

// asksForRest reports whether an answer says that too much was asked for within a short time: GitHub's secondary limits may have no header of their own,
// and the status of a missing right. Their sentences, which nobody is shown, have these words.
func asksForRest(says string) bool {
	says = strings.ToLower(says)
	return strings.Contains(says, "rate limit") || strings.Contains(says, "abuse detection")
}

// refusal is what an answer means that is no success, by its header and by what its body begins with.
func (h *hub) refusal(answer *http.Response, says string, refused refused) error {
	a := refusal(answer)
	forbidden := answer.StatusCode == http.StatusForbidden
	limited := forbidden && (a.After > 0 || answer.Header.Get("X-Ratelimit-Remaining") == "0" || asksForRest(says))
	switch {
	case limited, answer.StatusCode == http.StatusTooManyRequests:
		a.Message += ": it was asked too often, and is left alone for as long as it wants"
		a.After = h.rest(answer.Header, a.After)
	case answer.StatusCode/100 == 3:
		a.Message = fmt.Sprintf("answers %d %s, and no redirect is followed: gitHub.repository or gitHub.apiURL has another name now",
			answer.StatusCode, http.StatusText(answer.StatusCode))
	case answer.StatusCode == http.StatusUnauthorized:
		a.Message += fmt.Sprintf(": it knows the token of gitHub.secretRef no more; put another into the Secret %s", h.to.SecretRef.Name)
	case answer.StatusCode/100 == 4:
		return refused(answer.StatusCode, a.Message)
	}
	return failure{a}
}

// rest is how long GitHub wants to be left alone, and a second, of which the suite's status knows no parts.
func (h *hub) rest(header http.Header, after time.Duration) time.Duration {
	if after > 0 {
		return after + time.Second
	}
	reset, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64)
	if header.Get("X-Ratelimit-Remaining") != "0" || err != nil {
		return restAfterLimit
	}
	return max(time.Unix(reset, 0).Sub(h.now())+time.Second, restAfterLimit)
}

// statusRefused says why the status of a commit is not taken.
func (h *hub) statusRefused(status int, says string) error {
	says += " to the status of a commit"
	switch status {
	case http.StatusUnprocessableEntity:
		return final("%s: %s has no commit %s, or has a thousand statuses of it; correct what requests give to %s", says, h.at.Repository, h.at.Commit, h.to.CommitParameter)
	case http.StatusForbidden:
		says += ": give the token of gitHub.secretRef the right to write commit statuses of gitHub.repository"
	case http.StatusNotFound:
		says += ": gitHub.repository is not there, or the token of gitHub.secretRef may not write commit statuses of it"
	}
	return fails(v1alpha1.ReasonSinkRefused, "%s", says)
}

// commentRefused says why a comment is not taken, or comments are not shown.
func (h *hub) commentRefused(status int, says string) error {
	says += " to the comment, and has the status of the commit"
	switch status {
	case http.StatusForbidden:
		says += ": give the token of gitHub.secretRef the right to write pull requests of gitHub.repository, or unlock the conversation"
	case http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity:
		return final("%s: %s has no pull request %s, or the token of gitHub.secretRef may not write it; correct what requests give to %s",
			says, h.at.Repository, h.at.Pull, h.to.PullRequestParameter)
	}
	return fails(v1alpha1.ReasonSinkRefused, "%s", says)
}

// comment puts a text into the comment of an account that begins with a marker, or makes that comment.
func (h *hub) comment(ctx context.Context, account int64, marker, text string) error {
	id, err := h.find(ctx, account, marker)
	if err != nil {
		return err
	}
	body := map[string]string{"body": text}
	if id == 0 {
		return h.send(ctx, http.MethodPost, "/issues/"+h.at.Pull+"/comments", h.commentRefused, body)
	}
	return h.send(ctx, http.MethodPatch, "/issues/comments/"+strconv.FormatInt(id, 10), h.changeRefused, body)
}

// changeRefused says why a comment is not changed. One that was deleted meanwhile is made at the next try.
func (h *hub) changeRefused(status int, says string) error {
	if status == http.StatusNotFound {
		return fails(v1alpha1.ReasonSinkRefused, "%s to the comment, which was there a moment before", says)
	}
	return h.commentRefused(status, says)
}

// find is the id of the oldest comment of an account in the pull request that begins with a marker; 0 if none does.
func (h *hub) find(ctx context.Context, account int64, marker string) (int64, error) {
	for page := 1; page <= maxPages; page++ {
		answer, err := h.ask(ctx, http.MethodGet, fmt.Sprintf("/issues/%s/comments?per_page=%d&page=%d", h.at.Pull, perPage, page), h.commentRefused, nil)
		if err != nil {
			return 0, err
		}
		id, err := among(io.LimitReader(answer.Body, maxPage), account, marker)
		_ = answer.Body.Close()
		switch {
		case err != nil:
			return 0, fails(v1alpha1.ReasonSinkUnavailable, "has the status of the commit and no comment: its list of comments ends early, or is none")
		case id != 0 || !strings.Contains(strings.Join(answer.Header.Values("Link"), ","), `rel="next"`):
			return id, nil
		}
	}
	return 0, final("has the status of the commit and no comment: on the first %d pages of comments of pull request %s is none of the suite, and no more are read",
		maxPages, h.at.Pull)
}

// among is the id of the first of some comments that an account has made and that begins with a marker; 0 if none does. It holds one at a time. Who may write
// into the pull request can copy the marker: what others have written is not the suite's to change.
func among(list io.Reader, account int64, marker string) (int64, error) {
	d := json.NewDecoder(list)
	if _, err := d.Token(); err != nil {
		return 0, fmt.Errorf("reading a list of comments: %w", err)
	}
	for d.More() {
		var c struct {
			ID   int64  `json:"id"`
			Body string `json:"body"`
			User author `json:"user"`
		}
		if err := d.Decode(&c); err != nil {
			return 0, fmt.Errorf("reading a comment: %w", err)
		}
		if c.User.ID == account && strings.HasPrefix(c.Body, marker) {
			return c.ID, nil
		}
	}
	if _, err := d.Token(); err != nil {
		return 0, fmt.Errorf("reading the end of a list of comments: %w", err)
	}
	return 0, nil
}
