package facts

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kindtest"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

var now = metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func run(name string, minutes int, status metav1.ConditionStatus, reason, message string) v1alpha1.BenchmarkRun {
	r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
		Namespace: "bench", Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(time.Duration(minutes) * time.Minute)),
	}}
	r.Spec.Blocks, r.Spec.Loads = 2, []v1alpha1.Load{{Name: "sweep"}}
	r.Status.TimeLeft = "3m20s"
	if reason != "" {
		r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message}}
	}
	return r
}

// planOf is a sweep of two implementations in two blocks, followed by a profile. A cell takes ten seconds plus its tool's needs.
func planOf(cells int) plan.Plan {
	p := plan.Plan{Plan: record.Plan{Blocks: 2, Implementations: []record.Implementation{{Name: "costly"}, {Name: "plain"}}}}
	for range cells {
		p.Cells = append(p.Cells, record.Cell{Load: "l", Tool: "wrk", Connections: 1, Generators: 1, Threads: 1, DurationSeconds: 10})
	}
	for i, servers := range []string{"plain", "costly", "costly", "plain"} {
		p.Trials = append(p.Trials, record.PlannedTrial{Name: servers + string(rune('0'+i)), Index: int32(i), Block: int32(i/2 + 1), Type: record.Sweep, Servers: []string{servers}})
	}
	p.Profiles = []record.Profile{{Name: "cpu"}}
	p.Following = []record.PlannedTrial{{Name: "quick-p00-plain", Index: 8, Type: record.ProfileType, Servers: []string{"plain"}, Item: "cpu"}}
	return p
}

func trialOf(line record.PlannedTrial) v1alpha1.Trial {
	t := v1alpha1.Trial{ObjectMeta: metav1.ObjectMeta{Name: line.Name}}
	t.Spec.RunName, t.Spec.Index, t.Spec.Block = "quick", &line.Index, line.Block
	t.Status.Attempt = 1
	return t
}

func ended(t v1alpha1.Trial, status metav1.ConditionStatus, reason, message string) v1alpha1.Trial {
	t.Status.CompletionTime = &metav1.MicroTime{Time: now.Time}
	t.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: status, Reason: reason, Message: message}}
	return t
}

func TestCellsOfATrialAreCountedByItsTimetable(t *testing.T) {
	start := metav1.NewMicroTime(now.Time)
	p := planOf(3)
	measuring := trialOf(p.Trials[0])
	measuring.Status.Progress, measuring.Status.StartTime = "0/3", &start
	told, other, held := measuring, measuring, measuring
	told.Status.Progress, other.Name, held.Status.StartTime = "3/3", "another", nil
	for name, tc := range map[string]struct {
		trial v1alpha1.Trial
		want  string
	}{
		"two have ended that no status has counted": {measuring, "2/3"},
		"the status counts more":                    {told, "3/3"},
		"one that is not in the plan":               {other, "0/3"},
		"one that has not begun":                    {held, "0/3"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cells(&tc.trial, Trial(&tc.trial, p), now.Add(25*time.Second)); got != tc.want {
				t.Errorf("it is at %s, want %s", got, tc.want)
			}
		})
	}
}

func TestARunIsToldAsItGoesOn(t *testing.T) {
	measuring := run("quick", 0, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "")
	measuring.Status.StartTime, measuring.Status.Progress = &now, "3/8"
	p := planOf(2)
	lines := []record.PlannedTrial{p.Trials[0], p.Trials[1], p.Repeat("quick", 1)[0]}
	first, second, third := trialOf(lines[0]), trialOf(lines[1]), trialOf(lines[2])
	inFirst, failing := first, second
	inFirst.Status.Progress = "1/2"
	failing.Status.Attempt, failing.Status.Failures = 2, []string{"attempt 1: PodLost: gone"}
	done := measuring
	done.Status.CompletionTime = &now
	var f Follower
	event := func(kind progress.EventKind, trial v1alpha1.Trial, cell, message string, repeats int32) progress.Event {
		e := progress.Event{Kind: kind, Blocks: 2, Repeats: repeats, Cell: cell, Done: 3, All: 8, Left: 200 * time.Second, Message: message}
		e.Trial = &lines[slices.IndexFunc(lines, func(l record.PlannedTrial) bool { return l.Name == trial.Name })]
		return e
	}
	troubled := func(e progress.Event) progress.Event {
		e.Troubles = "block 1 (PodLost)"
		return e
	}
	repeats := troubled(event(progress.EventNote, second, "", "disturbed: block 1 (PodLost): repeat block 1 is measured", 1))
	repeats.Trial = nil
	scanned := measuring
	scanned.Status.Repeats.DisturbedBlocks = []int32{2}
	again := event(progress.EventProgress, third, "", "", 1)
	again.Troubles = "block 1 (PodLost, Steal), block 2 (NoisyNeighbours, Steal)"
	for _, step := range []struct {
		what string
		seen Sight
		want []progress.Event
	}{
		{"nobody has seen it", Sight{Run: ptr(run("quick", 0, "", "", ""))}, []progress.Event{{Kind: progress.EventNote, Blocks: 2, Left: 200 * time.Second, Message: "waiting for the operator"}}},
		{"the first trial runs", Sight{Run: &measuring, Trials: []v1alpha1.Trial{second, inFirst}}, []progress.Event{event(progress.EventProgress, first, "cell 1/2", "", 0)}},
		{"it has ended", Sight{Run: &measuring, Trials: []v1alpha1.Trial{ended(first, metav1.ConditionTrue, "Done", ""), second}}, []progress.Event{
			event(progress.EventMeasured, first, "", "", 0), event(progress.EventProgress, second, "", "", 0),
		}},
		{"an attempt has failed", Sight{Run: &measuring, Trials: []v1alpha1.Trial{ended(first, metav1.ConditionTrue, "Done", ""), failing}}, []progress.Event{
			event(progress.EventFailed, second, "", "attempt 1: PodLost: gone; retrying", 0), event(progress.EventProgress, second, "", "", 0),
		}},
		{"the trial has failed, and a block is repeated", Sight{Run: &measuring, Trials: []v1alpha1.Trial{ended(failing, metav1.ConditionFalse, "PodLost", "gone for good"), third}}, []progress.Event{
			troubled(event(progress.EventFailed, second, "", "gone for good", 1)), repeats, troubled(event(progress.EventProgress, third, "", "", 1)),
		}},
		{"another block is disturbed", Sight{Run: &scanned, Trials: []v1alpha1.Trial{ended(failing, metav1.ConditionFalse, "PodLost", "gone for good"), third}, Codes: map[int32][]string{1: {"Steal"}, 2: {"Steal", "NoisyNeighbours", "Steal"}}}, []progress.Event{
			again,
		}},
		{"what was not needed is no failure", Sight{Run: &done, Trials: []v1alpha1.Trial{ended(third, metav1.ConditionFalse, v1alpha1.ReasonStoppedEarly, "enough")}}, nil},
	} {
		step.seen.Plan = p
		if diff := cmp.Diff(step.want, f.See(step.seen)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.what, diff)
		}
	}
}

func TestAProfileThatFollowsTheBlocksIsToldByItsName(t *testing.T) {
	measuring := run("quick", 0, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "")
	p := planOf(1)
	want := &p.Following[0]
	var f Follower
	got := f.See(Sight{Run: &measuring, Plan: p, Trials: []v1alpha1.Trial{trialOf(*want)}})
	if len(got) != 1 || !cmp.Equal(got[0].Trial, want) || got[0].Repeats != 0 {
		t.Errorf("it is told as %+v", got)
	}
}

func TestProgramsAreCountedByTrial(t *testing.T) {
	measuring := run("timed", 0, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "")
	measuring.Spec.Loads, measuring.Status.Progress = nil, "3/8"
	p := planOf(0)
	p.Programs, p.Trials[3].Type = &record.Programs{}, record.Microbenchmark
	timed := trialOf(p.Trials[3])
	timed.Status.Progress = "0/1"
	var f Follower
	got := f.See(Sight{Run: &measuring, Plan: p, Trials: []v1alpha1.Trial{timed}})
	if len(got) != 1 || !got[0].WholeTrials || got[0].Done != 3 || got[0].Cell != "" {
		t.Errorf("it is told as %+v", got)
	}
}

type celled struct{ kindtest.Timings }

func (celled) Type() record.WorkType { return "Celled" }

func (celled) Work(record.Plan, record.PlannedTrial) kind.Work { return twoCells{} }

type twoCells struct{ kind.Unknown }

func (twoCells) Slots() []timetable.Slot {
	return []timetable.Slot{{End: 10 * time.Second}, {End: 20 * time.Second}}
}

func (twoCells) Describe(m *record.TrialManifest) { m.Cells = make([]record.Cell, 2) }

func TestTheCellsOfAnyKindAreCounted(t *testing.T) {
	kindtest.KnowOnly(t, celled{}, kindtest.Afterwards{})
	measuring := run("new", 0, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "")
	measuring.Spec.Loads, measuring.Status.Progress = nil, "1/8"
	start := metav1.NewMicroTime(now.Time)
	p := planOf(0)
	p.Trials[0].Type, p.Following[0].Type = "Celled", kindtest.AfterwardsType
	counted, after := trialOf(p.Trials[0]), trialOf(p.Following[0])
	counted.Status.Progress, counted.Status.StartTime, after.Status.Progress = "0/2", &start, "0/1"
	for want, trials := range map[string][]v1alpha1.Trial{
		"cell 1/2": {counted, after},
		"":         {ended(counted, metav1.ConditionTrue, "Done", ""), after}, // Trials after the blocks have none.
	} {
		var f Follower
		all := f.See(Sight{Run: &measuring, Plan: p, Trials: trials, Now: now.Add(15 * time.Second)})
		if got := all[len(all)-1]; got.Kind != progress.EventProgress || got.Cell != want || got.WholeTrials {
			t.Errorf("it is told as %+v, want the cell %q", got, want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestWhatARunWaitsFor(t *testing.T) {
	measures := run("measures", 5, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "")
	measures.Status.StartTime = &now
	over := run("over", 0, metav1.ConditionTrue, v1alpha1.ReasonDone, "")
	over.Status.CompletionTime = &now
	const place = "place 2 in the queue: BenchmarkRun bench/first is measuring"
	for name, tc := range map[string]struct {
		seen Sight
		want string
	}{
		"it is second":      {Sight{Run: ptr(run("mine", 2, metav1.ConditionUnknown, v1alpha1.ReasonQueued, place))}, place},
		"the store is away": {Sight{Run: ptr(run("mine", 0, metav1.ConditionUnknown, v1alpha1.ReasonStoreUnavailable, "no answer"))}, "StoreUnavailable: no answer"},
		"a pod has no node": {Sight{Run: ptr(run("mine", 0, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "a pod waits for node n1"))}, "a pod waits for node n1"},
		"it measures":       {Sight{Run: &measures}, ""},
		"it has ended":      {Sight{Run: &over}, ""},
	} {
		if got := Waiting(tc.seen); got != tc.want {
			t.Errorf("%s: it says %q, want %q", name, got, tc.want)
		}
	}
}

func TestAnEndOnAClusterIsOneOnThisMachine(t *testing.T) {
	conclusive := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionConclusive, Status: status, Reason: reason}
	}
	decided := run("r", 0, metav1.ConditionTrue, v1alpha1.ReasonDone, "b is slower")
	decided.Status.Verdict = "b is slower"
	decided.Status.Conditions = append(decided.Status.Conditions, conclusive(metav1.ConditionTrue, v1alpha1.ReasonDone))
	open := run("r", 0, metav1.ConditionFalse, v1alpha1.ReasonObjectivesUndecided, "1 undecided")
	open.Spec.Objectives = make([]v1alpha1.Objective, 1)
	open.Status.Conditions = append(open.Status.Conditions, conclusive(metav1.ConditionFalse, v1alpha1.ReasonTooFewBlocks))
	void := run("r", 0, metav1.ConditionTrue, v1alpha1.ReasonDone, "nothing counts")
	void.Status.Conditions = append(void.Status.Conditions, conclusive(metav1.ConditionFalse, v1alpha1.ReasonNoValidResults))
	for name, tc := range map[string]struct {
		run  v1alpha1.BenchmarkRun
		want progress.Ending
	}{
		"nothing that counts": {void, progress.Ending{
			Outcome: conduct.Outcome{State: conduct.Succeeded, Reason: v1alpha1.ReasonDone, Message: "nothing counts"},
			Verdict: &conduct.Verdict{Reason: v1alpha1.ReasonNoValidResults},
		}},
		"a verdict": {decided, progress.Ending{
			Outcome: conduct.Outcome{State: conduct.Succeeded, Reason: v1alpha1.ReasonDone, Message: "b is slower"},
			Verdict: &conduct.Verdict{Text: "b is slower", Conclusive: true, Reason: v1alpha1.ReasonDone}, Counts: true,
		}},
		"an undecided objective": {open, progress.Ending{
			Outcome: conduct.Outcome{State: conduct.Failed, Reason: v1alpha1.ReasonObjectivesUndecided, Message: "1 undecided"},
			Verdict: &conduct.Verdict{Reason: v1alpha1.ReasonTooFewBlocks}, Counts: true, Gated: true,
		}},
		"no status": {run("r", 0, "", "", ""), progress.Ending{
			Outcome: conduct.Outcome{State: conduct.Failed, Reason: "Unknown", Message: "the run has no condition that says how it has ended"},
			Verdict: &conduct.Verdict{}, Counts: true,
		}},
	} {
		if diff := cmp.Diff(tc.want, Ending(&tc.run)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTheStateOfARunIsAWord(t *testing.T) {
	going := run("r", 0, metav1.ConditionUnknown, v1alpha1.ReasonInProgress, "")
	leaving := going
	leaving.DeletionTimestamp = &now
	for want, r := range map[string]v1alpha1.BenchmarkRun{
		"New": run("r", 0, "", "", ""), "Measuring": going, "Deleting": leaving,
		"Queued":           run("r", 0, metav1.ConditionUnknown, v1alpha1.ReasonQueued, "x"),
		"Succeeded":        run("r", 0, metav1.ConditionTrue, v1alpha1.ReasonDone, "x"),
		"ObjectivesMissed": run("r", 0, metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "x"),
	} {
		if got := State(&r); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}
