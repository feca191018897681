package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// clusterOf is a cluster with some objects.
func clusterOf(t *testing.T, objects ...client.Object) *cluster {
	t.Helper()
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), v1alpha1.AddToScheme(known)); err != nil {
		t.Fatal(err)
	}
	return &cluster{WithWatch: fake.NewClientBuilder().WithScheme(known).WithObjects(objects...).Build()}
}

func podWith(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: name, Labels: labels}}
}

func runOf(name string, ended *metav1.Time) *v1alpha1.BenchmarkRun {
	return &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: name, UID: "uid"}, Status: v1alpha1.BenchmarkRunStatus{CompletionTime: ended},
	}
}

func TestWhatOccupiesACluster(t *testing.T) {
	now := metav1.Now()
	for name, tc := range map[string]struct {
		objects []client.Object
		want    string
	}{
		"nothing":                           {nil, ""},
		"a run that has ended does not":     {[]client.Object{runOf("old", &now)}, ""},
		"a run that has not ended":          {[]client.Object{runOf("old", &now), runOf("new", nil)}, "BenchmarkRun other/new has not ended"},
		"a measured pod that still is":      {[]client.Object{podWith("last", map[string]string{v1alpha1.LabelTrial: "t"})}, "the measured pod other/last still exists"},
		"a pod of somebody else's does not": {[]client.Object{podWith("web", map[string]string{"app": "web"})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := clusterOf(t, tc.objects...).occupied(t.Context())
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestWaitingForOthersIsToldAndEnds(t *testing.T) {
	var told strings.Builder
	c := clusterOf(t, runOf("new", nil))
	ctx, cancel := context.WithTimeout(t.Context(), 3*lookEvery)
	defer cancel()
	if err := c.awaitFree(ctx, figures.NewLog(&told)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "other/new has not ended") {
		t.Errorf("got %v", err)
	}
	if want := "waiting: BenchmarkRun other/new has not ended\n"; told.String() != want {
		t.Errorf("told %q, want %q once", told.String(), want)
	}
	if err := clusterOf(t).awaitFree(t.Context(), figures.NewLog(&told)); err != nil {
		t.Errorf("nobody is there, and %v", err)
	}
}

func TestARunIsRemovedEvenAfterAnInterruption(t *testing.T) {
	run := runOf("new", nil)
	c := clusterOf(t, run)
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if err := c.remove(interrupted, run); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("it is still there: %v", err)
	}
}

func TestWhatANodeSaysOfAPodsMemory(t *testing.T) {
	const summary = `{"pods": [
		{"podRef": {"uid": "other"}, "containers": [{"memory": {"workingSetBytes": 7}}]},
		{"podRef": {"uid": "operator"}, "containers": [{"memory": {"workingSetBytes": 42000000}}]},
		{"podRef": {"uid": "starting"}}]}`
	for name, tc := range map[string]struct {
		uid     types.UID
		answer  string
		status  int
		want    int64
		wantErr string
	}{
		"of the operator's pod":          {"operator", summary, http.StatusOK, 42_000_000, ""},
		"of a pod that it does not know": {"gone", summary, http.StatusOK, 0, "they do not have pod manager"},
		"of a pod without containers":    {"starting", summary, http.StatusOK, 0, "they do not have pod manager"},
		"nothing that can be read":       {"operator", "<html>", http.StatusOK, 0, "decoding the node's statistics"},
		"that it may not say it":         {"operator", summary, http.StatusForbidden, 0, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Path
				w.WriteHeader(tc.status)
				_, _ = w.Write([]byte(tc.answer))
			}))
			defer s.Close()
			b := &Bench{cluster: &cluster{config: &rest.Config{Host: s.URL}}}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "manager", UID: tc.uid}, Spec: corev1.PodSpec{NodeName: "infra"}}
			got, err := b.workingSet(t.Context(), pod)
			if got != tc.want || (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got %d, %v; want %d and %q", got, err, tc.want, tc.wantErr)
			}
			if asked != "/api/v1/nodes/infra/proxy/stats/summary" {
				t.Errorf("asked for %s", asked)
			}
		})
	}
}

func TestResidentMemoryIsThatOfTheContainersProcesses(t *testing.T) {
	proc := t.TempDir()
	for pid, files := range map[string][2]string{
		"1":   {"1:name=systemd:/\n", "Name:\tinit\nVmRSS:\t    9000 kB\n"},
		"100": {"5:cpuacct:/loadstone/infra/pod1/abc123\n", "Name:\tmanager\nVmHWM:\t   50000 kB\nVmRSS:\t   40000 kB\n"},
		"101": {"5:cpuacct:/loadstone/infra/pod1/fff999\n", "Name:\tpause\nVmRSS:\t    600 kB\n"},
	} {
		if err := os.Mkdir(filepath.Join(proc, pid), 0o755); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"cgroup", "status"} {
			if err := os.WriteFile(filepath.Join(proc, pid, name), []byte(files[i]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	pod := func(id string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{ContainerID: id}}}}
	}
	if got, err := residentBytes(proc, pod("containerd://abc123")); err != nil || got != 40000*1024 {
		t.Errorf("got %d, %v", got, err)
	}
	if got, err := residentBytes(proc, pod("containerd://elsewhere")); err == nil {
		t.Errorf("got %d of a container that is not here", got)
	}
}

const wrkOutput = `Running 5s test @ http://10.0.0.1:8080/
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.11ms  503.27us  21.80ms   89.61%
    Req/Sec    88.70k     4.19k   95.98k    76.00%
  Latency Distribution
     50%    1.06ms
     99%    2.70ms
  441338 requests in 5.01s, 53.45MB read
Requests/sec:  88023.54
Transfer/sec:     10.66MB
`

func TestTheRateThatWrkPrints(t *testing.T) {
	got, err := printedRate(wrkOutput)
	if err != nil || got != 88023.54 {
		t.Errorf("got %f, %v", got, err)
	}
	if got, err := printedRate("unable to connect to 10.0.0.1:8080 Connection refused\n"); err == nil {
		t.Errorf("got %f of an output without a rate", got)
	}
}

func TestThePodThatHoldsATrialCountsAsMeasuredAndNeverRuns(t *testing.T) {
	b := New(figures.NewLog(t.Output()), Tiny)
	run := b.sizes.pairsRun()
	compiled, err := plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: "uid"})
	if err != nil {
		t.Fatal(err)
	}
	pod := holdingPod(&performance{run: run, plan: compiled}, compiled.Trials[0].Name)
	if pod.Labels[v1alpha1.LabelTrial] == "" || pod.Labels[v1alpha1.LabelTrial] == compiled.Trials[0].Name || pod.Labels[v1alpha1.LabelRunUID] == "uid" {
		t.Errorf("the operator takes it for one of the run's, or for none that is measured: %v", pod.Labels)
	}
	if pod.Namespace != run.Namespace || len(pod.Spec.SchedulingGates) != 1 || len(pod.OwnerReferences) != 0 {
		t.Errorf("in %s, behind %v, of %v", pod.Namespace, pod.Spec.SchedulingGates, pod.OwnerReferences)
	}
}

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
			got := happened(tc.kind, tc.object)
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
