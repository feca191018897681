package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/cluster/queue"
)

type queueBody struct {
	// Whole: all runs of the installation are visible. Otherwise places are unknown.
	Whole bool
	// Any: there has been a run.
	Any     bool
	Running []running
	Waiting []waiting
	// Beside are unfinished runs outside the queue, which block no other run.
	Beside []waiting
}

type waits struct {
	Caption string
	Rows    []waiting
}

// Turns are runs waiting for their turn.
func (b queueBody) Turns() waits { return waits{"Runs that wait for their turn", b.Waiting} }

// Outside are runs that block no other.
func (b queueBody) Outside() waits { return waits{"Runs outside the queue", b.Beside} }

type running struct {
	Run    runRow
	Waits  string
	Blocks *blocks
}

type waiting struct {
	Run                runRow
	Place, Begins, Why string
}

// Measuring returns begun, unfinished runs, whose trials are shown with the queue.
func Measuring(runs []v1alpha1.BenchmarkRun) []v1alpha1.BenchmarkRun {
	return slices.DeleteFunc(queue.Order(runs), func(r v1alpha1.BenchmarkRun) bool { return r.Status.StartTime == nil })
}

// Queue is the queue page. trials are those of measuring runs, by UID.
func Queue(f Frame, runs []v1alpha1.BenchmarkRun, trials map[types.UID]Trials) Page {
	body := queueBody{Whole: f.Namespace == "" && !f.Partial, Any: len(runs) > 0}
	order, taking := queue.Order(runs), queue.Taking(runs, time.Time{}, f.Now)
	sight := facts.Sight{Now: f.Now}
	for i := range order {
		r := &order[i]
		sight.Run = r
		if r.Status.StartTime != nil {
			body.Running = append(body.Running, running{rowOf(r, f.Now), facts.Waiting(sight), blocksOf(r, trials[r.UID], f.Now)})
			continue
		}
		w := waiting{Run: rowOf(r, f.Now), Why: facts.Waiting(sight)}
		if c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded); body.Whole && c != nil && c.Reason == v1alpha1.ReasonQueued && len(taking) > 0 {
			w.Why = queue.Ahead(&taking[0]) // Its message includes the place.
		}
		if body.Whole {
			w.Place, w.Begins = turn(taking, r, f.Now)
		}
		body.Waiting = append(body.Waiting, w)
	}
	for i := range runs {
		r := &runs[i]
		sight.Run = r
		if r.Status.CompletionTime == nil && !queue.HoldsUp(r) {
			body.Beside = append(body.Beside, waiting{Run: rowOf(r, f.Now), Why: facts.Waiting(sight)})
		}
	}
	slices.SortFunc(body.Beside, func(a, b waiting) int {
		return cmp.Or(strings.Compare(a.Run.Namespace, b.Run.Namespace), strings.Compare(a.Run.Name, b.Run.Name))
	})
	return Page{Frame: f, Title: "Queue", Stream: EventsPath, Data: body, section: QueuePath, body: "queue"}
}

// turn returns a run's place in the queue and expected start. Both are empty until the operator has added it to the queue; begins
// also if earlier runs' durations are unknown.
func turn(order []v1alpha1.BenchmarkRun, r *v1alpha1.BenchmarkRun, now time.Time) (place, begins string) {
	if !slices.ContainsFunc(order, func(o v1alpha1.BenchmarkRun) bool { return o.UID == r.UID }) {
		return "", ""
	}
	before, takes, silent := queue.Turn(order, r)
	takes = takes.Round(time.Minute)
	place = strconv.Itoa(before)
	switch {
	case before == 0:
		return "first", "its turn has come"
	case silent == before:
		return place, ""
	case silent > 0:
		return place, fmt.Sprintf("in %s or more: not all before it say how long they take", minutes(takes))
	}
	return place, fmt.Sprintf("in about %s, at %s", minutes(takes), now.Add(takes).UTC().Format("15:04 UTC"))
}

func minutes(d time.Duration) string {
	switch n := int(d.Minutes()); {
	case n < 1:
		return "less than a minute"
	case n < 60:
		return fmt.Sprintf("%d min", n)
	default:
		return fmt.Sprintf("%d h %d min", n/60, n%60)
	}
}
