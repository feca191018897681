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
	// GitHub and GitLab are the forges, by the member of a notification that names a repository of theirs.
	GitHub, GitLab = "gitHub", "gitLab"
	// apiOfGitHub and apiOfGitLab are where their APIs are, unless a notification says.
	apiOfGitHub, apiOfGitLab = "https://api.github.com", "https://gitlab.com/api/v4"
	// none is the value of a parameter that holds no commit, or no pull request.
	none = "none"
	// roomInGitHub and roomInGitLab are how many characters they take of what a commit's status says.
	roomInGitHub, roomInGitLab = 140, 255
	// maxPull bounds what a round keeps of the number of its pull request, which is as long as a suite's pattern lets it be.
	maxPull = 64
)

var (
	commits = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)
	numbers = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)
	// links are addresses of which no part is markup, so that one can stand in a comment.
	links = regexp.MustCompile(`^https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]+$`)
)

// onForge reports whether a notification is one of a forge, and no sink of events.
func onForge(n v1alpha1.Notification) bool {
	return n.GitHub.Repository != "" || n.GitLab.Project != ""
}

// Forge is a repository that is told of rounds: what a notification says of it, and how its forge calls things.
type Forge struct {
	// Kind is GitHub or GitLab.
	Kind string
	// API is the address of its API, without a slash at its end, and Repository the owner and name of the repository, or GitLab's project.
	API, Repository string
	SecretRef       v1alpha1.KeyReference
	// CommitParameter and PullParameter are the parameters with the commit, and with the number of the pull request; that is empty if none is told.
	CommitParameter, PullParameter string
	Link                           string
	// Pull is the forge's word for a pull request; RepositoryField and PullField are where the notification has the repository and PullParameter.
	Pull, RepositoryField, PullField string
	// room is how many characters what a status says may have.
	room int
}

// ForgeOf is the repository of a notification.
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

// Noted are the values, of all that a round has, of the parameters that notifications name: the round keeps them. Where a request has given values, the
// spec's own commit is none of them: it may have other inputs.
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

// PullRequest is the number of the pull request that a request to the webhook asks to be measured: what it gives to a parameter that notifications name
// for that. It is empty if it gives none, or the one that the suite has by itself, as a suite that was made for a pull request.
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

// value is that of a parameter in a round; empty if it is none, or if the round does not know it.
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
	// API and Repository are those of the Forge.
	API, Repository string
	// Commit is what the round has measured, and Pull the number of its pull request; empty if there is none.
	Commit, Pull string
}

// PlaceOf is where a repository shows a round.
func PlaceOf(to Forge, line v1alpha1.SuiteRound) Place {
	return Place{to.API, to.Repository, value(line, to.CommitParameter), value(line, to.PullParameter)}
}

// CommitFault is what is wrong with the commit that a round names, which will not change; empty if nothing is.
func (p Place) CommitFault(to Forge) string {
	if commits.MatchString(p.Commit) {
		return ""
	}
	return fmt.Sprintf("has no commit: the value of %s is %q. Let it be the commit's 40 hexadecimal digits or none, and give it the pattern [0-9a-f]{40}|none",
		to.CommitParameter, util.Clip(p.Commit, 60))
}

// PullFault is what is wrong with the pull request that a round names; empty if nothing is, or it names none.
func (p Place) PullFault(to Forge) string {
	if p.Pull == "" || numbers.MatchString(p.Pull) {
		return ""
	}
	return fmt.Sprintf("has the status of the commit and no comment: the value of %s is %q. Let it be a %s's number or none, and give it the pattern [1-9][0-9]*|none",
		to.PullParameter, util.Clip(p.Pull, 60), to.Pull)
}

// CommitStatus is the status of a commit, in JSON as GitHub takes it.
type CommitStatus struct {
	// State is success, failure (it is worse than it may be) or error (it is not known whether it is). GitLab's are success, failed, which is both of
	// the others there, and canceled, of a round that was replaced.
	State       string `json:"state"`
	Description string `json:"description"`
	Context     string `json:"context"`
	Target      string `json:"target_url,omitempty"`
}

// StatusOf is the status that a round gives to its commit. It is a success only if the gate opens: lenient gates do for what is inconclusive. Its context
// names the suite and the notification: of statuses with the same context a forge shows one.
func StatusOf(e Event, n v1alpha1.Notification, gate v1alpha1.Gate) CommitStatus {
	to := ForgeOf(n)
	state, text := e.Data.means(gate)
	return CommitStatus{
		State: to.state(state, e.Data.Outcome), Description: cut(plain(text), to.room), Context: "loadstone/" + e.Subject + "/" + n.Name, Target: to.Link,
	}
}

// state is the forge's word for a state. GitLab has none for what is not known: what was not shown to be good enough has failed there, and its
// description says which of both it is.
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

// means is the state of the commit that is told of the round, and why in a sentence.
func (d Data) means(gate v1alpha1.Gate) (state, why string) {
	state, why = d.stands(gate)
	switch of := fmt.Sprintf("round %d: ", d.Round); {
	case !d.MeasuredBefore:
	case without(d.Outcome):
		why = fmt.Sprintf("round %d was to measure the same: %s", d.Round, why)
	default:
		why = "measured before, in " + of + strings.TrimPrefix(why, of)
	}
	return state, why
}

// stands is the state of the round's commit, and why in a sentence. It is that of the round itself, by the rules of the gate, whether or not the suite is
// judged by this round; where the suite is, change points may shut the gate behind it.
func (d Data) stands(gate v1alpha1.Gate) (state, why string) {
	if g := d.Gate; g != nil && g.Ready != metav1.ConditionTrue {
		switch g.Reason {
		case v1alpha1.ReasonRegressed:
			return "failure", g.Message
		case v1alpha1.ReasonStoreUnavailable, v1alpha1.ReasonStoreRefused:
			return "error", g.Message
		case v1alpha1.ReasonInProgress:
			if gate.ChangePoints.WithinRounds > 0 { // What is told is not told again, and the gate may shut yet.
				return "error", "told before its change points were known: " + g.Message
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
		return "error", "replaced by a newer round, and not measured to its end"
	case v1alpha1.RoundIncomplete:
		return "error", "incomplete: a run of the round is missing"
	case v1alpha1.RoundFailed:
	}
	return "error", why
}

// plain leaves out what forges refuse in the status of a commit: characters beyond Unicode's first 65,536, and lines.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xffff {
			return '?'
		}
		return r
	}, strings.Join(strings.Fields(text), " "))
}

// cut shortens a text to so many characters, at the end of a word where it has several.
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

// forgeFault is what is wrong with where the status of commits is to stand, as a field and a sentence; empty if nothing is.
func forgeFault(spec v1alpha1.BenchmarkSuiteSpec, to Forge) string {
	switch wrong := fault(to.API); {
	case wrong != "":
		return to.Kind + ".apiURL " + wrong
	case !strings.HasPrefix(strings.ToLower(to.API), "https://"):
		return to.Kind + ".apiURL must begin with https://, since a token is sent to it"
	case strings.Contains(to.API, "?"):
		return to.Kind + ".apiURL holds a query, behind which no path can stand: leave out ? and what follows"
	}
	if to.Link != "" && !links.MatchString(to.Link) {
		return to.Kind + ".link must begin with http:// or https:// and hold no character that addresses write with %, such as spaces and brackets"
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

// parameterFault is what is wrong with a parameter that is to hold something; empty if nothing is.
func parameterFault(spec v1alpha1.BenchmarkSuiteSpec, name string, form *regexp.Regexp, what string) string {
	p := util.First(spec.Parameters, func(p *v1alpha1.Parameter) bool { return p.Name == name })
	switch {
	case p == nil:
		return fmt.Sprintf("is %s, which is none of the suite's parameters", name)
	case p.Default != none && !form.MatchString(p.Default):
		return fmt.Sprintf("is %s, whose default must be %s, or none where only requests know it", name, what)
	}
	return ""
}
