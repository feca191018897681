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

// TokenKey is the key of the webhook's Secret under which the token lies that those show who cannot sign. Without it nobody can ask.
const TokenKey = "token"

// bearer is the scheme of the header Authorization that carries a token.
const bearer = "Bearer "

// ShowsToken reports whether a header Authorization shows a token, in a time that says nothing of it. An empty token is shown by nobody.
func ShowsToken(authorization string, token []byte) bool {
	given, ok := strings.CutPrefix(authorization, bearer)
	shown, wanted := sha256.Sum256([]byte(given)), sha256.Sum256(token)
	return subtle.ConstantTimeCompare(shown[:], wanted[:]) == 1 && ok && len(token) > 0
}

// AskID is the id of a request that somebody asks for again and again: as long as they send the same body, however it is spaced, and the suite would
// measure the same with it, as it is written. It is that of no signed request.
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

// Round is what a request has come to, for those who ask.
type Round struct {
	// Round is the number of its round; 0 before one has begun.
	Round int32 `json:"round,omitempty"`
	// Outcome is how the round has ended, in the words of the suite's status; empty as long as it has not.
	Outcome v1alpha1.RoundOutcome `json:"outcome,omitempty"`
	// Reason is why, in a word; empty without an outcome.
	Reason string `json:"reason,omitempty"`
	// Message is the same in a sentence; without an outcome, what is waited for.
	Message        string       `json:"message"`
	StartTime      *metav1.Time `json:"startTime,omitempty"`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}

// RoundOf is what the request of an id has come to; false if the suite does not know of it.
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

// forgotten is what is known of a request that was handled, and of which the status has no round.
const forgotten = "no round of this request is remembered: it was dropped while another was in progress (concurrency: Skip), or has left status.history"

// progress is how far a round in progress is.
func progress(c v1alpha1.CurrentRound) string { return c.Progress + " runs have ended" }

// lineOf is the round that has answered the request of an id, as the status remembers it; nil if it does not.
func lineOf(s *v1alpha1.BenchmarkSuite, id string) *v1alpha1.SuiteRound {
	for i := range s.Status.History {
		if s.Status.History[i].Webhook == id {
			return &s.Status.History[i]
		}
	}
	if s.Status.LastGood.Webhook == id { // It may be older than all that the history has.
		return &s.Status.LastGood
	}
	return nil
}

// waits is what the request that is written down waits for.
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
		return "and its round cannot begin now: " + refused.Message
	}
	return "for its round to begin"
}

// refused is the condition that says why the round of the request that is written down cannot begin; nil if it can, as far as is known.
func refused(s *v1alpha1.BenchmarkSuite) *metav1.Condition {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionMeasuring)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason == v1alpha1.ReasonNoRound || !tellsOf(c.Message, Read(s.Annotations[v1alpha1.AnnotationWebhook])) {
		return nil
	}
	return c
}

// tellsOf reports whether the message of a condition is about a request, by its values: it may be older than the request that is written down. Of one
// with very long values it has only the beginning.
func tellsOf(message string, r Request) bool {
	about := r.Who() + " waits: "
	cut, clipped := strings.CutSuffix(message, "...")
	return strings.HasPrefix(message, about) || clipped && len(about) > len(cut) && strings.HasPrefix(about, cut)
}

// Holds is what keeps a request from being written down that is asked for again and again; empty if nothing does. It takes the place of no request
// that waits, or two of them would take it from each other for ever, unless that cannot begin; and it comes to no round for which it would be dropped.
// What the suite has by itself waits for the round of a pull request.
func Holds(s *v1alpha1.BenchmarkSuite, values []v1alpha1.ParameterValue) string {
	id := Read(s.Annotations[v1alpha1.AnnotationWebhook]).ID
	waiting := id != "" && id != s.Status.LastHandledWebhook && s.Status.Current.Webhook != id && lineOf(s, id) == nil
	switch {
	case waiting && refused(s) == nil:
		return "another request to this suite waits " + waits(s) + "; this one comes after it"
	case s.Status.Current.Round > 0 && s.Spec.Concurrency == v1alpha1.ConcurrencySkip &&
		(s.Status.Current.PullRequest == "" || notify.PullRequest(s.Spec, values) != ""):
		return fmt.Sprintf("round %d is in progress, and concurrency: Skip lets nothing wait for its end: %s", s.Status.Current.Round, progress(s.Status.Current))
	}
	return ""
}
