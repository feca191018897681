package webhook

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// TokenKey is the webhook Secret's key for the token of senders that cannot sign. Without it, requests are refused.
const TokenKey = "token"

const bearer = "Bearer "

// ShowsToken reports whether an Authorization header has the token, in constant time. An empty token never matches.
func ShowsToken(authorization string, token []byte) bool {
	given, ok := strings.CutPrefix(authorization, bearer)
	shown, wanted := sha256.Sum256([]byte(given)), sha256.Sum256(token)
	return subtle.ConstantTimeCompare(shown[:], wanted[:]) == 1 && ok && len(token) > 0
}

// AskID returns the id of a repeated request: equal for the same JSON body (ignoring space) and the same spec and
// values. It never equals a signed request's.
func AskID(spec v1alpha1.BenchmarkSuiteSpec, values []v1alpha1.ParameterValue, body []byte) string {
	if short := new(bytes.Buffer); json.Compact(short, body) == nil {
		body = short.Bytes()
	}
	asked := make([][]string, 4)
	asked[0] = []string{string(body)}
	for _, r := range spec.Runs {
		asked[1] = append(asked[1], r.Name, string(r.Template.Spec.Raw))
	}
	for _, p := range spec.Parameters {
		asked[2] = append(asked[2], p.Name, p.Default)
	}
	for _, v := range values {
		asked[3] = append(asked[3], v.Name, v.Value)
	}
	text, _ := json.Marshal(asked) // Texts can always be written.
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Round is the state of a request, for its sender.
type Round struct {
	// Round is its number; 0 before it begins.
	Round int32 `json:"round,omitempty"`
	// Outcome is as in the suite's status; empty until the round ends.
	Outcome v1alpha1.RoundOutcome `json:"outcome,omitempty"`
	// Reason explains the outcome in one word; empty without one.
	Reason string `json:"reason,omitempty"`
	// Message explains it in a sentence; without an outcome, what the request waits for.
	Message        string       `json:"message"`
	StartTime      *metav1.Time `json:"startTime,omitempty"`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// RoundOf returns the state of a request; false if the suite does not know its id.
func RoundOf(s *v1alpha1.BenchmarkSuite, id string) (Round, bool) {
	if c := s.Status.Current; c.Webhook == id {
		return Round{Round: c.Round, Message: "the round is in progress: " + progress(c), StartTime: c.StartTime}, true
	}
	if line := lineOf(s, id); line != nil {
		message := line.Message
		if message == "" {
			message = "the round has the outcome " + string(line.Outcome)
		}
		return Round{line.Round, line.Outcome, line.Reason, message, line.StartTime, line.CompletionTime}, true
	}
	switch {
	case Read(s.Annotations[v1alpha1.AnnotationWebhook]).ID != id:
		return Round{}, false
	case s.Status.LastHandledWebhook == id:
		return Round{Message: forgotten}, true
	}
	return Round{Message: "the request waits " + waits(s)}, true
}

const forgotten = "found no round of this request: it was dropped because another was in progress (concurrency: Skip), or it left status.history"

func progress(c v1alpha1.CurrentRound) string { return c.Progress + " runs have ended" }

func lineOf(s *v1alpha1.BenchmarkSuite, id string) *v1alpha1.SuiteRound {
	for i := range s.Status.History {
		if s.Status.History[i].Webhook == id {
			return &s.Status.History[i]
		}
	}
	if s.Status.LastGood.Webhook == id { // It may be older than the history.
		return &s.Status.LastGood
	}
	return nil
}

func waits(s *v1alpha1.BenchmarkSuite) string {
	refused, stalled := refused(s), meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionStalled)
	switch {
	case s.Spec.Suspend != nil && *s.Spec.Suspend:
		return "until spec.suspend is false"
	case stalled != nil && stalled.Status == metav1.ConditionTrue && (stalled.Reason == v1alpha1.ReasonInvalidSpec || stalled.Reason == v1alpha1.ReasonRunDenied):
		return "until the suite can start rounds: " + stalled.Message
	case s.Status.Current.Round > 0:
		return fmt.Sprintf("for the end of round %d: %s", s.Status.Current.Round, progress(s.Status.Current))
	case refused != nil:
		return "and its round cannot start now: " + refused.Message
	}
	return "for its round to start"
}

// refused returns the condition that says why the recorded request's round cannot begin; nil if it can, as far as
// known.
func refused(s *v1alpha1.BenchmarkSuite) *metav1.Condition {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionMeasuring)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason == v1alpha1.ReasonNoRound || !tellsOf(c.Message, Read(s.Annotations[v1alpha1.AnnotationWebhook])) {
		return nil
	}
	return c
}

// tellsOf reports whether a condition's message is about a request, by its values: the condition may be older than
// the request. A message with very long values is cut.
func tellsOf(message string, r Request) bool {
	about := r.Who() + " waits: "
	cut, clipped := strings.CutSuffix(message, "...")
	return strings.HasPrefix(message, about) || clipped && len(about) > len(cut) && strings.HasPrefix(about, cut)
}

// Holds says why a repeated request cannot be recorded now; empty if it can. It does not replace a waiting request
// (two senders would replace each other forever) unless that cannot begin, and it is not recorded if Skip would drop
// it. The suite's own rounds wait for a pull request's.
func Holds(s *v1alpha1.BenchmarkSuite, values []v1alpha1.ParameterValue) string {
	id := Read(s.Annotations[v1alpha1.AnnotationWebhook]).ID
	waiting := id != "" && id != s.Status.LastHandledWebhook && s.Status.Current.Webhook != id && lineOf(s, id) == nil
	switch {
	case waiting && refused(s) == nil:
		return "another request to this suite waits " + waits(s) + "; this one comes after it"
	case s.Status.Current.Round > 0 && s.Spec.Concurrency == v1alpha1.ConcurrencySkip &&
		(s.Status.Current.PullRequest == "" || notify.PullRequest(s.Spec, values) != ""):
		return fmt.Sprintf("round %d is in progress, and concurrency: Skip allows no waiting requests: %s", s.Status.Current.Round, progress(s.Status.Current))
	}
	return ""
}
