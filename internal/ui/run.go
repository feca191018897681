package ui

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/run/plan"
)

type runBody struct {
	runRow
	Says  string
	Facts []fact
	// Blocks are nil if a run shows none, for example after its trials are deleted.
	Blocks           *blocks
	Conditions       []condition
	Report, NoReport string
}

type condition struct {
	Type, Status, Reason, Message string
	Since                         *moment
}

// Run is a run's page. report is its report's path below the run's folder in the store; empty without one.
func Run(f Frame, r *v1alpha1.BenchmarkRun, trials Trials, report string) Page {
	sight := facts.Sight{Run: r, Now: f.Now}
	body := runBody{runRow: rowOf(r, f.Now), Says: facts.Waiting(sight), Facts: factsOf(r, f.Now), Blocks: blocksOf(r, trials, f.Now), Conditions: conditionsOf(r.Status.Conditions, f.Now)}
	ended := r.Status.CompletionTime != nil
	if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil && ended {
		body.Says = c.Message
	}
	if body.Says == body.Verdict { // Said above.
		body.Says = ""
	}
	if ended && len(trials.All) == 0 && trials.Err == nil {
		body.Blocks = nil
	}
	switch {
	case report != "":
		body.Report = FilePath(r.Namespace, r.Name, report)
	case ended:
		body.NoReport = "The run has ended without a report: its conditions say why."
	default:
		body.NoReport = "There is no report yet. It is made when the run has ended, and stands here then."
	}
	return Page{Frame: f, Title: r.Name, Stream: EventsPath, Data: body, section: RunsPath, body: "run"}
}

func factsOf(r *v1alpha1.BenchmarkRun, now time.Time) []fact {
	all := []fact{{Name: "Namespace", Text: r.Namespace, Path: RunsPath + "?namespace=" + url.QueryEscape(r.Namespace)}}
	if suite := r.Labels[v1alpha1.LabelSuite]; suite != "" {
		all = append(all, fact{Name: "Suite", Text: fmt.Sprintf("%s, round %s", suite, r.Labels[v1alpha1.LabelRound]), Path: SuitePath(r.Namespace, suite)})
	}
	all = append(all, fact{Name: "Created", When: momentOf(r.CreationTimestamp.Time, now)})
	if at := r.Status.StartTime; at != nil {
		all = append(all, fact{Name: "Its turn began", When: momentOf(at.Time, now)})
	}
	if at := r.Status.CompletionTime; at != nil {
		all = append(all, fact{Name: "Ended", When: momentOf(at.Time, now)})
	}
	for _, i := range r.Spec.Implementations {
		name := "Implementation"
		if i.Name == r.Spec.Baseline {
			name = "Baseline"
		}
		all = append(all, fact{Name: name, Text: strings.TrimSpace(i.Name + " " + i.Image)})
	}
	var loads []string
	for _, l := range r.Spec.Loads {
		loads = append(loads, fmt.Sprintf("%s (%s)", l.Name, l.Tool))
	}
	if len(loads) > 0 {
		all = append(all, fact{Name: "Loads", Text: strings.Join(loads, ", ")})
	}
	all = append(all, fact{Name: "Blocks", Text: fmt.Sprint(plan.BlocksOf(r.Spec))})
	if n := len(r.Spec.Objectives); n > 0 {
		all = append(all, fact{Name: "Objectives", Text: fmt.Sprint(n)})
	}
	return all
}

func conditionsOf(all []metav1.Condition, now time.Time) []condition {
	var out []condition
	for _, c := range all {
		out = append(out, condition{c.Type, string(c.Status), c.Reason, c.Message, momentOf(c.LastTransitionTime.Time, now)})
	}
	return out
}
