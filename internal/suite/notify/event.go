package notify

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

const (
	// ContentType is that of an event in CloudEvents' structured mode.
	ContentType = "application/cloudevents+json; charset=utf-8"
	// typePrefix precedes the outcome of a round in the type of its event.
	typePrefix = "dev.loadstone.round."
	// maxText bounds each sentence of an event.
	maxText = 512
)

// Event is a CloudEvent 1.0 of a round that has ended, as it is posted.
type Event struct {
	SpecVersion string `json:"specversion"`
	// ID follows from the suite, the round and its outcome: an event that is sent again has it again.
	ID string `json:"id"`
	// Source is the path of the suite in its API server, and Subject its namespace and name.
	Source  string `json:"source"`
	Type    string `json:"type"`
	Subject string `json:"subject"`
	// Time is when the round ended.
	Time            *metav1.Time `json:"time,omitempty"`
	DataContentType string       `json:"datacontenttype"`
	Data            Data         `json:"data"`
}

// Data is what an event says of its round.
type Data struct {
	Namespace string `json:"namespace"`
	Suite     string `json:"suite"`
	Round     int32  `json:"round"`
	// Trigger is what started the round, Parameters are the values that a request to the webhook gave, and Inputs is the hash of what was measured.
	Trigger    v1alpha1.Trigger          `json:"trigger,omitempty"`
	Parameters []v1alpha1.ParameterValue `json:"parameters,omitempty"`
	Inputs     string                    `json:"inputs,omitempty"`
	// PullRequest is the number of the pull request that the round has measured; empty of what the suite has by itself.
	PullRequest string                `json:"pullRequest,omitempty"`
	Outcome     v1alpha1.RoundOutcome `json:"outcome"`
	Reason      string                `json:"reason,omitempty"`
	Message     string                `json:"message,omitempty"`
	StartTime   *metav1.Time          `json:"startTime,omitempty"`
	EndTime     *metav1.Time          `json:"completionTime,omitempty"`
	// Gate is what the round means for the suite; nil if it says nothing, as one that was replaced.
	Gate *Gate `json:"gate,omitempty"`
	// Runs are those of the round that are in the cluster.
	Runs []Run `json:"runs,omitempty"`
	// MeasuredBefore is true for a forge that is told of a commit which came when the round had its inputs. Events are of rounds alone.
	MeasuredBefore bool `json:"-"`
}

// Gate is the condition Ready of a suite that is judged by the round, when the event is sent; Unknown if it is judged by none or by another.
type Gate struct {
	Ready   metav1.ConditionStatus `json:"ready"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message,omitempty"`
}

// Run is a run of a round.
type Run struct {
	// Name is the run's in the suite, and BenchmarkRun the name of its object.
	Name         string `json:"name"`
	BenchmarkRun string `json:"benchmarkRun"`
	// Verdict is the run's verdict in a sentence, and Report where the page of its report lies in the object store; empty if there is none.
	Verdict string `json:"verdict,omitempty"`
	Report  string `json:"report,omitempty"`
}

// KeyOf is the key of an object whose address in the object store is known; empty if it is not.
func KeyOf(uri string) string {
	_, key, _ := strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
	return key
}

// EventOf is the event of a round of a suite.
func EventOf(s *v1alpha1.BenchmarkSuite, line v1alpha1.SuiteRound, gate *Gate, runs []Run) Event {
	for i := range runs {
		runs[i].Verdict = util.Clip(runs[i].Verdict, maxText)
	}
	outcome := strings.ToLower(string(line.Outcome))
	return Event{
		SpecVersion: "1.0", ID: fmt.Sprintf("%s/%d/%s", s.UID, line.Round, outcome),
		Source:  fmt.Sprintf("/apis/%s/namespaces/%s/benchmarksuites/%s", v1alpha1.GroupVersion, s.Namespace, s.Name),
		Subject: s.Namespace + "/" + s.Name, Type: typePrefix + outcome, Time: line.CompletionTime, DataContentType: "application/json",
		Data: Data{
			Namespace: s.Namespace, Suite: s.Name, Round: line.Round, Trigger: line.Trigger, Parameters: line.Parameters, Inputs: line.Inputs, PullRequest: line.PullRequest,
			Outcome: line.Outcome, Reason: line.Reason, Message: line.Message, StartTime: line.StartTime, EndTime: line.CompletionTime, Gate: gate, Runs: runs,
		},
	}
}

// Text is the event as it is posted.
func (e Event) Text() []byte {
	text, _ := json.Marshal(e) // Texts, numbers and times can always be written.
	return text
}
