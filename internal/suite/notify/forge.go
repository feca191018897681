package notify

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

const (
	// GitHub and GitLab name the forges as in a notification's fields.
	GitHub, GitLab           = "gitHub", "gitLab"
	apiOfGitHub, apiOfGitLab = "https://api.github.com", "https://gitlab.com/api/v4"
	none                     = "none"
	// roomInGitHub and roomInGitLab are the most characters of a status description.
	roomInGitHub, roomInGitLab = 140, 255
	// maxPull bounds a pull request's number; a suite's pattern may allow any length.
	maxPull = 64
)

var (
	commits = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)
	numbers = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)
	// links match addresses that are safe in Markdown.
	links = regexp.MustCompile(`^https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]+$`)
)

func onForge(n v1alpha1.Notification) bool {
	return n.GitHub.Repository != "" || n.GitLab.Project != ""
}

// Forge is a repository that hears of rounds, with its forge's terms.
type Forge struct {
	// Kind is GitHub or GitLab.
	Kind string
	// API is the API's address without a final slash; Repository is owner and name, or GitLab's project.
	API, Repository string
	SecretRef       v1alpha1.KeyReference
	// CommitParameter and PullParameter hold the commit and the pull request's number; PullParameter may be empty.
	CommitParameter, PullParameter string
	Link                           string
	// Pull is the forge's word for a pull request. RepositoryField and PullField are the notification's fields for
	// repository and PullParameter.
	Pull, RepositoryField, PullField string
	room                             int
}

// ForgeOf returns a notification's repository.
func ForgeOf(n v1alpha1.Notification) Forge {
	if l := n.GitLab; l.Project != "" {
		return Forge{
			Kind: GitLab, API: strings.TrimRight(cmp.Or(l.APIURL, apiOfGitLab), "/"), Repository: l.Project, SecretRef: l.SecretRef,
			CommitParameter: l.CommitParameter, PullParameter: l.MergeRequestParameter, Link: l.Link,
			Pull: "merge request", RepositoryField: "gitLab.project", PullField: "gitLab.mergeRequestParameter", room: roomInGitLab,
		}
	}
	h := n.GitHub
	return Forge{
		Kind: GitHub, API: strings.TrimRight(cmp.Or(h.APIURL, apiOfGitHub), "/"), Repository: h.Repository, SecretRef: h.SecretRef,
		CommitParameter: h.CommitParameter, PullParameter: h.PullRequestParameter, Link: h.Link,
		Pull: "pull request", RepositoryField: "gitHub.repository", PullField: "gitHub.pullRequestParameter", room: roomInGitHub,
	}
}

// Noted returns the values that notifications need, for the round to keep. If a request gave values, the spec's own
// commit is left out, since it may have other inputs.
func Noted(spec v1alpha1.BenchmarkSuiteSpec, values, given []v1alpha1.ParameterValue) []v1alpha1.ParameterValue {
	var noted []v1alpha1.ParameterValue
	for _, v := range values {
		own := len(given) == 0 || slices.ContainsFunc(given, func(g v1alpha1.ParameterValue) bool { return g.Name == v.Name })
		if slices.ContainsFunc(spec.Notifications, func(n v1alpha1.Notification) bool {
			to := ForgeOf(n)
			return to.CommitParameter == v.Name && own || to.PullParameter == v.Name
		}) {
			noted = append(noted, v)
		}
	}
	return noted
}

// PullRequest returns the number of the pull request that a webhook request wants measured; empty if it gives none,
// or only the suite's own default.
func PullRequest(spec v1alpha1.BenchmarkSuiteSpec, given []v1alpha1.ParameterValue) string {
	for _, n := range spec.Notifications {
		for _, g := range given {
			own := func(p v1alpha1.Parameter) bool { return p.Name == g.Name && p.Default == g.Value }
			if g.Name == ForgeOf(n).PullParameter && g.Value != none && !slices.ContainsFunc(spec.Parameters, own) {
				return util.Clip(g.Value, maxPull)
			}
		}
	}
	return ""
}

func value(line v1alpha1.SuiteRound, parameter string) string {
	for _, v := range slices.Concat(line.Noted, line.Parameters) {
		if v.Name == parameter && v.Value != none {
			return v.Value
		}
	}
	return ""
}

// Place is where a forge shows a round.
type Place struct {
	API, Repository string
	// Commit and Pull were measured; empty if none.
	Commit, Pull string
}

// PlaceOf returns where a repository shows a round.
func PlaceOf(to Forge, line v1alpha1.SuiteRound) Place {
	return Place{to.API, to.Repository, value(line, to.CommitParameter), value(line, to.PullParameter)}
}

// CommitFault returns the permanent problem of a round's commit; empty if there is none.
func (p Place) CommitFault(to Forge) string {
	if commits.MatchString(p.Commit) {
		return ""
	}
	return fmt.Sprintf("has no commit: the value of %s is %q. Use the commit's 40 hexadecimal digits, or none, with the pattern [0-9a-f]{40}|none",
		to.CommitParameter, util.Clip(p.Commit, 60))
}

// PullFault returns the problem of a round's pull request; empty if there is no problem or no pull request.
func (p Place) PullFault(to Forge) string {
	if p.Pull == "" || numbers.MatchString(p.Pull) {
		return ""
	}
	return fmt.Sprintf("has the status of the commit but no comment: the value of %s is %q. Use the number of a %s, or none, with the pattern [1-9][0-9]*|none",
		to.PullParameter, util.Clip(p.Pull, 60), to.Pull)
}

// CommitStatus is a commit's status in GitHub's JSON.
type CommitStatus struct {
	// State is success, failure (worse than allowed) or error (unknown). GitLab has success, failed (for both
	// others), and canceled for a replaced round.
	State       string `json:"state"`
	Description string `json:"description"`
	Context     string `json:"context"`
	Target      string `json:"target_url,omitempty"`
}

// StatusOf returns a round's commit status. It is a success only if the gate opens; lenient gates open for
// inconclusive rounds. Its context names suite and notification, since a forge shows one status per context.
func StatusOf(e Event, n v1alpha1.Notification, gate v1alpha1.Gate) CommitStatus {
	to := ForgeOf(n)
	state, text := e.Data.means(gate)
	return CommitStatus{
		State: to.state(state, e.Data.Outcome), Description: cut(plain(text), to.room), Context: "loadstone/" + e.Subject + "/" + n.Name, Target: to.Link,
	}
}

// state returns the forge's word for a state. GitLab has none for unknown: inputs not shown to be good have failed
// there, and the description tells the difference.
func (f Forge) state(state string, outcome v1alpha1.RoundOutcome) string {
	switch {
	case f.Kind == GitHub:
		return state
	case outcome == v1alpha1.RoundReplaced:
		return "canceled"
	case state == "failure", state == "error":
		return "failed"
	}
	return state
}

// means returns the commit's state, and why.
func (d Data) means(gate v1alpha1.Gate) (state, why string) {
	state, why = d.stands(gate)
	switch of := fmt.Sprintf("round %d: ", d.Round); {
	case !d.MeasuredBefore:
	case without(d.Outcome):
		why = fmt.Sprintf("round %d has the same inputs: %s", d.Round, why)
	default:
		why = "measured before, in " + of + strings.TrimPrefix(why, of)
	}
	return state, why
}

// stands returns the state of the round by the rules of the gate, whether or not it judges the suite, and why. If it
// does, change points may still close the gate.
func (d Data) stands(gate v1alpha1.Gate) (state, why string) {
	if g := d.Gate; g != nil && g.Ready != metav1.ConditionTrue {
		switch g.Reason {
		case v1alpha1.ReasonRegressed:
			return "failure", g.Message
		case v1alpha1.ReasonStoreUnavailable, v1alpha1.ReasonStoreRefused:
			return "error", g.Message
		case v1alpha1.ReasonInProgress:
			if gate.ChangePoints.WithinRounds > 0 { // News is sent once, and the gate may still fail.
				return "error", "sent before its change points were known: " + g.Message
			}
		}
	}
	why = strings.ToLower(string(d.Outcome))
	if d.Message != "" {
		why += ": " + d.Message
	}
	switch d.Outcome {
	case v1alpha1.RoundPassed:
		return "success", why
	case v1alpha1.RoundMissed:
		return "failure", why
	case v1alpha1.RoundInconclusive:
		if gate.OnInconclusive == v1alpha1.InconclusivePasses {
			return "success", why
		}
	case v1alpha1.RoundReplaced:
		return "error", "replaced by a newer round before it ended"
	case v1alpha1.RoundIncomplete:
		return "error", "incomplete: a run of the round is missing"
	case v1alpha1.RoundFailed:
	}
	return "error", why
}

// plain removes what forges refuse: characters beyond U+FFFF, and line breaks.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xffff {
			return '?'
		}
		return r
	}, strings.Join(strings.Fields(text), " "))
}

func cut(text string, most int) string {
	all := []rune(text)
	if len(all) <= most {
		return text
	}
	short := string(all[:most-1])
	if i := strings.LastIndexByte(short, ' '); i > 0 && all[most-1] != ' ' {
		short = short[:i]
	}
	return strings.TrimRight(short, " ,;:") + "…"
}

func forgeFault(spec v1alpha1.BenchmarkSuiteSpec, to Forge) string {
	switch wrong := fault(to.API); {
	case wrong != "":
		return to.Kind + ".apiURL " + wrong
	case !strings.HasPrefix(strings.ToLower(to.API), "https://"):
		return to.Kind + ".apiURL must begin with https://, because it receives a token"
	case strings.Contains(to.API, "?"):
		return to.Kind + ".apiURL must not contain a query: remove ? and everything after it"
	}
	if to.Link != "" && !links.MatchString(to.Link) {
		return to.Kind + ".link must begin with http:// or https:// and contain no character that URLs escape, such as spaces and brackets"
	}
	if wrong := parameterFault(spec, to.CommitParameter, commits, "a commit's 40 hexadecimal digits"); wrong != "" {
		return to.Kind + ".commitParameter " + wrong
	}
	if to.PullParameter == "" {
		return ""
	}
	if wrong := parameterFault(spec, to.PullParameter, numbers, "the number of a "+to.Pull); wrong != "" {
		return to.PullField + " " + wrong
	}
	return ""
}

func parameterFault(spec v1alpha1.BenchmarkSuiteSpec, name string, form *regexp.Regexp, what string) string {
	p := util.First(spec.Parameters, func(p *v1alpha1.Parameter) bool { return p.Name == name })
	switch {
	case p == nil:
		return fmt.Sprintf("is %s, but the suite has no such parameter", name)
	case p.Default != none && !form.MatchString(p.Default):
		return fmt.Sprintf("is %s, whose default must be %s, or none if only requests set it", name, what)
	}
	return ""
}
