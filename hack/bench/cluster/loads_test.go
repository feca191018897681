package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timetable"
	"loadstone.dev/loadstone/internal/tool"
)

var instant = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(d time.Duration) time.Time { return instant.Add(d) }

// trialOf is a trial of two cells of 1 s whose generator's clock is an hour ahead and which starts each cell 1 ms late.
func trialOf(warmup int32) record.TrialData {
	cells := []record.Cell{{Load: "l", Tool: record.ToolWrk, Connections: 1, WarmupSeconds: warmup, DurationSeconds: 1}, {Load: "l", Tool: record.ToolWrk, Connections: 2, WarmupSeconds: warmup, DurationSeconds: 1}}
	t := record.TrialData{Manifest: record.TrialManifest{
		PlannedTrial: record.PlannedTrial{Name: "t"}, Cells: cells, Start: instant,
		Clocks: []record.AgentClock{{Member: record.MemberServer(0), OffsetNanos: 7}, {Member: record.MemberGenerator(0), OffsetNanos: int64(time.Hour)}},
	}}
	var runs []record.CellRun
	for _, s := range timetable.Of(cells) {
		runs = append(runs, record.CellRun{
			Started: after(time.Hour + s.Measure + time.Millisecond), Measurement: &record.Measurement{DurationMicros: 1_050_000},
		})
	}
	t.Generators = []record.GeneratorResult{{Cells: runs}}
	return t
}

func TestLoadsAreInTheOperatorsClock(t *testing.T) {
	const late = time.Millisecond
	warm, second := time.Second+timetable.WarmupGap, time.Second
	next := warm + second + tool.LeastGap
	tests := map[string]struct {
		warmup   int32
		want     []cellLoad
		between  time.Duration
		underAll time.Duration
	}{
		"with a warm-up": {
			warmup: 1,
			want: []cellLoad{
				{warmup: span{after(late), after(second)}, measured: span{after(warm + late), after(warm + late + 1050*time.Millisecond)}, late: late},
				{warmup: span{after(next + late), after(next + second)}, measured: span{after(next + warm + late), after(next + warm + late + 1050*time.Millisecond)}, late: late},
			},
			// 250 ms less the 50 ms for which wrk ran on, and 40 ms, and 1 ms for the measured tool that came late.
			between:  241 * time.Millisecond,
			underAll: 2 * (1050 + 999) * time.Millisecond,
		},
		"without": {
			want: []cellLoad{
				{measured: span{after(late), after(late + 1050*time.Millisecond)}, late: late},
				{measured: span{after(1250*time.Millisecond + late), after(2300*time.Millisecond + late)}, late: late},
			},
			between:  200 * time.Millisecond,
			underAll: 2100 * time.Millisecond,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := trialLoads(trialOf(tc.warmup))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(cellLoad{}, span{})); diff != "" {
				t.Errorf("loads (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]time.Duration{tc.between}, betweenCells(got)); diff != "" {
				t.Errorf("between cells (-want +got):\n%s", diff)
			}
			if sum := underLoad(got); sum != tc.underAll {
				t.Errorf("under load %s, want %s", sum, tc.underAll)
			}
			if begin(got) != tc.want[0].first() || end(got) != tc.want[1].measured.to {
				t.Errorf("from %s to %s", begin(got), end(got))
			}
		})
	}
}

func TestACellWithoutAMeasurementHasNoLoads(t *testing.T) {
	tests := map[string]func(*record.TrialData){
		"no measurement": func(t *record.TrialData) { t.Generators[0].Cells[1].Measurement = nil },
		"a cell missing": func(t *record.TrialData) { t.Generators[0].Cells = t.Generators[0].Cells[:1] },
		"no generator":   func(t *record.TrialData) { t.Generators = nil },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			data := trialOf(1)
			spoil(&data)
			if got, err := trialLoads(data); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestABreakdownSaysWhatTookHowLong(t *testing.T) {
	seen := map[string]time.Time{
		"a1": after(100 * time.Millisecond), "a2": after(300 * time.Millisecond), "b1": after(200 * time.Millisecond),
		"c1": after(10500 * time.Millisecond), "c2": after(10100 * time.Millisecond),
	}
	got := breakdown([]stretch{
		{from: instant, to: after(time.Second), stages: []stage{{"both", []string{"a1", "a2"}}, {"one", []string{"b1"}}}},
		{from: after(10 * time.Second), to: after(11 * time.Second), stages: []stage{{"both", []string{"c1", "c2"}}, {"one", []string{"never"}}}},
	}, seen)
	want := []row{
		{"one", 1, 200 * time.Millisecond, 200 * time.Millisecond},
		{"both", 2, 400 * time.Millisecond, 200 * time.Millisecond},
		{"first load", 2, time.Second, 600 * time.Millisecond},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFactsOfObjects(t *testing.T) {
	now := metav1.Now()
	named := metav1.ObjectMeta{Name: "x"}
	tests := map[string]struct {
		kind   watch.EventType
		object client.Object
		want   []string
	}{
		"a pod that waits for a node": {watch.Added, &corev1.Pod{ObjectMeta: named}, []string{"pod x created"}},
		"a pod that runs": {
			watch.Modified, &corev1.Pod{ObjectMeta: named, Spec: corev1.PodSpec{NodeName: "n"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}},
			[]string{"pod x created", "pod x running", "pod x scheduled"},
		},
		"a pod that is gone": {
			watch.Deleted, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x", DeletionTimestamp: &now}},
			[]string{"pod x created", "pod x deleting", "pod x gone"},
		},
		"Argo's agent pod is named like its workflow": {
			watch.Added, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "w-123-agent", Labels: map[string]string{workflowLabel: "w"}}},
			[]string{"agent w created"},
		},
		"a trial that was stored": {
			watch.Modified,
			&v1alpha1.Trial{ObjectMeta: named, Spec: v1alpha1.TrialSpec{Start: v1alpha1.StartReleased}, Status: v1alpha1.TrialStatus{
				StartTime: &metav1.MicroTime{}, CompletionTime: &metav1.MicroTime{},
				Conditions: []metav1.Condition{{Type: v1alpha1.ConditionPrepared, Status: "True"}, {Type: v1alpha1.ConditionMeasured, Status: "Unknown"}},
			}},
			[]string{"trial x created", "trial x prepared", "trial x released", "trial x started", "trial x stored"},
		},
		"a run that has begun": {
			watch.Modified, &v1alpha1.BenchmarkRun{ObjectMeta: named, Status: v1alpha1.BenchmarkRunStatus{StartTime: &now}},
			[]string{"run x begun", "run x created"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := facts(tc.kind, tc.object)
			if diff := cmp.Diff(tc.want, got, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJournalKeepsWhenAFactWasFirstSeen(t *testing.T) {
	j := newJournal()
	j.note(instant, []string{"trial a stored"})
	j.note(after(time.Second), []string{"trial a stored", "trial b stored", "pod c stored"})
	got, err := j.await(t.Context(), "trial a stored")
	if err != nil || !got.Equal(instant) {
		t.Errorf("got %s, %v; want %s", got, err, instant)
	}
	if seen, _ := j.seen(); count(seen, stored) != 2 {
		t.Errorf("%d trials are stored, want 2", count(seen, stored))
	}
}
