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
	// ContentType is CloudEvents' structured mode.
	ContentType = "application/cloudevents+json; charset=utf-8"
	// typePrefix precedes the outcome in an event's type.
	typePrefix = "dev.loadstone.round."
	// maxText bounds each sentence of an event.
	maxText = 512
)

// Event is the posted CloudEvent 1.0 of an ended round.
type Event struct {
	SpecVersion string `json:"specversion"`
	// ID follows from suite, round and outcome, so a resent event has the same.
	ID string `json:"id"`
	// Source is the suite's path in its API server, Subject its namespace and name.
	Source  string `json:"source"`
	Type    string `json:"type"`
	Subject string `json:"subject"`
	// Time is when the round ended.
	Time            *metav1.Time `json:"time,omitempty"`
	DataContentType string       `json:"datacontenttype"`
	Data            Data         `json:"data"`
}

// Data describes the round.
type Data struct {
	Namespace string `json:"namespace"`
	Suite     string `json:"suite"`
	Round     int32  `json:"round"`
	// Trigger started the round, Parameters are a webhook request's values, Inputs is the hash of the measured inputs.
	Trigger    v1alpha1.Trigger          `json:"trigger,omitempty"`
	Parameters []v1alpha1.ParameterValue `json:"parameters,omitempty"`
	Inputs     string                    `json:"inputs,omitempty"`
	// PullRequest is the measured pull request's number; empty for the suite's own rounds.
	PullRequest string                `json:"pullRequest,omitempty"`
	Outcome     v1alpha1.RoundOutcome `json:"outcome"`
	Reason      string                `json:"reason,omitempty"`
	Message     string                `json:"message,omitempty"`
	StartTime   *metav1.Time          `json:"startTime,omitempty"`
	EndTime     *metav1.Time          `json:"completionTime,omitempty"`
	// Gate is the effect on the suite; nil if there is none, as for a replaced round.
	Gate *Gate `json:"gate,omitempty"`
	// Runs are the round's runs in the cluster.
	Runs []Run `json:"runs,omitempty"`
	// MeasuredBefore marks news to a forge about a later commit with the same inputs. Events never have it.
	MeasuredBefore bool `json:"-"`
}

// Gate is the suite's Ready condition at sending time, if this round judges it; otherwise Unknown.
type Gate struct {
	Ready   metav1.ConditionStatus `json:"ready"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message,omitempty"`
}

// Run is a run of the round, as in the event's data.
type Run struct {
	// Name is the run's name in the suite, BenchmarkRun that of its object.
	Name         string `json:"name"`
	BenchmarkRun string `json:"benchmarkRun"`
	// Verdict is a sentence, Report the page's address in the object store; empty if there is none.
	Verdict string `json:"verdict,omitempty"`
	Report  string `json:"report,omitempty"`
}

// KeyOf returns the key in an object store address; empty if there is none.
func KeyOf(uri string) string {
	_, key, _ := strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
	return key
}

// EventOf returns the event of a round.
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

// Text returns the event as posted.
func (e Event) Text() []byte {
	text, _ := json.Marshal(e) // Texts, numbers and times can always be written.
	return text
}
