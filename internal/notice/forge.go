package notice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/pick"
)

const (
	// gitHub is where the API of GitHub is, unless a notification says.
	gitHub = "https://api.github.com"
	// none is the value of a parameter that holds no commit, or no pull request.
	none = "none"
	// roomInStatus is how many characters GitHub takes of what a commit's status says.
	roomInStatus = 140
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
func onForge(n v1alpha1.Notification) bool { return n.GitHub.Repository != "" }

// Noted are the values, of all that a round has, of the parameters that notifications name: the round keeps them.
func Noted(spec v1alpha1.BenchmarkSuiteSpec, values []v1alpha1.ParameterValue) []v1alpha1.ParameterValue {
	var noted []v1alpha1.ParameterValue
	for _, v := range values {
		if slices.ContainsFunc(spec.Notifications, func(n v1alpha1.Notification) bool {
			return n.GitHub.CommitParameter == v.Name || n.GitHub.PullRequestParameter == v.Name
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
			if g.Name == n.GitHub.PullRequestParameter && g.Value != none && !slices.ContainsFunc(spec.Parameters, own) {
				return pick.Clip(g.Value, maxPull)
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
	// API is the address of its API, without a slash at its end, and Repository the owner and name of the repository.
	API, Repository string
	// Commit is what the round has measured, and Pull the number of its pull request; empty if there is none.
	Commit, Pull string
}

// PlaceOf is where a repository shows a round.
func PlaceOf(to v1alpha1.GitHubNotification, line v1alpha1.SuiteRound) Place {
	p := Place{gitHub, to.Repository, value(line, to.CommitParameter), value(line, to.PullRequestParameter)}
	if to.APIURL != "" {
		p.API = strings.TrimRight(to.APIURL, "/")
	}
	return p
}

// CommitFault is what is wrong with the commit that a round names, which will not change; empty if nothing is.
func (p Place) CommitFault(to v1alpha1.GitHubNotification) string {
	if commits.MatchString(p.Commit) {
		return ""
	}
	return fmt.Sprintf("has no commit: the value of %s is %q. Let it be the commit's 40 hexadecimal digits or none, and give it the pattern [0-9a-f]{40}|none",
		to.CommitParameter, pick.Clip(p.Commit, 60))
}

// PullFault is what is wrong with the pull request that a round names; empty if nothing is, or it names none.
func (p Place) PullFault(to v1alpha1.GitHubNotification) string {
	if p.Pull == "" || numbers.MatchString(p.Pull) {
		return ""
	}
	return fmt.Sprintf("has the status of the commit and no comment: the value of %s is %q. Let it be a pull request's number or none, and give it the pattern [1-9][0-9]*|none",
		to.PullRequestParameter, pick.Clip(p.Pull, 60))
}

// CommitStatus is the status of a commit, as GitHub takes it.
type CommitStatus struct {
	// State is success, failure (it is worse than it may be) or error (it is not known whether it is).
	State       string `json:"state"`
	Description string `json:"description"`
	Context     string `json:"context"`
	Target      string `json:"target_url,omitempty"`
}

// StatusOf is the status that a round gives to its commit. It is a success only if the gate opens: lenient gates do for what is inconclusive. Its context
// names the suite and the notification: of statuses with the same context GitHub shows one.
func StatusOf(e Event, n v1alpha1.Notification, gate v1alpha1.Gate) CommitStatus {
	state, text := e.Data.means(gate)
	return CommitStatus{State: state, Description: cut(plain(text), roomInStatus), Context: "loadstone/" + e.Subject + "/" + n.Name, Target: n.GitHub.Link}
}

// means is the state of the commit that is told of the round, and why in a sentence.
func (d Data) means(gate v1alpha1.Gate) (state, why string) {
	state, why = d.stands(gate)
	if of := fmt.Sprintf("round %d: ", d.Round); d.MeasuredBefore {
		why = "measured before, in " + of + strings.TrimPrefix(why, of)
	}
	return state, why
}

// stands is the state of the round's commit, and why in a sentence. It is that of the round itself, by the rules of the gate, whether or not the suite is
// judged by this round; where the suite is, change points may shut the gate behind it.
func (d Data) stands(gate v1alpha1.Gate) (state, why string) {
	if g := d.Gate; g != nil && g.Ready != metav1.ConditionTrue {
		switch g.Reason {
		case v1alpha1.ReasonBecameWorse:
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

// plain leaves out what GitHub refuses in the status of a commit: characters beyond Unicode's first 65,536, and lines.
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
func forgeFault(spec v1alpha1.BenchmarkSuiteSpec, to v1alpha1.GitHubNotification) string {
	if to.APIURL != "" {
		switch wrong := fault(to.APIURL); {
		case wrong != "":
			return "gitHub.apiURL " + wrong
		case !strings.HasPrefix(strings.ToLower(to.APIURL), "https://"):
			return "gitHub.apiURL must begin with https://, since a token is sent to it"
		case strings.Contains(to.APIURL, "?"):
			return "gitHub.apiURL holds a query, behind which no path can stand: leave out ? and what follows"
		}
	}
	if to.Link != "" && !links.MatchString(to.Link) {
		return "gitHub.link must begin with http:// or https:// and hold no character that addresses write with %, such as spaces and brackets"
	}
	if wrong := parameterFault(spec, to.CommitParameter, commits, "a commit's 40 hexadecimal digits"); wrong != "" {
		return "gitHub.commitParameter " + wrong
	}
	if to.PullRequestParameter == "" {
		return ""
	}
	if wrong := parameterFault(spec, to.PullRequestParameter, numbers, "the number of a pull request"); wrong != "" {
		return "gitHub.pullRequestParameter " + wrong
	}
	return ""
}

// parameterFault is what is wrong with a parameter that is to hold something; empty if nothing is.
func parameterFault(spec v1alpha1.BenchmarkSuiteSpec, name string, form *regexp.Regexp, what string) string {
	p := pick.First(spec.Parameters, func(p *v1alpha1.Parameter) bool { return p.Name == name })
	switch {
	case p == nil:
		return fmt.Sprintf("is %s, which is none of the suite's parameters", name)
	case p.Default != none && !form.MatchString(p.Default):
		return fmt.Sprintf("is %s, whose default must be %s, or none where only requests know it", name, what)
	}
	return ""
}
