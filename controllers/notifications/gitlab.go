package notifications

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

type gitLab struct{}

func (gitLab) root(project string) string { return "/projects/" + url.PathEscape(project) }

func (gitLab) header(token string) map[string]string {
	return map[string]string{"Accept": "application/json", "PRIVATE-TOKEN": token}
}

func (gitLab) status(of notify.CommitStatus) any {
	return struct {
		State       string `json:"state"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Target      string `json:"target_url,omitempty"`
	}{of.State, of.Context, of.Description, of.Target}
}

func (gitLab) comments(pull string) string { return "/merge_requests/" + pull + "/notes" }

func (d gitLab) list(pull string, page int) string {
	return fmt.Sprintf("%s?order_by=created_at&sort=asc&per_page=%d&page=%d", d.comments(pull), perPage, page)
}

func (d gitLab) change(pull string, id int64) (method, path string) {
	return http.MethodPut, fmt.Sprintf("%s/%d", d.comments(pull), id)
}

// commands match quick actions such as /merge, which GitLab would execute with the rights of the token's account.
var commands = regexp.MustCompile(`(?m)^([ \t\r]*)/`)

func (gitLab) text(of string) string { return commands.ReplaceAllString(of, `$1\/`) }

func (gitLab) limited(answer *http.Response, _ string) (fields string, limited bool) {
	return "Ratelimit-", answer.StatusCode == http.StatusTooManyRequests
}

// errSame is GitLab's refusal to set the status that a commit may already have.
var errSame = errors.New("the status of the commit cannot change from its current state to the new one")

func (gitLab) statusRefused(h *hub, r refused) error {
	says := r.message + " to the commit status"
	switch {
	case r.status == http.StatusBadRequest && strings.Contains(r.says, "cannot transition status"):
		return errSame
	case r.status == http.StatusNotFound && strings.Contains(r.says, "commit not found"):
		return final("%s: %s has no commit %s in any branch: correct parameter %s", says, h.at.Repository, h.at.Commit, h.to.CommitParameter)
	case r.status == http.StatusNotFound:
		says += ": gitLab.project does not exist, or the token of gitLab.secretRef may not see it"
	case r.status == http.StatusForbidden:
		says += ": the token of gitLab.secretRef needs the scope api, and its account the role Developer in gitLab.project" +
			" and, if the commit's branch is protected, the right to push or merge there"
		if !outOfScope(r) { // Of a protected branch it says no more than of a missing role, and other commits are in other branches.
			return final("%s", says)
		}
	}
	return fails(v1alpha1.ReasonSinkRefused, "%s", says)
}

func (gitLab) commentRefused(h *hub, r refused) error {
	says := r.message + " to the comment, but has the commit status"
	switch r.status {
	case http.StatusForbidden:
		says += ": allow the account of gitLab.secretRef's token to comment on merge requests of gitLab.project, or unlock the discussion"
		if !outOfScope(r) {
			return final("%s", says)
		}
	case http.StatusNotFound:
		return final("%s: %s has no merge request %s, or the token of gitLab.secretRef may not see it: correct parameter %s",
			says, h.at.Repository, h.at.Pull, h.to.PullParameter)
	case http.StatusBadRequest:
		return final("%s: the comment on merge request %s is not accepted, or there are too many", says, h.at.Pull)
	}
	return fails(v1alpha1.ReasonSinkRefused, "%s", says)
}

func outOfScope(r refused) bool { return strings.Contains(r.says, "insufficient_scope") }

// unchanged is the id of the token's account if its newest status of that name already has the wanted state. GitLab refuses to set pending or
// running again.
func (h *hub) unchanged(ctx context.Context, status notify.CommitStatus) (int64, error) {
	var me author
	if err := h.read(ctx, h.at.API+"/user", &me); err != nil {
		return 0, err
	}
	var all []struct {
		ID     int64  `json:"id"`
		Status string `json:"status"`
		Author author `json:"author"`
	}
	at := fmt.Sprintf("%s/repository/commits/%s/statuses?per_page=%d&name=%s", h.repository, h.at.Commit, perPage, url.QueryEscape(status.Context))
	if err := h.read(ctx, at, &all); err != nil {
		return 0, err
	}
	var newest int64
	state := "nothing"
	for _, s := range all {
		if s.Author == me && s.ID > newest {
			newest, state = s.ID, s.Status
		}
	}
	if state != status.State {
		return 0, fails(v1alpha1.ReasonSinkRefused, "answers 400 Bad Request to the commit status: it does not allow a change from %s to %s", state, status.State)
	}
	return me.ID, nil
}

func (h *hub) read(ctx context.Context, address string, into any) error {
	answer, err := h.ask(ctx, http.MethodGet, address, func(_ *hub, r refused) error {
		return fails(v1alpha1.ReasonSinkRefused, "%s to a request for the commit status", r.message)
	}, nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxPage)).Decode(into); err != nil {
		return fails(v1alpha1.ReasonSinkUnavailable, "does not return the commit status: the answer is incomplete or invalid")
	}
	return nil
}
