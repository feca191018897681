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
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite/notify"
)

const (
	// wholePatience is how long all requests for one round may take.
	wholePatience = 40 * time.Second
	// secretPatience is how long the API server may take to show the token.
	secretPatience = 10 * time.Second
	// perPage and maxPages bound the comments of a pull request among which that of the suite is looked for.
	perPage, maxPages = 100, 10
	// maxPage bounds a page of them, of which GitHub's have 65,536 characters each, and GitLab's a million.
	maxPage = 32 << 20
	// maxStatus bounds the answer to a status, which shows whose the token is.
	maxStatus = 256 << 10
	// restAfterLimit is how long a forge asks to be left alone where it only says that it was asked too often.
	restAfterLimit = time.Minute
)

// Forges tells GitHub and GitLab: it sets the statuses of commits, and keeps comments in pull requests.
type Forges struct {
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

// failure is why a forge was not told.
type failure struct{ notify.Answer }

// Error implements error.
func (f failure) Error() string { return f.Message }

func fails(reason, format string, args ...any) error {
	return failure{notify.Answer{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// final is a failure that would be the same at any other try, and says nothing of other rounds.
func final(format string, args ...any) error {
	return failure{notify.Answer{Reason: v1alpha1.ReasonSinkRefused, Message: fmt.Sprintf(format, args...), Final: true}}
}

// Tell tells a repository of a round: 1 the status of its commit, 2 the comment in its pull request. Said again, it replaces what was said. An error is
// lease.ErrLost, which says nothing of the forge.
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
	c := &http.Client{Transport: g.Way, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	d := dialectOf(to)
	err = g.say(ctx, s, due, e, &hub{c, d, at.API + d.root(at.Repository), token, to, at, g.Now})
	g.rests.note(of, err, g.Now())
	return err
}

// say sets the status of the commit, and then the comment.
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

// token is the one that a Secret of a namespace holds, if the namespace lets the operator read it.
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
	case err != nil: // Whether there is a token nobody knows: that passes.
		return "", fails(v1alpha1.ReasonSinkUnavailable, "is not notified yet: the API server does not return the Secret %s of %s.secretRef: %s",
			ref.Name, to.Kind, trouble(err))
	}
	token := strings.TrimSpace(string(secret.Data[ref.Key]))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fails(v1alpha1.ReasonTokenMissing, "was not notified: the Secret %s of %s.secretRef has no valid token under key %s", ref.Name, to.Kind, ref.Key)
	}
	return token, nil
}

// trouble is what keeps the API server from answering, in words that are the same at each try.
func trouble(err error) string {
	switch reason := apierrors.ReasonForError(err); {
	case reason != metav1.StatusReasonUnknown:
		return string(reason)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Sprintf("no answer within %.0f s", secretPatience.Seconds())
	}
	return "it does not answer"
}

// reports are those of the runs of a round.
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

// dialect is what forges say differently of the same.
type dialect interface {
	// root is where a repository is below the address of the API.
	root(repository string) string
	// header has the fields of each request, with the token.
	header(token string) map[string]string
	// status is a commit's, as the forge takes it.
	status(of notify.CommitStatus) any
	// comments is where those of a pull request are made, and list where a page of them is, the oldest first.
	comments(pull string) string
	list(pull string, page int) string
	// change is how a comment is changed, and where.
	change(pull string, id int64) (method, path string)
	// text is that of a comment, with no command in it.
	text(of string) string
	// limited reports whether an answer says that too much was asked for, and what begins the names of its fields which say until when.
	limited(answer *http.Response, says string) (fields string, limited bool)
	// statusRefused and commentRefused say why the status of a commit is not set, and why a comment is not taken or comments are not shown.
	statusRefused(h *hub, r refused) error
	commentRefused(h *hub, r refused) error
}

// dialectOf is how a forge is spoken to.
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
	// repository is its address in the API.
	repository, token string
	to                notify.Forge
	at                notify.Place
	now               func() time.Time
}

// refused is an answer that is none of success, redirects, limits and trouble of the server's own.
type refused struct {
	status int
	// says is what its body begins with, which nobody is shown, and message what it is in a sentence.
	says, message string
}

// ask asks a forge for something. The answer's status is 2xx, and its body is to be closed. A refusal is what why says of it.
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
		return nil, fails(v1alpha1.ReasonSinkUnavailable, "does not answer: %s", cause(err))
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	says := drop(answer)
	return nil, h.refusal(answer, says, why)
}

// setStatus sets the status of the commit, and returns the id of the account whose token it was set with; 0 if the answer does not name it. It is the same
// for the token of a person and of an app, whose comments have it for their author.
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

// author is an account of a forge.
type author struct {
	ID int64 `json:"id"`
}

// send sends the text of a comment.
func (h *hub) send(ctx context.Context, method, path string, why func(*hub, refused) error, text string) error {
	answer, err := h.ask(ctx, method, h.repository+path, why, map[string]string{"body": h.text(text)})
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

// refusal is what an answer means that is no success, by its header and by what its body begins with.
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

// rest is how long a forge wants to be left alone, and a second, of which the suite's status knows no parts.
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

// comment puts a text into the comment of an account that begins with a marker, or makes that comment.
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

// changeRefused says why a comment is not changed. One that was deleted meanwhile is made at the next try.
func changeRefused(h *hub, r refused) error {
	if r.status == http.StatusNotFound {
		return fails(v1alpha1.ReasonSinkRefused, "%s to the comment, which existed a moment before", r.message)
	}
	return h.commentRefused(h, r)
}

// find is the id of the oldest comment of an account in the pull request that begins with a marker; 0 if none does.
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

// among is the id of the first of some comments that an account has made and that begins with a marker; 0 if none does. It holds one at a time. Who may write
// into the pull request can copy the marker: what others have written is not the suite's to change.
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
