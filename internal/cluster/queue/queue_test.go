package queue

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestWhoseTurnItIs(t *testing.T) {
	run := func(name string, created time.Duration, deltas ...func(*v1alpha1.BenchmarkRun)) v1alpha1.BenchmarkRun {
		r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: name, CreationTimestamp: metav1.Time{Time: noon.Add(created)}, Finalizers: []string{v1alpha1.Finalizer}}}
		for _, d := range deltas {
			d(&r)
		}
		return r
	}
	at := &metav1.Time{Time: noon}
	begun := func(r *v1alpha1.BenchmarkRun) { r.Status.StartTime = at }
	over := func(r *v1alpha1.BenchmarkRun) { r.Status.StartTime, r.Status.CompletionTime = at, at }
	deleted := func(r *v1alpha1.BenchmarkRun) { r.DeletionTimestamp = at }
	unreported := func(r *v1alpha1.BenchmarkRun) {
		r.Status.StartTime, r.Status.Conditions = at, []metav1.Condition{{Type: v1alpha1.ConditionExecuted, Status: metav1.ConditionTrue}}
	}
	noRoom := func(r *v1alpha1.BenchmarkRun) {
		r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionPlanned, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonNotEnoughCPUs}}
	}
	suspended := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = new(true) }
	resumed := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = new(false) }
	tests := map[string]struct {
		runs []v1alpha1.BenchmarkRun
		want string
	}{
		"not that of one that waits for nodes":              {[]v1alpha1.BenchmarkRun{run("a", 1, noRoom), run("b", 2)}, "b"},
		"that of one that began before its nodes were away": {[]v1alpha1.BenchmarkRun{run("a", 2, noRoom, begun), run("b", 1)}, "a b"},
		"not that of one that waits for its report":         {[]v1alpha1.BenchmarkRun{run("a", 1, unreported), run("b", 2)}, "b"},
		"not that of one that is suspended":                 {[]v1alpha1.BenchmarkRun{run("a", 1, suspended), run("b", 2)}, "b"},
		"that of one that was suspended too late":           {[]v1alpha1.BenchmarkRun{run("a", 2, begun, suspended), run("b", 1)}, "a b"},
		"that of the oldest one after it is resumed":        {[]v1alpha1.BenchmarkRun{run("b", 2), run("a", 1, resumed)}, "a b"},
		"nobody's when all are suspended":                   {[]v1alpha1.BenchmarkRun{run("a", 1, suspended), run("b", 2, suspended)}, ""},
		"nobody's":                                          {},
		"the only one's":                                    {[]v1alpha1.BenchmarkRun{run("a", 0)}, "a"},
		"the oldest one's":                                  {[]v1alpha1.BenchmarkRun{run("a", 2), run("b", 1), run("c", 3)}, "b a c"},
		"that of the one that has begun":                    {[]v1alpha1.BenchmarkRun{run("a", 1), run("b", 2, begun)}, "b a"},
		"not that of one that has ended":                    {[]v1alpha1.BenchmarkRun{run("a", 1, over), run("b", 2)}, "b"},
		"not that of one that is deleted":                   {[]v1alpha1.BenchmarkRun{run("a", 1, begun, deleted), run("b", 2)}, "b"},
		"nobody's when all have ended":                      {[]v1alpha1.BenchmarkRun{run("a", 1, over), run("b", 2, deleted)}, ""},
		"of two of one second the first by name":            {[]v1alpha1.BenchmarkRun{run("b", 1), run("a", 1)}, "a b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tc.runs)
			var names []string
			for _, r := range Order(tc.runs) {
				names = append(names, r.Name)
			}
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("they take turns as %q, want %q", got, tc.want)
			}
			if first := First(tc.runs, time.Time{}, noon.Add(time.Hour)); (first == nil) != (tc.want == "") || first != nil && first.Name != names[0] {
				t.Errorf("it is the turn of %v", first)
			}
			if diff := cmp.Diff(before, tc.runs); diff != "" {
				t.Errorf("the list has changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestWhatThoseBehindARunWaitFor(t *testing.T) {
	at := &metav1.Time{Time: noon}
	for name, tc := range map[string]struct {
		status v1alpha1.BenchmarkRunStatus
		want   string
	}{
		"it is new":                {v1alpha1.BenchmarkRunStatus{}, "BenchmarkRun bench/a comes first: runs take turns"},
		"it measures":              {v1alpha1.BenchmarkRunStatus{StartTime: at}, "BenchmarkRun bench/a is measuring: runs take turns"},
		"it waits for its store":   {v1alpha1.BenchmarkRunStatus{WaitingSince: at}, "BenchmarkRun bench/a comes first, and waits: no answer"},
		"it waits for an image":    {v1alpha1.BenchmarkRunStatus{StartTime: at, WaitingSince: at}, "BenchmarkRun bench/a is measuring, and waits: no answer"},
		"it has ended":             {v1alpha1.BenchmarkRunStatus{CompletionTime: at}, ""},
		"its report is to be made": {v1alpha1.BenchmarkRunStatus{StartTime: at, Conditions: []metav1.Condition{{Type: v1alpha1.ConditionExecuted, Status: metav1.ConditionTrue}}}, ""},
	} {
		r := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "a"}, Status: tc.status}
		r.Status.Conditions = append(r.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Message: "no answer"})
		if got := Ahead(r); !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
			t.Errorf("%s: they wait for %q, want %q", name, got, tc.want)
		}
	}
}

func TestARunSaysItsPlaceAndWhenItsTurnIsLikely(t *testing.T) {
	run := func(name string, created time.Duration, left string) v1alpha1.BenchmarkRun {
		r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: name, UID: types.UID(name), CreationTimestamp: metav1.Time{Time: noon.Add(created)}, Finalizers: []string{v1alpha1.Finalizer},
		}}
		r.Status.TimeLeft = left
		return r
	}
	measures, mine := run("first", 5, "3m20s"), run("mine", 2, "8m")
	measures.Status.StartTime = &metav1.Time{Time: noon}
	over := run("over", 0, "1h")
	over.Status.CompletionTime = &metav1.Time{Time: noon}
	mute := measures
	mute.Status.TimeLeft = ""
	refused := run("refused", 1, "1h")
	refused.Finalizers, refused.CreationTimestamp = nil, metav1.Time{Time: noon.Add(-takePatience)}
	const front = "BenchmarkRun bench/first is measuring: runs take turns"
	for name, tc := range map[string]struct {
		runs []v1alpha1.BenchmarkRun
		want string
	}{
		"it is next":                       {[]v1alpha1.BenchmarkRun{mine, over, measures}, "place 1 in the queue, expected to start at about 2026-03-01 12:05 UTC: " + front},
		"one before it cannot be taken":    {[]v1alpha1.BenchmarkRun{mine, refused, measures}, "place 1 in the queue, expected to start at about 2026-03-01 12:05 UTC: " + front},
		"it is second":                     {[]v1alpha1.BenchmarkRun{run("after", 3, "1m"), mine, run("before", 1, "13h"), measures}, "place 2 in the queue, expected to start at about 2026-03-02 01:05 UTC: " + front},
		"the one in front does not say":    {[]v1alpha1.BenchmarkRun{mine, mute}, "place 1 in the queue: " + front},
		"the one in front alone does not":  {[]v1alpha1.BenchmarkRun{mine, run("before", 1, "1h"), mute}, "place 2 in the queue: " + front},
		"the one in front waits":           {[]v1alpha1.BenchmarkRun{mine, func() v1alpha1.BenchmarkRun { r := measures; r.Status.WaitingSince = r.Status.StartTime; return r }()}, "place 1 in the queue: " + front},
		"the one in front is about to end": {[]v1alpha1.BenchmarkRun{mine, func() v1alpha1.BenchmarkRun { r := measures; r.Status.TimeLeft = "0s"; return r }()}, "place 1 in the queue: " + front},
	} {
		if got := Waits(tc.runs, &mine, &measures, time.Time{}, noon); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: it says %q, want %q", name, got, tc.want)
		}
	}
}

func TestARunThatCannotBeTakenIntoTheQueueHoldsUpTheOthersForAMinute(t *testing.T) {
	ago := func(d time.Duration) metav1.Time { return metav1.Time{Time: noon.Add(-d)} }
	const taken, refused = true, false
	for name, tc := range map[string]struct {
		age time.Duration
		// led is how long an operator has led, if known; taken: the run has its finalizer.
		led   time.Duration
		taken bool
		begun bool
		first bool
		left  time.Duration
	}{
		"it was just made":                                   {time.Second, 0, refused, false, true, takePatience - time.Second},
		"it was made a minute ago":                           {takePatience, 0, refused, false, false, 0},
		"it was taken, and waits for its turn":               {time.Hour, 0, taken, false, true, 0},
		"it has begun, and somebody took its finalizer":      {time.Hour, 0, refused, true, true, 0},
		"it was made while no operator was there":            {time.Hour, time.Second, refused, false, true, takePatience - time.Second},
		"it was made before that, and is refused ever since": {time.Hour, takePatience, refused, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			old := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: "old", CreationTimestamp: ago(tc.age)}}
			if tc.taken {
				old.Finalizers = []string{v1alpha1.Finalizer}
			}
			if tc.begun {
				old.Status.StartTime = &metav1.Time{Time: noon}
			}
			var led time.Time
			if tc.led > 0 {
				led = noon.Add(-tc.led)
			}
			young := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Name: "young", CreationTimestamp: ago(0), Finalizers: []string{v1alpha1.Finalizer}}}
			if got := First([]v1alpha1.BenchmarkRun{young, old}, led, noon); (got.Name == "old") != tc.first {
				t.Errorf("it is the turn of %s", got.Name)
			}
			if got := TakeLeft(&old, led, noon); got != tc.left {
				t.Errorf("it holds up others for %s, want %s", got, tc.left)
			}
		})
	}
}

func TestARunBehindAnotherLooksAgain(t *testing.T) {
	at := &metav1.Time{Time: noon}
	taken := v1alpha1.BenchmarkRun{Status: v1alpha1.BenchmarkRunStatus{StartTime: at}}
	young := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: *at}}
	if got := LookAgain(&taken, time.Time{}, noon); got != roundTurn {
		t.Errorf("behind one that measures it looks again after %s", got)
	}
	if got := LookAgain(&young, time.Time{}, noon.Add(20*time.Second)); got != 40*time.Second {
		t.Errorf("behind one that cannot be taken it looks again after %s", got)
	}
}

func TestThoseBeforeARunAreCounted(t *testing.T) {
	run := func(uid, left string) v1alpha1.BenchmarkRun {
		return v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid)}, Status: v1alpha1.BenchmarkRunStatus{TimeLeft: left}}
	}
	says, mute, mine := run("says", "3m0s"), run("mute", ""), run("mine", "1m0s")
	for name, tc := range map[string]struct {
		order         []v1alpha1.BenchmarkRun
		place, silent int
		before        time.Duration
	}{
		"nobody is before it":        {[]v1alpha1.BenchmarkRun{mine, says}, 0, 0, 0},
		"one that says":              {[]v1alpha1.BenchmarkRun{says, mine}, 1, 0, 3 * time.Minute},
		"two, of which one is mute":  {[]v1alpha1.BenchmarkRun{says, mute, mine}, 2, 1, 3 * time.Minute},
		"all, since it is not there": {[]v1alpha1.BenchmarkRun{says, mute}, 2, 1, 3 * time.Minute},
	} {
		if place, before, silent := Turn(tc.order, &mine); place != tc.place || before != tc.before || silent != tc.silent {
			t.Errorf("%s: %d, %s, %d", name, place, before, silent)
		}
	}
}

func TestWhatARunWaitsForBeforeItsTurn(t *testing.T) {
	at := &metav1.Time{Time: noon}
	run := func(name string, created time.Duration, deltas ...func(*v1alpha1.BenchmarkRun)) v1alpha1.BenchmarkRun {
		r := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
			Namespace: "bench", Name: name, UID: types.UID(name), CreationTimestamp: metav1.Time{Time: noon.Add(created)}, Finalizers: []string{v1alpha1.Finalizer},
		}}
		for _, d := range deltas {
			d(&r)
		}
		return r
	}
	begun := func(r *v1alpha1.BenchmarkRun) { r.Status.StartTime, r.Status.TimeLeft = at, "1h0m0s" }
	suspended := func(r *v1alpha1.BenchmarkRun) { r.Spec.Suspend = new(true) }
	// The status of a run resumed a moment ago.
	was := func(r *v1alpha1.BenchmarkRun) {
		r.Status.WaitingSince, r.Status.TimeLeft = at, "1h0m0s"
		r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: v1alpha1.ReasonSuspended, Message: "set spec.suspend to false"}}
	}
	const takes = ", because concurrent runs would disturb each other"
	for name, tc := range map[string]struct {
		run    v1alpha1.BenchmarkRun
		others []v1alpha1.BenchmarkRun
		want   *Wait
	}{
		"it is alone":              {run("mine", 1), nil, nil},
		"it is suspended":          {run("mine", 1, suspended), nil, &Wait{v1alpha1.ReasonSuspended, "suspended; other runs can proceed. To start it, set spec.suspend to false", 0}},
		"an older one is":          {run("mine", 2), []v1alpha1.BenchmarkRun{run("old", 1, suspended)}, nil},
		"it is, and another waits": {run("mine", 1, suspended), []v1alpha1.BenchmarkRun{run("young", 2)}, &Wait{v1alpha1.ReasonSuspended, "suspended; other runs can proceed. To start it, set spec.suspend to false", 0}},
		"one that has begun is suspended too late": {
			run("mine", 1),
			[]v1alpha1.BenchmarkRun{run("old", 2, begun, suspended)},
			&Wait{v1alpha1.ReasonQueued, "place 1 in the queue, expected to start at about 2026-03-01 13:00 UTC: BenchmarkRun bench/old is measuring: runs take turns" + takes, roundTurn},
		},
		"an older one was resumed a moment ago": {
			run("mine", 2),
			[]v1alpha1.BenchmarkRun{run("old", 1, was)},
			&Wait{v1alpha1.ReasonQueued, "place 1 in the queue, expected to start at about 2026-03-01 13:00 UTC: BenchmarkRun bench/old comes first: runs take turns" + takes, roundTurn},
		},
		"a younger one was": {run("mine", 1), []v1alpha1.BenchmarkRun{run("young", 2, was)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Await(append(tc.others, tc.run), &tc.run, time.Time{}, noon)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("it waits for something else (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARunThatHasBegunSaysThatNothingSuspendsIt(t *testing.T) {
	for name, tc := range map[string]struct {
		suspend *bool
		begun   bool
		says    bool
	}{
		"nobody asks for it":                {nil, true, false},
		"somebody has asked, and no longer": {new(false), true, false},
		"it is suspended before its turn":   {new(true), false, false},
		"it is asked for after that":        {new(true), true, true},
	} {
		r := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{Suspend: tc.suspend}}
		if tc.begun {
			r.Status.StartTime = &metav1.Time{Time: noon}
		}
		if got := TooLate(r); (got != "") != tc.says {
			t.Errorf("%s: it says %q", name, got)
		}
	}
}
