package notifications

import (
	"bytes"
	"cmp"
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
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/controllers/outbound"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite/notify"
)

const (
	wholePatience  = 40 * time.Second
	secretPatience = 10 * time.Second
	// perPage and maxPages limit the search for the suite's comment in a pull request.
	perPage, maxPages = 100, 10
	// maxPage limits the size of a page of comments. A comment has up to 65,536 characters in GitHub, and a million in GitLab.
	maxPage = 32 << 20
	// maxStatus limits the answer to a commit status, which names the token's account.
	maxStatus = 256 << 10
	// restAfterLimit is the pause after a rate limit without a reset time.
	restAfterLimit = time.Minute
)

// Forges sets commit statuses in GitHub and GitLab, and maintains comments in pull requests.
type Forges struct {
	Live client.Reader
	// Reports is the store of the runs' reports.
	Reports interface {
		Get(ctx context.Context, key, sha256 string) ([]byte, error)
	}
	Way http.RoundTripper
	Now func() time.Time

	rests rests
}

// failure is why a forge was not notified.
type failure struct{ notify.Answer }

// Error implements error.
func (f failure) Error() string { return f.Message }

func fails(reason, format string, args ...any) error {
	return failure{notify.Answer{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// final is a failure that a retry would repeat, and that does not affect other rounds.
func final(format string, args ...any) error {
	return failure{notify.Answer{Reason: v1alpha1.ReasonSinkRefused, Message: fmt.Sprintf(format, args...), Final: true}}
}

// Tell reports a round: first the commit status, then the comment. Repeating it replaces both. The only error is leader.ErrLost, which is
// unrelated to the forge.
func (g *Forges) Tell(ctx context.Context, s *v1alpha1.BenchmarkSuite, due notify.Due, e notify.Event) (notify.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, wholePatience)
	defer cancel()
	err := g.tell(ctx, s, due, e)
	var f failure
	if errors.As(err, &f) {
		return f.Answer, nil
	}
	return notify.Answer{}, err
}

func (g *Forges) tell(ctx context.Context, s *v1alpha1.BenchmarkSuite, due notify.Due, e notify.Event) error {
	to := notify.ForgeOf(due.Sink)
	at := notify.PlaceOf(to, due.Round)
	if wrong := at.CommitFault(to); wrong != "" {
		return final("%s", wrong)
	}
	token, err := g.token(ctx, s.Namespace, to)
	if err != nil {
		return err
	}
	of := allowanceOf(at, token)
	if err := g.rests.refuses(of, to, g.Now()); err != nil {
		return err
	}
	d := dialectOf(to)
	err = g.say(ctx, s, due, e, &hub{outbound.Client(g.Way), d, at.API + d.root(at.Repository), token, to, at, g.Now})
	g.rests.note(of, err, g.Now())
	return err
}

func (g *Forges) say(ctx context.Context, s *v1alpha1.BenchmarkSuite, due notify.Due, e notify.Event, h *hub) error {
	account, err := h.setStatus(ctx, notify.StatusOf(e, due.Sink, s.Spec.Gate))
	if err != nil || h.at.Pull == "" {
		return err
	}
	if wrong := h.at.PullFault(h.to); wrong != "" {
		return final("%s", wrong)
	}
	if account == 0 {
		return fails(v1alpha1.ReasonSinkUnavailable, "has the commit status but no comment: the answer does not name the token's account")
	}
	reports, err := g.reports(ctx, e)
	if err != nil {
		return err
	}
	marker := notify.Marker(s, due.Sink.Name, h.at)
	return h.comment(ctx, account, marker, marker+"\n"+notify.CommentOf(e, h.at, s.Spec.Gate, h.to.Link, reports))
}

func (g *Forges) token(ctx context.Context, namespace string, to notify.Forge) (string, error) {
	ref := to.SecretRef
	ctx, cancel := context.WithTimeout(ctx, secretPatience)
	defer cancel()
	var secret corev1.Secret
	switch err := g.Live.Get(ctx, types.NamespacedName{Namespace: namespace, Name: ref.Name}, &secret); {
	case apierrors.IsForbidden(err):
		return "", fails(v1alpha1.ReasonTokenMissing, "was not notified: the operator may not read the Secret %s of %s.secretRef: create a Role for it in this namespace",
			ref.Name, to.Kind)
	case apierrors.IsNotFound(err):
		return "", fails(v1alpha1.ReasonTokenMissing, "was not notified: the Secret %s of %s.secretRef does not exist", ref.Name, to.Kind)
	case err != nil: // Temporary: the token is unknown.
		return "", fails(v1alpha1.ReasonSinkUnavailable, "is not notified yet: the API server does not return the Secret %s of %s.secretRef: %s",
			ref.Name, to.Kind, trouble(err))
	}
	token := strings.TrimSpace(string(secret.Data[ref.Key]))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fails(v1alpha1.ReasonTokenMissing, "was not notified: the Secret %s of %s.secretRef has no valid token under key %s", ref.Name, to.Kind, ref.Key)
	}
	return token, nil
}

// trouble says why the API server did not answer, in the same words at each try.
func trouble(err error) string {
	switch reason := apierrors.ReasonForError(err); {
	case reason != metav1.StatusReasonUnknown:
		return string(reason)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Sprintf("no answer within %.0f s", secretPatience.Seconds())
	}
	return "it does not answer"
}

func (g *Forges) reports(ctx context.Context, e notify.Event) ([]notify.Printed, error) {
	var all []notify.Printed
	for _, r := range e.Data.Runs {
		if r.Report == "" {
			all = append(all, notify.Printed{Why: "It has no report."})
			continue
		}
		text, err := g.Reports.Get(ctx, path.Join(path.Dir(notify.KeyOf(r.Report)), report.MarkdownFile), "")
		switch {
		case artifact.Unreadable(err):
			all = append(all, notify.Printed{Why: "Its report can no longer be read from the object store."})
		case err != nil:
			return nil, fails(v1alpha1.ReasonStoreUnavailable, "has the commit status but no comment: the report of %s cannot be read from the object store", r.Name)
		default:
			all = append(all, notify.Printed{Text: string(text)})
		}
	}
	return all, nil
}

// dialect is what differs between GitHub and GitLab.
type dialect interface {
	// root is the path of a repository in the API.
	root(repository string) string
	header(token string) map[string]string
	status(of notify.CommitStatus) any
	comments(pull string) string
	list(pull string, page int) string
	change(pull string, id int64) (method, path string)
	// text is a comment's text without commands.
	text(of string) string
	// limited reports whether an answer is a rate limit, and the prefix of its header fields.
	limited(answer *http.Response, says string) (fields string, limited bool)
	// statusRefused and commentRefused explain refusals of the commit status and of the comment.
	statusRefused(h *hub, r refused) error
	commentRefused(h *hub, r refused) error
}

func dialectOf(to notify.Forge) dialect {
	if to.Kind == notify.GitLab {
		return gitLab{}
	}
	return gitHub{}
}

// hub is one repository of a forge, asked with a token.
type hub struct {
	client *http.Client
	dialect
	repository, token string
	to                notify.Forge
	at                notify.Place
	now               func() time.Time
}

// refused is an answer other than success, redirect, rate limit and server error.
type refused struct {
	status int
	// says is the start of the body, which is never shown; message is the explanation.
	says, message string
}

// ask sends a request. On success (2xx) the caller closes the body. Refusals are explained by why.
func (h *hub) ask(ctx context.Context, method, address string, why func(*hub, refused) error, body any) (*http.Response, error) {
	var text io.Reader
	if body != nil {
		written, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding a request: %w", err)
		}
		text = bytes.NewReader(written)
	}
	q, err := http.NewRequestWithContext(ctx, method, address, text)
	if err != nil {
		return nil, fails(v1alpha1.ReasonSinkUnavailable, "was not notified: %s.apiURL is not a valid URL", h.to.Kind)
	}
	if body != nil {
		q.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	q.Header.Set("User-Agent", "loadstone")
	for name, value := range h.header(h.token) {
		q.Header.Set(name, value)
	}
	answer, err := h.client.Do(q)
	if errors.Is(err, leader.ErrLost) {
		return nil, leader.ErrLost
	}
	if err != nil {
		return nil, fails(v1alpha1.ReasonSinkUnavailable, "does not answer: %s", outbound.Cause(err))
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	says := drop(answer)
	return nil, h.refusal(answer, says, why)
}

// setStatus sets the commit status and returns the id of the token's account, or 0 if the answer does not name it. That account is the author
// of the comments, for users and apps alike.
func (h *hub) setStatus(ctx context.Context, status notify.CommitStatus) (int64, error) {
	answer, err := h.ask(ctx, http.MethodPost, h.repository+"/statuses/"+h.at.Commit, h.statusRefused, h.status(status))
	if errors.Is(err, errSame) {
		return h.unchanged(ctx, status)
	}
	if err != nil {
		return 0, err
	}
	var set struct {
		Creator author `json:"creator"` // On GitHub.
		Author  author `json:"author"`  // On GitLab.
	}
	defer func() { _ = answer.Body.Close() }()
	_ = json.NewDecoder(io.LimitReader(answer.Body, maxStatus)).Decode(&set) // The status is set, and who needs no comment needs no account.
	return cmp.Or(set.Creator.ID, set.Author.ID), nil
}

type author struct {
	ID int64 `json:"id"`
}

func (h *hub) send(ctx context.Context, method, path string, why func(*hub, refused) error, text string) error {
	answer, err := h.ask(ctx, method, h.repository+path, why, map[string]string{"body": h.text(text)})
	if err != nil {
		return err
	}
	drop(answer)
	return nil
}

func drop(answer *http.Response) string {
	begins, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // What does not come is not needed: its status says nearly all.
	_ = answer.Body.Close()
	return string(begins)
}

func (h *hub) refusal(answer *http.Response, says string, why func(*hub, refused) error) error {
	a := refusal(answer)
	fields, limited := h.limited(answer, says)
	switch {
	case limited:
		a.Message += ": rate limit exceeded; retried when the limit is reset"
		a.After = h.rest(answer.Header, fields, a.After)
	case answer.StatusCode/100 == 3:
		a.Message = fmt.Sprintf("answers %d %s; redirects are not followed: correct %s or %s.apiURL",
			answer.StatusCode, http.StatusText(answer.StatusCode), h.to.RepositoryField, h.to.Kind)
	case answer.StatusCode == http.StatusUnauthorized:
		a.Message += fmt.Sprintf(": the token of %s.secretRef is invalid or expired: put a new one into the Secret %s", h.to.Kind, h.to.SecretRef.Name)
	case answer.StatusCode/100 == 4:
		return why(h, refused{answer.StatusCode, strings.ToLower(says), a.Message})
	}
	return failure{a}
}

// rest is the pause that a forge asks for, plus a second, because the suite's status has no fractions.
func (h *hub) rest(header http.Header, fields string, after time.Duration) time.Duration {
	if after > 0 {
		return after + time.Second
	}
	reset, err := strconv.ParseInt(header.Get(fields+"Reset"), 10, 64)
	if header.Get(fields+"Remaining") != "0" || err != nil {
		return restAfterLimit
	}
	return max(time.Unix(reset, 0).Sub(h.now())+time.Second, restAfterLimit)
}

// comment updates the account's comment that starts with a marker, or creates it.
func (h *hub) comment(ctx context.Context, account int64, marker, text string) error {
	id, err := h.find(ctx, account, marker)
	if err != nil {
		return err
	}
	if id == 0 {
		return h.send(ctx, http.MethodPost, h.comments(h.at.Pull), h.commentRefused, text)
	}
	method, path := h.change(h.at.Pull, id)
	return h.send(ctx, method, path, changeRefused, text)
}

// changeRefused explains a failed update. A comment deleted meanwhile is created at the next try.
func changeRefused(h *hub, r refused) error {
	if r.status == http.StatusNotFound {
		return fails(v1alpha1.ReasonSinkRefused, "%s to the comment, which existed a moment before", r.message)
	}
	return h.commentRefused(h, r)
}

func (h *hub) find(ctx context.Context, account int64, marker string) (int64, error) {
	for page := 1; page <= maxPages; page++ {
		answer, err := h.ask(ctx, http.MethodGet, h.repository+h.list(h.at.Pull, page), h.commentRefused, nil)
		if err != nil {
			return 0, err
		}
		id, err := among(io.LimitReader(answer.Body, maxPage), account, marker)
		_ = answer.Body.Close()
		switch {
		case err != nil:
			return 0, fails(v1alpha1.ReasonSinkUnavailable, "has the commit status but no comment: its list of comments is incomplete or invalid")
		case id != 0 || !strings.Contains(strings.Join(answer.Header.Values("Link"), ","), `rel="next"`):
			return id, nil
		}
	}
	return 0, final("has the commit status but no comment: the first %d pages of comments of %s %s have none of the suite, and more are not read",
		maxPages, h.to.Pull, h.at.Pull)
}

// among is the id of the account's first comment that starts with the marker, or 0. It decodes one comment at a time. Other users can copy the
// marker, so comments of other accounts are never changed.
func among(list io.Reader, account int64, marker string) (int64, error) {
	d := json.NewDecoder(list)
	if _, err := d.Token(); err != nil {
		return 0, fmt.Errorf("reading a list of comments: %w", err)
	}
	for d.More() {
		var c struct {
			ID     int64  `json:"id"`
			Body   string `json:"body"`
			User   author `json:"user"`   // On GitHub.
			Author author `json:"author"` // On GitLab.
		}
		if err := d.Decode(&c); err != nil {
			return 0, fmt.Errorf("reading a comment: %w", err)
		}
		if cmp.Or(c.User.ID, c.Author.ID) == account && strings.HasPrefix(c.Body, marker) {
			return c.ID, nil
		}
	}
	if _, err := d.Token(); err != nil {
		return 0, fmt.Errorf("reading the end of a list of comments: %w", err)
	}
	return 0, nil
}
