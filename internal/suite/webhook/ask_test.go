package webhook

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestTheTokenIsShownAsItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		authorization, token string
		want                 bool
	}{
		"the token":                    {"Bearer secret", "secret", true},
		"another token":                {"Bearer guess!", "secret", false},
		"the beginning of the token":   {"Bearer secre", "secret", false},
		"the token and something else": {"Bearer secret ", "secret", false},
		"the token without a scheme":   {"secret", "secret", false},
		"another scheme":               {"Basic secret", "secret", false},
		"no header":                    {"", "secret", false},
		"no token, and none shown":     {"Bearer ", "", false},
		"no token, and no header":      {"", "", false},
	} {
		if got := ShowsToken(tc.authorization, []byte(tc.token)); got != tc.want {
			t.Errorf("%s is shown: %t", name, got)
		}
	}
}

// asked returns the id of a request to a suite of one run.
func asked(changes ...func(*v1alpha1.BenchmarkSuiteSpec, *[]v1alpha1.ParameterValue, *string)) string {
	s := suite("body.image")
	s.Runs = []v1alpha1.SuiteRun{{Name: "small", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte("{}")}}}}
	values, body := []v1alpha1.ParameterValue{{Name: "image", Value: "shop:2"}}, `{"image": "shop:2"}`
	for _, c := range changes {
		c(&s, &values, &body)
	}
	return AskID(s, values, []byte(body))
}

func TestRepeatedRequestIsRecognized(t *testing.T) {
	type values = []v1alpha1.ParameterValue
	type spec = v1alpha1.BenchmarkSuiteSpec
	seen := map[string]string{asked(): "what is asked"}
	for name, change := range map[string]func(*spec, *values, *string){
		"another image":                 func(_ *spec, v *values, _ *string) { (*v)[0].Value = "shop:3" },
		"another body":                  func(_ *spec, _ *values, b *string) { *b = `{"image": "shop:2", "canary": "6c9bd8675b"}` },
		"another template":              func(s *spec, _ *values, _ *string) { s.Runs[0].Template.Spec.Raw = []byte(`{"blocks": 7}`) },
		"another name of a run":         func(s *spec, _ *values, _ *string) { s.Runs[0].Name = "large" },
		"another default":               func(s *spec, _ *values, _ *string) { s.Parameters[1].Default = "some" },
		"a default that moves its name": func(s *spec, _ *values, _ *string) { s.Parameters[1].Name, s.Parameters[1].Default = "commitn", "one" },
	} {
		id := asked(change)
		if other, there := seen[id]; there || len(id) != idLength {
			t.Errorf("%s has the id %s, as %s", name, id, other)
		}
		seen[id] = name
	}
	for name, change := range map[string]func(*spec, *values, *string){
		"the same, spaced": func(_ *spec, _ *values, b *string) { *b = "{\"image\":\"shop:2\"}\n" },
		"the same again":   func(*spec, *values, *string) {},
		"another trigger":  func(s *spec, _ *values, _ *string) { s.Triggers.Change.Images = v1alpha1.ImagesAsWritten },
		"another pattern":  func(s *spec, _ *values, _ *string) { s.Parameters[0].Pattern = "shop:[0-9]+" },
		"another gate":     func(s *spec, _ *values, _ *string) { s.Gate.OnInconclusive = v1alpha1.InconclusivePasses },
		"a wish to rest":   func(s *spec, _ *values, _ *string) { s.Suspend = new(bool) },
		"a longer history": func(s *spec, _ *values, _ *string) { s.History.MaxAgeDays = 7 },
	} {
		if id := asked(change); id != asked() {
			t.Errorf("%s makes another request of it", name)
		}
	}
}

var mine, others = strings.Repeat("a", idLength), strings.Repeat("b", idLength)

func holding(id string, changes ...func(*v1alpha1.BenchmarkSuite)) *v1alpha1.BenchmarkSuite {
	s := &v1alpha1.BenchmarkSuite{}
	if id != "" {
		text := Read("").Then(id, nil, noon, noon).Text()
		s.Annotations = map[string]string{v1alpha1.AnnotationWebhook: text}
	}
	for _, c := range changes {
		c(s)
	}
	return s
}

func handled(id string) func(*v1alpha1.BenchmarkSuite) {
	return func(s *v1alpha1.BenchmarkSuite) { s.Status.LastHandledWebhook = id }
}

func measuring(id string) func(*v1alpha1.BenchmarkSuite) {
	return func(s *v1alpha1.BenchmarkSuite) {
		s.Status.Current = v1alpha1.CurrentRound{Round: 7, Webhook: id, Progress: "1/2", StartTime: &metav1.Time{Time: noon}}
	}
}

func line(round int32, id string, outcome v1alpha1.RoundOutcome, reason, message string) v1alpha1.SuiteRound {
	return v1alpha1.SuiteRound{
		Round: round, Webhook: id, Outcome: outcome, Reason: reason, Message: message,
		StartTime: &metav1.Time{Time: noon}, CompletionTime: &metav1.Time{Time: noon.Add(time.Hour)},
	}
}

func remembering(lines ...v1alpha1.SuiteRound) func(*v1alpha1.BenchmarkSuite) {
	return func(s *v1alpha1.BenchmarkSuite) { s.Status.History = lines }
}

func stuck(s *v1alpha1.BenchmarkSuite) {
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionMeasuring, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonImageNotFound,
		Message: "the request to the webhook waits: shop does not have shop:2",
	})
}

func faulty(s *v1alpha1.BenchmarkSuite) {
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec, Message: "triggers.schedules[0].cron never comes",
	})
}

func stuckWith(message string) func(*v1alpha1.BenchmarkSuite) {
	return func(s *v1alpha1.BenchmarkSuite) {
		stuck(s)
		s.Status.Conditions[0].Message = message
	}
}

func suspended(s *v1alpha1.BenchmarkSuite) {
	yes := true
	s.Spec.Suspend = &yes
}

func skips(s *v1alpha1.BenchmarkSuite) { s.Spec.Concurrency = v1alpha1.ConcurrencySkip }

func TestRequestState(t *testing.T) {
	missed := line(7, mine, v1alpha1.RoundMissed, v1alpha1.ReasonObjectivesMissed, "small: throughput 0.81 of anchor's, at least 0.95 wanted")
	ended := Round{
		7, v1alpha1.RoundMissed, v1alpha1.ReasonObjectivesMissed, "small: throughput 0.81 of anchor's, at least 0.95 wanted", missed.StartTime, missed.CompletionTime,
	}
	going := Round{Round: 7, Message: "the round is in progress: 1/2 runs have ended", StartTime: missed.StartTime}
	replaced := Round{7, v1alpha1.RoundReplaced, "", "the round has the outcome Replaced", missed.StartTime, missed.CompletionTime}
	for name, tc := range map[string]struct {
		suite *v1alpha1.BenchmarkSuite
		want  Round
		known bool
	}{
		"a suite that nobody has asked":  {holding(""), Round{}, false},
		"one that others have asked":     {holding(others, handled(others), measuring(others)), Round{}, false},
		"rounds that answer no request":  {holding("", measuring(""), remembering(line(6, "", v1alpha1.RoundPassed, v1alpha1.ReasonDone, "all is well"))), Round{}, false},
		"it was just written down":       {holding(mine), Round{Message: "the request waits for its round to start"}, true},
		"another round is in progress":   {holding(mine, measuring("")), Round{Message: "the request waits for the end of round 7: 1/2 runs have ended"}, true},
		"the suite is suspended":         {holding(mine, suspended), Round{Message: "the request waits until spec.suspend is false"}, true},
		"the registry lacks its image":   {holding(mine, stuck), Round{Message: "the request waits and its round cannot start now: the request to the webhook waits: shop does not have shop:2"}, true},
		"the spec is at fault":           {holding(mine, faulty), Round{Message: "the request waits until the suite can start rounds: triggers.schedules[0].cron never comes"}, true},
		"its round is in progress":       {holding(mine, handled(mine), measuring(mine)), going, true},
		"its round has ended":            {holding(mine, handled(mine), remembering(missed)), ended, true},
		"others have asked since":        {holding(others, handled(others), remembering(line(8, others, v1alpha1.RoundPassed, v1alpha1.ReasonDone, "all is well"), missed)), ended, true},
		"its round was good, long ago":   {holding(others, func(s *v1alpha1.BenchmarkSuite) { s.Status.LastGood = missed }), ended, true},
		"its round was replaced":         {holding(others, remembering(line(7, mine, v1alpha1.RoundReplaced, "", ""))), replaced, true},
		"no round was to be had":         {holding(mine, handled(mine), measuring("")), Round{Message: forgotten}, true},
		"an annotation that is nonsense": {&v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.AnnotationWebhook: "now"}}}, Round{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, known := RoundOf(tc.suite, mine)
			if diff := cmp.Diff(tc.want, got); known != tc.known || diff != "" {
				t.Errorf("known: %t (-want +got):\n%s", known, diff)
			}
		})
	}
}

// proposed makes the round in progress a pull request's; forged lets parameter pull name one.
func proposed(number string) func(*v1alpha1.BenchmarkSuite) {
	return func(s *v1alpha1.BenchmarkSuite) { s.Status.Current.PullRequest = number }
}

func forged(s *v1alpha1.BenchmarkSuite) {
	s.Spec.Notifications = []v1alpha1.Notification{{Name: "forge", GitHub: v1alpha1.GitHubNotification{PullRequestParameter: "pull"}}}
}

// The condition may be about an earlier request that the operator has not yet seen replaced.
func TestRequestSeesOnlyItsOwnProblems(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, tc := range map[string]struct {
		image, says string
		own         bool
	}{
		"its own":                          {"shop:3", "the request to the webhook with image=shop:3 waits: shop does not have shop:3", true},
		"that of another":                  {"shop:3", "the request to the webhook with image=shop:2 waits: shop does not have shop:2", false},
		"that of one whose value is long":  {"shop:3", "the request to the webhook with image=shop:33 waits: shop does not have shop:33", false},
		"its own, of which there is less":  {long + "yz", "the request to the webhook with image=" + long + "y...", true},
		"another's of which there is less": {long + "yz", "the request to the webhook with image=" + long + "z...", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := holding("", stuckWith(tc.says))
			values := []v1alpha1.ParameterValue{{Name: "image", Value: tc.image}}
			s.Annotations = map[string]string{v1alpha1.AnnotationWebhook: Read("").Then(mine, values, noon, noon).Text()}
			want, held := "the request waits and its round cannot start now: "+tc.says, ""
			if !tc.own {
				want, held = "the request waits for its round to start", "another request to this suite waits for its round to start; this one comes after it"
			}
			if got, _ := RoundOf(s, mine); got.Message != want {
				t.Errorf("got %q, want %q", got.Message, want)
			}
			if got := Holds(s, nil); got != held {
				t.Errorf("another is held with %q, want %q", got, held)
			}
		})
	}
}

func TestTokenRequestSupersedesNoOther(t *testing.T) {
	for name, tc := range map[string]struct {
		suite *v1alpha1.BenchmarkSuite
		want  string
	}{
		"nobody has asked":        {holding(""), ""},
		"a request has its round": {holding(others, measuring(others)), ""},
		"a request had its round": {holding(others, remembering(line(7, others, v1alpha1.RoundPassed, v1alpha1.ReasonDone, "all is well"))), ""},
		"a request was dropped":   {holding(others, handled(others)), ""},
		"a request waits for a round": {
			holding(others, measuring("")), "another request to this suite waits for the end of round 7: 1/2 runs have ended; this one comes after it",
		},
		"a request waits for the operator":        {holding(others), "another request to this suite waits for its round to start; this one comes after it"},
		"a request waits for an image":            {holding(others, stuck), ""},
		"a round is in progress, and others wait": {holding("", measuring("")), ""},
		"a round is in progress, and none waits": {
			holding("", measuring(""), skips), "round 7 is in progress, and concurrency: Skip allows no waiting requests: 1/2 runs have ended",
		},
		"the round of a pull request is in progress, and the suite's own waits": {holding("", measuring(""), skips, proposed("8")), ""},
		"the round of a pull request is in progress, and another would not wait": {
			holding("", measuring(""), skips, proposed("8"), forged), "round 7 is in progress, and concurrency: Skip allows no waiting requests: 1/2 runs have ended",
		},
	} {
		if got := Holds(tc.suite, []v1alpha1.ParameterValue{{Name: "pull", Value: "7"}}); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
