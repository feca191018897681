package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cluster/queue"
)

// roundRecord is each run's copy of the round's facts.
type roundRecord struct {
	// ID follows from the suite, the inputs and the trigger.
	ID      string           `json:"id"`
	Inputs  string           `json:"inputs"`
	Trigger v1alpha1.Trigger `json:"trigger"`
	// Runs is the number of runs, Run this one's name in the suite.
	Runs int    `json:"runs"`
	Run  string `json:"run"`
	// Begun is when the round was decided.
	Begun metav1.Time `json:"begun"`
	// Scheduled, Requested and Reconcile are what the round answers; Scheduled includes later times until the round
	// began.
	Scheduled *metav1.Time `json:"scheduled,omitempty"`
	Requested string       `json:"requested,omitempty"`
	Reconcile string       `json:"reconcile,omitempty"`
	// Webhook is the id of the answered request, Parameters its values. Beside are the suite's own inputs then, so an
	// unchanged suite starts no round.
	Webhook    string                    `json:"webhook,omitempty"`
	Parameters []v1alpha1.ParameterValue `json:"parameters,omitempty"`
	Beside     string                    `json:"beside,omitempty"`
	// PullRequest is the measured pull request's number; empty for the suite's own rounds. Such a round is compared
	// with good ones but never becomes one.
	PullRequest string `json:"pullRequest,omitempty"`
	// Noted are the values for notifications when the round began; the spec's defaults may change.
	Noted []v1alpha1.ParameterValue `json:"noted,omitempty"`
	// Against are the good rounds that all runs of the round are compared with, whenever they are created.
	Against []int32 `json:"against,omitempty"`
}

type roundRun struct {
	object *v1alpha1.BenchmarkRun
	record roundRecord
}

func (r roundRun) ended() bool { return r.object.Status.CompletionTime != nil }

func (r roundRun) suspended() bool { return !r.ended() && queue.Suspended(r.object) }

// round is reconstructed from its runs.
type round struct {
	roundRecord
	number int32
	runs   []roundRun
}

// roundsOf returns the rounds of some runs, newest first. Runs without a record are not the suite's.
func roundsOf(runs []v1alpha1.BenchmarkRun) []*round {
	var rounds []*round
	for i := range runs {
		var record roundRecord
		number, err := strconv.ParseInt(runs[i].Labels[v1alpha1.LabelRound], 10, 32)
		if err != nil || json.Unmarshal([]byte(runs[i].Annotations[v1alpha1.AnnotationRound]), &record) != nil {
			continue
		}
		r := util.First(rounds, func(r **round) bool { return (*r).ID == record.ID })
		if r == nil {
			rounds = append(rounds, &round{roundRecord: record, number: int32(number)})
			r = &rounds[len(rounds)-1]
		}
		(*r).runs = append((*r).runs, roundRun{&runs[i], record})
	}
	for _, r := range rounds {
		r.sort()
	}
	slices.SortFunc(rounds, func(a, b *round) int { return cmp.Compare(b.number, a.number) })
	return rounds
}

// Answering returns the round that answers a request by hand, by its annotation's value or id; 0 if none.
func Answering(runs []v1alpha1.BenchmarkRun, token string) int32 {
	for _, r := range roundsOf(runs) {
		if token != "" && (r.Requested == token || r.Webhook == token) {
			return r.number
		}
	}
	return 0
}

func (r *round) sort() {
	slices.SortFunc(r.runs, func(a, b roundRun) int { return strings.Compare(a.object.Name, b.object.Name) })
}

func (r *round) measuring() bool {
	return slices.ContainsFunc(r.runs, func(run roundRun) bool { return !run.ended() })
}

func (r *round) whole() bool { return len(r.runs) == r.Runs }

func (r *round) over() *metav1.Time {
	var last *metav1.Time
	for _, run := range r.runs {
		if at := run.object.Status.CompletionTime; at != nil && (last == nil || last.Before(at)) {
			last = at
		}
	}
	return last
}

func (r *round) line(e ending, now time.Time) v1alpha1.SuiteRound {
	line := v1alpha1.SuiteRound{
		Round: r.number, Trigger: r.Trigger, Parameters: r.Parameters, PullRequest: r.PullRequest, Webhook: r.Webhook, Noted: r.Noted, Inputs: r.Inputs,
		Outcome: e.outcome, Reason: e.reason, Message: util.Clip(e.message, maxMessage), StartTime: &r.Begun, CompletionTime: r.over(), Against: r.Against,
	}
	if line.CompletionTime == nil {
		line.CompletionTime = &metav1.Time{Time: now}
	}
	return line
}

func (r *round) current() v1alpha1.CurrentRound {
	ended := 0
	c := v1alpha1.CurrentRound{Round: r.number, Trigger: r.Trigger, Parameters: r.Parameters, PullRequest: r.PullRequest, Webhook: r.Webhook, StartTime: &r.Begun, Against: r.Against}
	for _, run := range r.runs {
		if run.ended() {
			ended++
		} else if c.Run == "" && !run.suspended() {
			c.Run = run.object.Name
		}
	}
	c.Progress = fmt.Sprintf("%d/%d", ended, r.Runs)
	return c
}

// roundID follows from the suite, the inputs and what the round answers. The uid separates the suite from an earlier
// one of its name, whose runs may still exist.
func roundID(suite *v1alpha1.BenchmarkSuite, record roundRecord) string {
	scheduled := ""
	if record.Scheduled != nil {
		scheduled = record.Scheduled.UTC().Format(time.RFC3339)
	}
	answers := []string{string(suite.UID), record.Inputs, scheduled, record.Requested, record.Reconcile}
	if record.Webhook != "" { // Older rounds without a webhook keep their names.
		answers = append(answers, record.Webhook)
	}
	return digest(strings.Join(answers, "\n"))
}

// A run's name has at most 28 characters.
const (
	nameOfSuite = 16
	nameOfRound = 8
)

// runName returns a run's name. Runs created in the same second take turns by name.
func runName(suite *v1alpha1.BenchmarkSuite, id string, index int) string {
	name := suite.Name
	if len(name) > nameOfSuite {
		name = strings.TrimRight(name[:nameOfSuite], "-")
	}
	return fmt.Sprintf("%s-%s-%02d", name, id[:nameOfRound], index)
}

func runOf(suite *v1alpha1.BenchmarkSuite, record roundRecord, number int32, spec v1alpha1.BenchmarkRunSpec, index int) v1alpha1.BenchmarkRun {
	text, _ := json.Marshal(record) // Texts and numbers can always be written.
	return v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: suite.Namespace, Name: runName(suite, record.ID, index),
			Labels: map[string]string{
				v1alpha1.LabelSuite: suite.Name, v1alpha1.LabelSuiteUID: string(suite.UID), v1alpha1.LabelRound: strconv.Itoa(int(number)),
			},
			Annotations:     map[string]string{v1alpha1.AnnotationRound: string(text)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(suite, v1alpha1.GroupVersion.WithKind("BenchmarkSuite"))},
		},
		Spec: spec,
	}
}
