package notify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/report/format"
)

const commit = "1a2b3c4d5e6f708192a3b4c5d6e7f80912a3b4c5"

func forged(name string) v1alpha1.Notification {
	return v1alpha1.Notification{Name: name, GitHub: v1alpha1.GitHubNotification{
		Repository: "shop/checkout", SecretRef: v1alpha1.KeyReference{Name: "checkout-github", Key: "token"},
		CommitParameter: "commit", PullRequestParameter: "pull",
	}}
}

func inGitLab(name string) v1alpha1.Notification {
	return v1alpha1.Notification{Name: name, GitLab: v1alpha1.GitLabNotification{
		Project: "shop/checkout", SecretRef: v1alpha1.KeyReference{Name: "checkout-gitlab", Key: "token"},
		CommitParameter: "commit", MergeRequestParameter: "pull", Link: "https://bench.example",
	}}
}

func parametersOf(pairs ...string) []v1alpha1.Parameter {
	var all []v1alpha1.Parameter
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, v1alpha1.Parameter{Name: pairs[i], Default: pairs[i+1]})
	}
	return all
}

func with(line v1alpha1.SuiteRound, pairs ...string) v1alpha1.SuiteRound {
	for i := 0; i < len(pairs); i += 2 {
		line.Noted = append(line.Noted, v1alpha1.ParameterValue{Name: pairs[i], Value: pairs[i+1]})
	}
	return line
}

func TestInvalidRepositoryIsRefused(t *testing.T) {
	type change = func(*v1alpha1.BenchmarkSuiteSpec, *v1alpha1.GitHubNotification)
	api := func(address string) change {
		return func(_ *v1alpha1.BenchmarkSuiteSpec, g *v1alpha1.GitHubNotification) { g.APIURL = address }
	}
	link := func(address string) change {
		return func(_ *v1alpha1.BenchmarkSuiteSpec, g *v1alpha1.GitHubNotification) { g.Link = address }
	}
	named := func(commit, pull string) change {
		return func(_ *v1alpha1.BenchmarkSuiteSpec, g *v1alpha1.GitHubNotification) {
			g.CommitParameter, g.PullRequestParameter = commit, pull
		}
	}
	defaults := func(commit, pull string) change {
		return func(s *v1alpha1.BenchmarkSuiteSpec, _ *v1alpha1.GitHubNotification) {
			s.Parameters = parametersOf("commit", commit, "pull", pull)
		}
	}
	for name, tc := range map[string]struct {
		change change
		want   string
	}{
		"as it should be":         {defaults("none", "none"), ""},
		"an enterprise server":    {api("https://github.example/api/v3/"), ""},
		"comments are left out":   {named("commit", ""), ""},
		"Git writes the commit":   {defaults(commit, "7"), ""},
		"a link":                  {link("https://bench.example/a?b=c%20d#e"), ""},
		"a token in plain text":   {api("http://github.example/api/v3"), "apiURL must begin with https://, because it receives a token"},
		"an address of its own":   {api("https://169.254.169.254"), "apiURL is a loopback, link-local, multicast or metadata address"},
		"no address":              {api("github.example"), "apiURL must begin with http"},
		"a query":                 {api("https://github.example/?a=b"), "apiURL must not contain a query"},
		"a link that is a script": {link("javascript:alert(1)"), "link must begin with http://"},
		"a link with markup":      {link("https://a.example/> ![x](y"), "link must begin with http://"},
		"no such parameter":       {named("comit", "pull"), "commitParameter is comit, but the suite has no such parameter"},
		"no such second one":      {named("commit", "pr"), "pullRequestParameter is pr, but the suite has no such parameter"},
		"half a commit":           {defaults("1a2b3c4", "7"), "commitParameter is commit, whose default must be a commit's 40 hexadecimal digits, or none"},
		"no number":               {defaults(commit, "#7"), "pullRequestParameter is pull, whose default must be the number of a pull request, or none"},
	} {
		t.Run(name, func(t *testing.T) {
			n := forged("forge")
			spec := v1alpha1.BenchmarkSuiteSpec{Parameters: parametersOf("commit", "none", "pull", "none")}
			tc.change(&spec, &n.GitHub)
			spec.Notifications = []v1alpha1.Notification{n}
			err := Check(spec)
			if tc.want == "" && err != nil {
				t.Error(err)
			} else if tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "notifications[forge].gitHub."+tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestGitHubLinkOfRound(t *testing.T) {
	const noCommit, noPull = "has no commit: the value of commit is ", "has the status of the commit but no comment: the value of pull is "
	for name, tc := range map[string]struct {
		commit, pull string
		// wrong is the fault of either.
		want  [2]string
		wrong string
	}{
		"a commit and its pull request": {commit, "7", [2]string{commit, "7"}, ""},
		"a commit of the main branch":   {commit, "none", [2]string{commit, ""}, ""},
		"half a commit":                 {"1a2b3c4", "none", [2]string{"1a2b3c4", ""}, noCommit + `"1a2b3c4"`},
		"a path":                        {"../../user", "none", [2]string{"../../user", ""}, noCommit},
		"a pull request that is none":   {commit, "7/../8", [2]string{commit, "7/../8"}, noPull + `"7/../8"`},
		"the zeroth":                    {commit, "0", [2]string{commit, "0"}, noPull},
	} {
		t.Run(name, func(t *testing.T) {
			to := ForgeOf(forged("forge"))
			got := PlaceOf(to, with(ended(1, v1alpha1.RoundPassed, 0), "commit", tc.commit, "pull", tc.pull))
			if want := (Place{"https://api.github.com", "shop/checkout", tc.want[0], tc.want[1]}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if wrong := got.CommitFault(to) + got.PullFault(to); !strings.HasPrefix(wrong, tc.wrong) || (wrong == "") != (tc.wrong == "") {
				t.Errorf("%q is wrong", wrong)
			}
		})
	}
	own := forged("forge")
	own.GitHub.APIURL = "https://github.example/api/v3/"
	if p := PlaceOf(ForgeOf(own), with(ended(1, v1alpha1.RoundPassed, 0), "commit", commit)); p.API != "https://github.example/api/v3" {
		t.Errorf("the API of an enterprise server is at %s", p.API)
	}
}

func TestARoundNotesWhatNotificationsName(t *testing.T) {
	values := []v1alpha1.ParameterValue{{Name: "image", Value: "a:1"}, {Name: "commit", Value: commit}, {Name: "pull", Value: "7"}}
	repository := v1alpha1.BenchmarkSuiteSpec{Notifications: []v1alpha1.Notification{forged("forge")}}
	for name, tc := range map[string]struct {
		spec        v1alpha1.BenchmarkSuiteSpec
		given, want []v1alpha1.ParameterValue
	}{
		"a repository": {repository, nil, values[1:]},
		"a repository, where a request gives the commit":  {repository, values[:2], values[1:]},
		"a repository, where a request gives no commit":   {repository, values[:1], values[2:]},
		"a repository, where a request gives only a pull": {repository, values[2:], values[2:]},
		"a project": {v1alpha1.BenchmarkSuiteSpec{Notifications: []v1alpha1.Notification{inGitLab("forge")}}, nil, values[1:]},
		"a sink":    {v1alpha1.BenchmarkSuiteSpec{Notifications: []v1alpha1.Notification{{Name: "events", URL: "https://a.example"}}}, nil, nil},
		"nothing":   {v1alpha1.BenchmarkSuiteSpec{}, nil, nil},
	} {
		if diff := cmp.Diff(tc.want, Noted(tc.spec, values, tc.given)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// No round is a success that the gate would not pass, and unknown is no failure.
func TestWhichPullRequestARequestGives(t *testing.T) {
	for name, tc := range map[string]struct {
		own   string
		given []v1alpha1.ParameterValue
		want  string
	}{
		"a number":                         {"none", []v1alpha1.ParameterValue{{Name: "commit", Value: commit}, {Name: "pull", Value: "7"}}, "7"},
		"none":                             {"none", []v1alpha1.ParameterValue{{Name: "pull", Value: "none"}}, ""},
		"another parameter":                {"none", []v1alpha1.ParameterValue{{Name: "commit", Value: commit}}, ""},
		"nothing":                          {"none", nil, ""},
		"that of a suite which is for one": {"7", []v1alpha1.ParameterValue{{Name: "pull", Value: "7"}}, ""},
		"another than that of its suite":   {"7", []v1alpha1.ParameterValue{{Name: "pull", Value: "8"}}, "8"},
		"what is no number, and too long":  {"none", []v1alpha1.ParameterValue{{Name: "pull", Value: strings.Repeat("x", 100)}}, strings.Repeat("x", 61) + "..."},
	} {
		t.Run(name, func(t *testing.T) {
			spec := v1alpha1.BenchmarkSuiteSpec{
				Parameters:    parametersOf("commit", "none", "pull", tc.own),
				Notifications: []v1alpha1.Notification{{Name: "events", URL: "https://events.example/"}, forged("forge")},
			}
			if got := PullRequest(spec, tc.given); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTheStateOfACommit(t *testing.T) {
	strict, lenient := v1alpha1.Gate{}, v1alpha1.Gate{OnInconclusive: v1alpha1.InconclusivePasses}
	other := &Gate{metav1.ConditionUnknown, v1alpha1.ReasonPending, "this round does not judge the suite"}
	for name, tc := range map[string]struct {
		outcome     v1alpha1.RoundOutcome
		judged      *Gate
		gate        v1alpha1.Gate
		state, text string
	}{
		"passed":                             {v1alpha1.RoundPassed, &Gate{Ready: metav1.ConditionTrue}, strict, "success", "passed: small: 0.81"},
		"passed beside the suite's own":      {v1alpha1.RoundPassed, other, strict, "success", "passed: small: 0.81"},
		"missed":                             {v1alpha1.RoundMissed, &Gate{metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "x"}, lenient, "failure", "missed: small: 0.81"},
		"missed beside the suite's own":      {v1alpha1.RoundMissed, other, lenient, "failure", "missed: small: 0.81"},
		"inconclusive":                       {v1alpha1.RoundInconclusive, &Gate{metav1.ConditionFalse, v1alpha1.ReasonObjectivesUndecided, "x"}, strict, "error", "inconclusive: small: 0.81"},
		"inconclusive by default":            {v1alpha1.RoundInconclusive, other, v1alpha1.Gate{OnInconclusive: v1alpha1.InconclusiveFails}, "error", "inconclusive: small: 0.81"},
		"inconclusive, which the gate takes": {v1alpha1.RoundInconclusive, other, lenient, "success", "inconclusive: small: 0.81"},
		"failed":                             {v1alpha1.RoundFailed, other, lenient, "error", "failed: small: 0.81"},
		"replaced":                           {v1alpha1.RoundReplaced, nil, lenient, "error", "replaced by a newer round before it ended"},
		"incomplete":                         {v1alpha1.RoundIncomplete, nil, lenient, "error", "incomplete: a run of the round is missing"},
		"passed, and a value became worse":   {v1alpha1.RoundPassed, &Gate{metav1.ConditionFalse, v1alpha1.ReasonRegressed, "round 13: −10 %"}, lenient, "failure", "round 13: −10 %"},
		"passed, and the store is away":      {v1alpha1.RoundPassed, &Gate{metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable, "no route"}, strict, "error", "no route"},
		"passed, and not yet looked back": {
			v1alpha1.RoundPassed, &Gate{metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "waits"},
			v1alpha1.Gate{ChangePoints: v1alpha1.ChangePointGate{WithinRounds: 3}},
			"error", "sent before its change points were known: waits",
		},
		"passed, and nobody looked back":    {v1alpha1.RoundPassed, &Gate{metav1.ConditionTrue, v1alpha1.ReasonStoreRefused, "no key"}, lenient, "success", "passed: small: 0.81"},
		"passed, and the spec is wrong now": {v1alpha1.RoundPassed, &Gate{metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, "no cron line"}, strict, "success", "passed: small: 0.81"},
	} {
		t.Run(name, func(t *testing.T) {
			line := ended(12, tc.outcome, 0)
			line.Message = "small: 0.81"
			n := forged("forge")
			n.GitHub.Link = "https://bench.example"
			got := StatusOf(EventOf(named(), line, tc.judged, nil), n, tc.gate)
			want := CommitStatus{tc.state, tc.text, "loadstone/perf/checkout/forge", "https://bench.example"}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// The status of a commit that started no round says so, and names the round.
func TestTheStateOfACommitThatWasMeasuredBefore(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome     v1alpha1.RoundOutcome
		judged      *Gate
		state, text string
	}{
		"replaced":                {v1alpha1.RoundReplaced, nil, "error", "round 12 has the same inputs: replaced by a newer round before it ended"},
		"passed":                  {v1alpha1.RoundPassed, &Gate{metav1.ConditionTrue, v1alpha1.ReasonDone, "x"}, "success", "measured before, in round 12: passed: small: 0.81"},
		"missed":                  {v1alpha1.RoundMissed, nil, "failure", "measured before, in round 12: missed: small: 0.81"},
		"a value became worse":    {v1alpha1.RoundPassed, &Gate{metav1.ConditionFalse, v1alpha1.ReasonRegressed, "round 12: worse"}, "failure", "measured before, in round 12: worse"},
		"failed":                  {v1alpha1.RoundFailed, nil, "error", "measured before, in round 12: failed: small: 0.81"},
		"the suite is elsewhere":  {v1alpha1.RoundPassed, unknownGate, "success", "measured before, in round 12: passed: small: 0.81"},
		"a name that looks alike": {v1alpha1.RoundPassed, &Gate{metav1.ConditionFalse, v1alpha1.ReasonRegressed, "round 1: worse"}, "failure", "measured before, in round 12: round 1: worse"},
	} {
		t.Run(name, func(t *testing.T) {
			line := with(ended(12, tc.outcome, 0), "commit", commit, "pull", "7")
			line.Message = "small: 0.81"
			e := EventOf(named(), line, tc.judged, nil)
			e.Data.MeasuredBefore = true
			if got := StatusOf(e, forged("forge"), v1alpha1.Gate{}); got.State != tc.state || got.Description != tc.text {
				t.Errorf("got %+v, want %s: %s", got, tc.state, tc.text)
			}
			comment := CommentOf(e, PlaceOf(ForgeOf(forged("forge")), line), v1alpha1.Gate{}, "", nil)
			for _, part := range []string{".** " + format.Capital(tc.text[:15]), "round 12 · commit " + commit} {
				if !strings.Contains(comment, part) {
					t.Errorf("the comment lacks %q:\n%s", part, comment)
				}
			}
		})
	}
}

var unknownGate = &Gate{metav1.ConditionUnknown, v1alpha1.ReasonPending, "this round does not judge the suite"}

// GitHub shows the newest status per context, so two notifications need different contexts.
func TestEachNotificationHasAStatusOfItsOwn(t *testing.T) {
	e := EventOf(named(), ended(12, v1alpha1.RoundPassed, 0), nil, nil)
	a, b := StatusOf(e, forged("cluster-a"), v1alpha1.Gate{}), StatusOf(e, forged("cluster-b"), v1alpha1.Gate{})
	if a.Context != "loadstone/perf/checkout/cluster-a" || b.Context != "loadstone/perf/checkout/cluster-b" {
		t.Errorf("the contexts are %q and %q", a.Context, b.Context)
	}
}

// GitLab has no state for unknown, and "canceled" for a replaced round.
func TestTheStateOfACommitInGitLab(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome v1alpha1.RoundOutcome
		gate    v1alpha1.Gate
		want    string
	}{
		"passed":                             {v1alpha1.RoundPassed, v1alpha1.Gate{}, "success"},
		"missed":                             {v1alpha1.RoundMissed, v1alpha1.Gate{}, "failed"},
		"inconclusive":                       {v1alpha1.RoundInconclusive, v1alpha1.Gate{}, "failed"},
		"inconclusive, which the gate takes": {v1alpha1.RoundInconclusive, v1alpha1.Gate{OnInconclusive: v1alpha1.InconclusivePasses}, "success"},
		"failed":                             {v1alpha1.RoundFailed, v1alpha1.Gate{}, "failed"},
		"replaced":                           {v1alpha1.RoundReplaced, v1alpha1.Gate{}, "canceled"},
		"incomplete":                         {v1alpha1.RoundIncomplete, v1alpha1.Gate{}, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			line := ended(12, tc.outcome, 0)
			line.Message = strings.Repeat("ninechars ", 30)
			got := StatusOf(EventOf(named(), line, nil, nil), inGitLab("forge"), tc.gate)
			if got.State != tc.want || got.Context != "loadstone/perf/checkout/forge" || got.Target != "https://bench.example" {
				t.Errorf("got %+v", got)
			}
			if n := utf8.RuneCountInString(got.Description); n > 255 || tc.outcome == v1alpha1.RoundMissed && n < 240 {
				t.Errorf("its description has %d characters: %s", n, got.Description)
			}
			if state := ForgeOf(inGitLab("forge")).state("pending", tc.outcome); tc.outcome != v1alpha1.RoundReplaced && state != "pending" {
				t.Errorf("what is pending is %s", state)
			}
		})
	}
}

// Faults of a GitLab project name GitLab's fields.
func TestInvalidProjectIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.GitLabNotification)
		want   string
	}{
		"as it should be":       {func(*v1alpha1.GitLabNotification) {}, ""},
		"a server of one's own": {func(l *v1alpha1.GitLabNotification) { l.APIURL = "https://gitlab.example/api/v4/" }, ""},
		"a token in plain text": {func(l *v1alpha1.GitLabNotification) { l.APIURL = "http://gitlab.example/api/v4" }, "gitLab.apiURL must begin with https://, because it receives a token"},
		"a link with markup":    {func(l *v1alpha1.GitLabNotification) { l.Link = "https://a.example/> x" }, "gitLab.link must begin with http://"},
		"no such parameter":     {func(l *v1alpha1.GitLabNotification) { l.CommitParameter = "comit" }, "gitLab.commitParameter is comit, but the suite has no such parameter"},
		"no such second one":    {func(l *v1alpha1.GitLabNotification) { l.MergeRequestParameter = "mr" }, "gitLab.mergeRequestParameter is mr, but the suite has no such parameter"},
		"no number":             {func(l *v1alpha1.GitLabNotification) { l.MergeRequestParameter = "commit" }, "gitLab.mergeRequestParameter is commit, whose default must be the number of a merge request, or none"},
	} {
		t.Run(name, func(t *testing.T) {
			n := inGitLab("forge")
			tc.change(&n.GitLab)
			err := Check(v1alpha1.BenchmarkSuiteSpec{Parameters: parametersOf("commit", commit, "pull", "none"), Notifications: []v1alpha1.Notification{n}})
			if tc.want == "" && err != nil {
				t.Error(err)
			} else if tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "notifications[forge]."+tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestGitLabLinkOfRound(t *testing.T) {
	to := ForgeOf(inGitLab("forge"))
	got := PlaceOf(to, with(ended(1, v1alpha1.RoundPassed, 0), "commit", commit, "pull", "!7"))
	if want := (Place{"https://gitlab.com/api/v4", "shop/checkout", commit, "!7"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if wrong := got.CommitFault(to) + got.PullFault(to); !strings.Contains(wrong, `the value of pull is "!7". Use the number of a merge request, or none`) {
		t.Errorf("%q is wrong", wrong)
	}
}

func TestDescriptionFitsGitHub(t *testing.T) {
	long := strings.Repeat("ninechars ", 20)
	for name, tc := range map[string]struct{ text, want string }{
		"short":                  {"passed: −1 %", "passed: −1 %"},
		"as long as it may be":   {strings.Repeat("é", 140), strings.Repeat("é", 140)},
		"cut at a word":          {long, strings.TrimSpace(strings.Repeat("ninechars ", 14)) + "…"},
		"a word that just fits":  {strings.Repeat("a", 139) + " b", strings.Repeat("a", 139) + "…"},
		"one long word":          {strings.Repeat("é", 141), strings.Repeat("é", 139) + "…"},
		"no comma before a cut":  {strings.Repeat("a", 130) + ", " + strings.Repeat("b", 20), strings.Repeat("a", 130) + "…"},
		"lines":                  {"a\n b\t\tc", "a b c"},
		"a character of 4 bytes": {"slow 🐛", "slow ?"},
	} {
		t.Run(name, func(t *testing.T) {
			got := cut(plain(tc.text), roomInGitHub)
			if got != tc.want || utf8.RuneCountInString(got) > 140 {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestForgeGetsRoundsWithCommit(t *testing.T) {
	w := newWorld(t, "a")
	w.suite.Spec.Notifications[0] = forged("a")
	w.ends(1, v1alpha1.RoundPassed)
	w.try("", nil)
	w.ends(2, v1alpha1.RoundPassed)
	w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", "none")
	w.try("", nil)
	w.ends(3, v1alpha1.RoundMissed)
	w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", commit)
	w.try("a 3", down(away))
	w.now = w.now.Add(time.Minute)
	w.try("a 3", nil)
	w.ends(4, v1alpha1.RoundMissed)
	w.suite.Status.History[0].Parameters = []v1alpha1.ParameterValue{{Name: "commit", Value: commit}}
	w.try("a 4", nil)
	if got := w.rounds("a"); got != "4 Missed taken, 3 Missed taken" {
		t.Errorf("it is done with %s", got)
	}
}

// A missing commit is not the repository's fault: the next round is reported at once.
func TestFinalRefusalDoesNotBlockOtherRounds(t *testing.T) {
	w := newWorld(t, "a")
	w.suite.Spec.Notifications[0] = forged("a")
	for n := int32(1); n <= 2; n++ {
		w.ends(n, v1alpha1.RoundPassed)
		w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", commit)
	}
	w.try("a 1", down(&Answer{Reason: v1alpha1.ReasonSinkRefused, Message: "answers 422", Final: true}))
	c := w.notified()
	if want := "a has received no round of the history yet; given up: round 1 (Passed), since it answers 422"; c.Status != metav1.ConditionTrue || c.Message != want {
		t.Errorf("Notified is %+v", c)
	}
	w.try("a 2", nil)
	if got := w.rounds("a"); got != "2 Passed taken, 1 Passed given up" {
		t.Errorf("it is done with %s", got)
	}
}

// A status of "unknown" is corrected once the result is known, and only once. An event stays sent.
func TestForgeIsUpdatedWithLaterChangePoints(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.suite.Spec.Notifications[0] = forged("a")
	w.ends(1, v1alpha1.RoundPassed)
	w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", commit)
	known := func(reason string) {
		w.suite.Status.History[0].ChangePoints = v1alpha1.RoundChangePoints{CompletionTime: &metav1.Time{Time: w.now}, Reason: reason}
	}
	known(v1alpha1.ReasonStoreUnavailable)
	w.try("a 1, b 1", nil)
	w.now = w.now.Add(time.Minute)
	known(v1alpha1.ReasonStoreUnavailable)
	w.try("", nil)
	w.now = w.now.Add(time.Minute)
	known("")
	w.try("a 1", down(away))
	w.now = w.now.Add(time.Minute)
	w.try("a 1", nil)
	w.try("", nil)
	if got := w.rounds("a"); got != "1 Passed taken" || !find(w.suite, "a").Rounds[0].DeliveryTime.Time.Equal(w.now) {
		t.Errorf("it is done with %s", got)
	}
	if got := w.rounds("b"); got != "1 Passed taken" {
		t.Errorf("the sink is done with %s", got)
	}
}

// A forge hears at once of change points that became known during a report, whatever the clocks say.
func TestForgeIsUpdatedWithConcurrentChangePoints(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.suite.Spec.Notifications[0] = forged("a")
	w.ends(1, v1alpha1.RoundPassed)
	w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", commit)
	due, _, _ := w.next()
	w.suite.Status.History[0].ChangePoints.CompletionTime = &metav1.Time{Time: w.now}
	w.now = w.now.Add(time.Minute)
	w.remember(Answer{Due: due[0]}, Answer{Due: due[1]})
	w.try("a 1", nil)
	w.try("", nil)
}

// A later round's news on a commit or pull request is not replaced by an earlier round's.
func TestNewerStatusIsNotReplaced(t *testing.T) {
	other := strings.Repeat("2", 40)
	for name, tc := range map[string]struct {
		commit, pull, want string
	}{
		"another commit and pull request": {other, "8", "a 1"},
		"another commit, and no request":  {other, "none", "a 1"},
		"the same pull request":           {other, "7", ""},
		"the same commit":                 {commit, "8", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "a")
			w.suite.Spec.Notifications[0] = forged("a")
			for n, at := range map[int32][2]string{1: {commit, "7"}, 2: {tc.commit, tc.pull}} {
				w.now = noon.Add(time.Duration(n) * time.Minute)
				w.ends(n, v1alpha1.RoundPassed)
				w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", at[0], "pull", at[1])
			}
			w.now = noon.Add(time.Hour)
			w.try("a 1", nil)
			w.try("a 2", nil)
			w.now = w.now.Add(time.Minute)
			for i := range w.suite.Status.History {
				if line := &w.suite.Status.History[i]; line.Round == 1 {
					line.ChangePoints.CompletionTime = &metav1.Time{Time: w.now}
				}
			}
			w.try(tc.want, nil)
		})
	}
}

// A round that returns to the history because of a repeated request is not told over a later one.
func TestReturningRoundDoesNotReplaceLaterOne(t *testing.T) {
	w := newWorld(t, "a")
	w.suite.Spec.Notifications[0] = forged("a")
	for n := int32(1); n <= 2; n++ {
		w.ends(n, v1alpha1.RoundPassed)
		w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", commit, "pull", "7")
		w.try(fmt.Sprintf("a %d", n), nil)
		w.now = w.now.Add(time.Minute)
	}
	all := w.suite.Status.History
	w.suite.Status.History = all[:1]
	w.remember()
	w.suite.Status.History = all
	w.try("", nil)
	if got := w.rounds("a"); got != "2 Passed taken" {
		t.Errorf("it is done with %s", got)
	}
}

// Due rounds do not depend on the forge.
func TestGitLabProjectGetsSameNewsAsRepository(t *testing.T) {
	w := newWorld(t, "a")
	w.suite.Spec.Notifications[0] = inGitLab("a")
	w.ends(1, v1alpha1.RoundPassed)
	w.try("", nil) // It knows no commit.
	w.ends(2, v1alpha1.RoundMissed)
	w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", commit)
	w.try("a 2", nil)
	w.now = w.now.Add(time.Minute)
	w.suite.Status.History[0].ChangePoints.CompletionTime = &metav1.Time{Time: w.now}
	w.try("a 2", nil)
	w.try("", nil)
}

func TestForgePauseOfUpToAnHourIsRespected(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 59 * time.Minute: 59 * time.Minute, 18 * time.Hour: time.Hour} {
		w := newWorld(t, "a")
		w.suite.Spec.Notifications[0] = forged("a")
		w.ends(1, v1alpha1.RoundPassed)
		w.suite.Status.History[0] = with(w.suite.Status.History[0], "commit", commit)
		w.try("a 1", down(&Answer{Reason: v1alpha1.ReasonSinkRefused, Message: "answers 429", After: asked}))
		_, due, after := w.next()
		if after != want || due != "" {
			t.Errorf("asked to wait for %s, it waits for %s", asked, after)
		}
		w.now = w.now.Add(after)
		w.try("a 1", nil)
	}
}

// In the Markdown comment, names and messages are escaped.
func TestTheCommentOfARound(t *testing.T) {
	line := with(ended(12, v1alpha1.RoundMissed, 0), "commit", commit, "pull", "7")
	line.Parameters = []v1alpha1.ParameterValue{{Name: "commit", Value: commit}, {Name: "image", Value: "registry.example/checkout:@everyone"}}
	line.Message = "small: throughput 0.81 of <b>anchor</b>'s | at least 0.95 wanted"
	runs := []Run{
		{"small", "checkout-1a2b3c4d-00", "candidate is slower than anchor", "s3://bench/a/reports/1/report.html"},
		{"large", "checkout-1a2b3c4d-01", "*no* verdict", ""},
		{"huge", "checkout-1a2b3c4d-02", "no difference", "s3://bench/c/reports/1/report.html"},
	}
	p := PlaceOf(ForgeOf(forged("forge")), line)
	reports := []Printed{{Text: "| objective | outcome |\n| --- | --- |\n| throughput | missed |\n"}, {Why: "It has no report."}, {Text: strings.Repeat("x", roomInComment)}}
	got := CommentOf(EventOf(named(), line, nil, runs), p, v1alpha1.Gate{}, "https://bench.example/a_b_c", reports)
	golden := filepath.Join("testdata", "comment.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCommentLengthIsLimited(t *testing.T) {
	var runs []Run
	var reports []Printed
	for range 16 {
		runs = append(runs, Run{"small", "checkout-1a2b3c4d-00", strings.Repeat("|", 512), ""})
		reports = append(reports, Printed{Text: strings.Repeat("ö", 30_000)})
	}
	line := ended(12, v1alpha1.RoundMissed, 0)
	line.Message = strings.Repeat("|", 512)
	for range 8 {
		line.Parameters = append(line.Parameters, v1alpha1.ParameterValue{Name: "p", Value: strings.Repeat("|", 1024)})
	}
	got := CommentOf(EventOf(named(), line, nil, runs), Place{}, v1alpha1.Gate{}, "https://bench.example/"+strings.Repeat("a", 1000), reports)
	if n := utf8.RuneCountInString(got); n > 65_000 {
		t.Errorf("it has %d characters", n)
	}
}

func TestTheMarkerOfAComment(t *testing.T) {
	p := Place{Repository: "shop/checkout", Pull: "7"}
	first := Marker(named(), "github", p)
	if again := Marker(named(), "github", Place{Repository: "Shop/Checkout", Pull: "7", Commit: commit}); again != first || !strings.HasPrefix(first, "<!-- loadstone ") || strings.Count(first, "--") != 2 {
		t.Errorf("the markers are %q and %q", first, again)
	}
	remade := named()
	remade.UID = "0000"
	for what, other := range map[string]string{
		"another pull request": Marker(named(), "github", Place{Repository: "shop/checkout", Pull: "8"}), "another suite": Marker(remade, "github", p), "another notification": Marker(named(), "other", p),
	} {
		if other == first {
			t.Errorf("%s has the marker %q, too", what, first)
		}
	}
}
