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

// roundRecord is what each run knows of its round, so that nothing else needs to.
type roundRecord struct {
	// ID follows from the suite, the inputs and what started the round.
	ID      string           `json:"id"`
	Inputs  string           `json:"inputs"`
	Trigger v1alpha1.Trigger `json:"trigger"`
	// Runs is how many runs the round has, and Run is the name of this one in the suite.
	Runs int    `json:"runs"`
	Run  string `json:"run"`
	// Begun is when it was decided to begin the round.
	Begun metav1.Time `json:"begun"`
	// Scheduled, Requested and Reconcile are what the round answers: a scheduled time with all that came after it until the round began.
	Scheduled *metav1.Time `json:"scheduled,omitempty"`
	Requested string       `json:"requested,omitempty"`
	Reconcile string       `json:"reconcile,omitempty"`
	// Webhook is the id of the request with values that the round answers, and Parameters are the values that it gives. Beside are the inputs that
	// the suite had then by itself: a change of them has not come since.
	Webhook    string                    `json:"webhook,omitempty"`
	Parameters []v1alpha1.ParameterValue `json:"parameters,omitempty"`
	Beside     string                    `json:"beside,omitempty"`
	// PullRequest is the number of the pull request that the round measures: it is judged by what is good, and is no measure of others. Empty of the suite's own.
	PullRequest string `json:"pullRequest,omitempty"`
	// Noted are the values that the parameters had when the round began which notifications name: later the spec may have other defaults.
	Noted []v1alpha1.ParameterValue `json:"noted,omitempty"`
	// Against are the numbers of the good rounds that the round is compared with: all of its runs with the same ones, whenever they are made.
	Against []int32 `json:"against,omitempty"`
}

// roundRun is a run of a round.
type roundRun struct {
	object *v1alpha1.BenchmarkRun
	record roundRecord
}

func (r roundRun) ended() bool { return r.object.Status.CompletionTime != nil }

// suspended reports whether somebody keeps the run from beginning, for which its round waits.
func (r roundRun) suspended() bool { return !r.ended() && queue.Suspended(r.object) }

// round is a round as its runs tell of it.
type round struct {
	roundRecord
	number int32
	runs   []roundRun
}

// roundsOf returns the rounds of some runs, the newest first. What carries no record was made by somebody else, and is left alone.
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

// Answering is the number of the round of some runs that answers a request by hand, by the value of its annotation or its id; 0 if none does.
func Answering(runs []v1alpha1.BenchmarkRun, token string) int32 {
	for _, r := range roundsOf(runs) {
		if token != "" && (r.Requested == token || r.Webhook == token) {
			return r.number
		}
	}
	return 0
}

// sort puts the runs into the order of their names, in which they take turns.
func (r *round) sort() {
	slices.SortFunc(r.runs, func(a, b roundRun) int { return strings.Compare(a.object.Name, b.object.Name) })
}

// measuring reports whether a run of the round has not ended.
func (r *round) measuring() bool {
	return slices.ContainsFunc(r.runs, func(run roundRun) bool { return !run.ended() })
}

// whole reports whether all runs of the round exist.
func (r *round) whole() bool { return len(r.runs) == r.Runs }

// over is when the last run ended.
func (r *round) over() *metav1.Time {
	var last *metav1.Time
	for _, run := range r.runs {
		if at := run.object.Status.CompletionTime; at != nil && (last == nil || last.Before(at)) {
			last = at
		}
	}
	return last
}

// line is what the history says of the round, with a given outcome.
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

// current is what the status says of the round while it is in progress.
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

// roundID follows from the suite, what is measured and what the round answers; a change alone is answered by its inputs. The uid tells a suite from
// an earlier one of its name, whose runs may still be going.
func roundID(suite *v1alpha1.BenchmarkSuite, record roundRecord) string {
	scheduled := ""
	if record.Scheduled != nil {
		scheduled = record.Scheduled.UTC().Format(time.RFC3339)
	}
	answers := []string{string(suite.UID), record.Inputs, scheduled, record.Requested, record.Reconcile}
	if record.Webhook != "" { // Rounds of an operator that knew no webhook keep their names.
		answers = append(answers, record.Webhook)
	}
	return digest(strings.Join(answers, "\n"))
}

// Lengths of the parts of a run's name, which has 28 characters at most.
const (
	nameOfSuite = 16
	nameOfRound = 8
)

// runName is the name of a run of a round. The order of names is that of the runs: runs that are created in one second take turns by name.
func runName(suite *v1alpha1.BenchmarkSuite, id string, index int) string {
	name := suite.Name
	if len(name) > nameOfSuite {
		name = strings.TrimRight(name[:nameOfSuite], "-")
	}
	return fmt.Sprintf("%s-%s-%02d", name, id[:nameOfRound], index)
}

// runOf is a run of a round, as it is created.
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
