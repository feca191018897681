package notifications

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

type gitHub struct{}

func (gitHub) root(repository string) string { return "/repos/" + repository }

func (gitHub) header(token string) map[string]string {
	return map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "Authorization": "Bearer " + token}
}

func (gitHub) status(of notify.CommitStatus) any { return of }

func (gitHub) comments(pull string) string { return "/issues/" + pull + "/comments" }

func (d gitHub) list(pull string, page int) string {
	return fmt.Sprintf("%s?per_page=%d&page=%d", d.comments(pull), perPage, page)
}

func (gitHub) change(_ string, id int64) (method, path string) {
	return http.MethodPatch, "/issues/comments/" + strconv.FormatInt(id, 10)
}

func (gitHub) text(of string) string { return of }

// limited detects GitHub's secondary limits, which may have no header and the status of a missing right.
func (gitHub) limited(answer *http.Response, says string) (fields string, limited bool) {
	const prefix = "X-Ratelimit-"
	if answer.StatusCode != http.StatusForbidden {
		return prefix, answer.StatusCode == http.StatusTooManyRequests
	}
	return prefix, refusal(answer).After > 0 || answer.Header.Get(prefix+"Remaining") == "0" || asksForRest(says)
}

// asksForRest reports whether an answer's text describes a rate limit.
func asksForRest(says string) bool {
	says = strings.ToLower(says)
	return strings.Contains(says, "rate limit") || strings.Contains(says, "abuse detection")
}

func (gitHub) statusRefused(h *hub, r refused) error {
	says := r.message + " to the commit status"
	switch r.status {
	case http.StatusUnprocessableEntity:
		return final("%s: %s has no commit %s, or it already has 1,000 statuses: correct parameter %s", says, h.at.Repository, h.at.Commit, h.to.CommitParameter)
	case http.StatusForbidden:
		says += ": allow the token of gitHub.secretRef to write commit statuses of gitHub.repository"
	case http.StatusNotFound:
		says += ": gitHub.repository does not exist, or the token of gitHub.secretRef may not write its commit statuses"
	}
	return fails(v1alpha1.ReasonSinkRefused, "%s", says)
}

func (gitHub) commentRefused(h *hub, r refused) error {
	says := r.message + " to the comment, but has the commit status"
	switch r.status {
	case http.StatusForbidden:
		if strings.Contains(r.says, "issue is locked") { // It says so of pull requests, too.
			return final("%s: the conversation of pull request %s is locked: unlock it", says, h.at.Pull)
		}
		says += ": allow the token of gitHub.secretRef to write pull requests of gitHub.repository, or unlock the conversation"
	case http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity:
		return final("%s: %s has no pull request %s, or the token of gitHub.secretRef may not write it: correct parameter %s",
			says, h.at.Repository, h.at.Pull, h.to.PullParameter)
	}
	return fails(v1alpha1.ReasonSinkRefused, "%s", says)
}
