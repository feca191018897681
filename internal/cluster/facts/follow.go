package facts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// Sight is what a cluster shows at one moment.
type Sight struct {
	Run    *v1alpha1.BenchmarkRun
	Plan   plan.Plan
	Trials []v1alpha1.Trial
	Now    time.Time
	// Codes are causes of disturbed cells, by block, if the results were read.
	Codes map[int32][]string
}

// Follower remembers which events of a run it has reported.
type Follower struct {
	waits    string
	ended    map[string]bool
	attempts map[string]int
	repeats  int32
}

// See returns the new events.
func (f *Follower) See(s Sight) []progress.Event {
	var out []progress.Event
	if text := Waiting(s); text != f.waits {
		f.waits = text
		if text != "" {
			out = append(out, f.event(s, nil, progress.EventNote, text))
		}
	}
	trials := slices.Clone(s.Trials)
	slices.SortFunc(trials, func(a, b v1alpha1.Trial) int { return cmp.Compare(Index(&a), Index(&b)) })
	var current *v1alpha1.Trial
	for i := range trials {
		t := &trials[i]
		out = append(out, f.trial(s, t)...)
		if current == nil && t.Status.CompletionTime == nil && t.Status.Attempt > 0 {
			current = t
		}
	}
	if n, troubles := repeats(s), troubles(s); n > f.repeats && troubles != "" {
		f.repeats = n
		out = append(out, f.event(s, nil, progress.EventNote, progress.Repeated(troubles, n)))
	}
	if current != nil && s.Run.Status.CompletionTime == nil {
		out = append(out, f.event(s, current, progress.EventProgress, ""))
	}
	return out
}

func (f *Follower) trial(s Sight, t *v1alpha1.Trial) []progress.Event {
	if f.ended == nil {
		f.ended, f.attempts = map[string]bool{}, map[string]int{}
	}
	var out []progress.Event
	failures := t.Status.Failures
	for _, failure := range failures[min(f.attempts[t.Name], len(failures)):] {
		out = append(out, f.event(s, t, progress.EventFailed, failure+"; retrying"))
	}
	f.attempts[t.Name] = len(failures)
	if t.Status.CompletionTime == nil || f.ended[t.Name] {
		return out
	}
	f.ended[t.Name] = true
	c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case c == nil || c.Status == metav1.ConditionTrue:
		return append(out, f.event(s, t, progress.EventMeasured, ""))
	case c.Reason == v1alpha1.ReasonStoppedEarly:
		return out
	}
	return append(out, f.event(s, t, progress.EventFailed, c.Message))
}

func (f *Follower) event(s Sight, t *v1alpha1.Trial, kind progress.EventKind, message string) progress.Event {
	e := progress.Event{Kind: kind, Message: message, Blocks: planned(s), Repeats: repeats(s), Left: left(s.Run), Troubles: troubles(s), WholeTrials: wholeTrials(s)}
	_, _ = fmt.Sscanf(s.Run.Status.Progress, "%d/%d", &e.Done, &e.All) // A run without a plan has neither.
	if t != nil {
		seen := Trial(t, s.Plan)
		e.Trial = &seen.PlannedTrial
		if kind == progress.EventProgress && t.Status.Progress != "" && kinds.HasCells(seen.Work) {
			e.Cell = "cell " + cells(t, seen, s.Now)
		}
	}
	return e
}

// wholeTrials reports whether the blocks' trials have no cells, so that each counts as one. Without trials it is false.
func wholeTrials(s Sight) bool {
	first := slices.IndexFunc(s.Trials, func(t v1alpha1.Trial) bool { return t.Spec.Block > 0 })
	return first >= 0 && !kinds.HasCells(Trial(&s.Trials[first], s.Plan).Work)
}

// cells returns how many of a trial's cells have ended, of how many. Between status updates it computes this from the trial's start.
func cells(t *v1alpha1.Trial, seen conduct.Trial, now time.Time) string {
	var told, all int
	if _, err := fmt.Sscanf(t.Status.Progress, "%d/%d", &told, &all); err != nil || seen.Started.IsZero() {
		return t.Status.Progress
	}
	done := conduct.Attempt{Work: seen.Work, Started: seen.Started, Now: now}.CellsDone()
	return Progress(max(told, done), all)
}

func repeats(s Sight) int32 {
	var n int32
	for _, t := range s.Trials {
		n = max(n, conduct.Repeats(planned(s), t.Spec.Block))
	}
	return n
}

// troubles lists disturbed blocks from the status, and blocks with a lost trial.
func troubles(s Sight) string {
	blocks, found := slices.Clone(s.Run.Status.Repeats.DisturbedBlocks), map[int32][]string{}
	for block, codes := range s.Codes {
		found[block] = slices.Clone(codes)
	}
	for _, t := range s.Trials {
		if t.Spec.Block == 0 || t.Status.CompletionTime == nil {
			continue
		}
		c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionSucceeded)
		if c != nil && c.Status == metav1.ConditionFalse && v1alpha1.OriginOf(c.Reason) == v1alpha1.OriginInfrastructure {
			blocks, found[t.Spec.Block] = append(blocks, t.Spec.Block), append(found[t.Spec.Block], c.Reason)
		}
	}
	return progress.Disturbed(blocks, found)
}

// Waiting says what a run waits for; empty if it measures or has ended.
func Waiting(s Sight) string {
	c := meta.FindStatusCondition(s.Run.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case s.Run.Status.CompletionTime != nil:
		return ""
	case c == nil:
		return "waiting for the operator"
	case c.Message != "" && c.Reason != v1alpha1.ReasonInProgress && c.Reason != v1alpha1.ReasonQueued:
		return fmt.Sprintf("%s: %s", c.Reason, c.Message)
	}
	return c.Message
}

// left returns a run's estimated remaining time from its status; 0 if unknown.
func left(r *v1alpha1.BenchmarkRun) time.Duration {
	d, err := time.ParseDuration(r.Status.TimeLeft)
	if err != nil {
		return 0
	}
	return d
}
