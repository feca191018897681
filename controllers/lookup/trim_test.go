package lookup

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// trialsOf are the first trials of every kind of work, as they are written.
func trialsOf(t *testing.T) map[string]*v1alpha1.Trial {
	t.Helper()
	body := "helloworld"
	servers := []v1alpha1.Implementation{
		{Name: "a", Image: "a:1", Command: []string{"/a"}, Port: 80}, {Name: "b", Image: "b:1", Command: []string{"/b"}, Port: 80},
	}
	loads := []v1alpha1.Load{
		{Name: "wrk", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 1}, {Connections: 100}}, Request: v1alpha1.Request{Body: body, Method: "POST"}},
		{Name: "rate", Tool: v1alpha1.ToolK6, Levels: []v1alpha1.Level{{Connections: 10, RequestsPerSecond: 100}}},
	}
	profiles := []v1alpha1.Profile{{Name: "cpu", Tool: v1alpha1.ToolCallgrind, Requests: 100}}
	out := map[string]*v1alpha1.Trial{}
	for name, spec := range map[string]v1alpha1.BenchmarkRunSpec{
		"a sweep": {Implementations: servers, Baseline: "a", Loads: loads, Profiles: profiles},
		"a duet":  {Implementations: servers, Baseline: "a", Loads: loads[:1], Order: v1alpha1.OrderSlicedDuet},
	} {
		run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "r", UID: "u"}, Spec: spec}
		p, err := plan.Compile(run.Spec, plan.Options{Name: run.Name, UID: string(run.UID)})
		if err != nil {
			t.Fatal(err)
		}
		out[name] = render.Trial(run, &p, p.Trials[0])
		if len(p.Following) > 0 {
			out["a profile"] = render.Trial(run, &p, p.Following[0])
		}
	}
	return out
}

func TestATrialThatHasEndedKeepsWhatItsRunAsksOfIt(t *testing.T) {
	for name, trial := range trialsOf(t) {
		t.Run(name, func(t *testing.T) {
			trial.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
			open := trial.DeepCopy()
			var trials Trials
			if _, err := trials.Trim(open); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(trial.Spec, open.Spec); diff != "" || open.ManagedFields != nil {
				t.Errorf("of a trial that has not ended is missing:\n%s%v", diff, open.ManagedFields)
			}
			ended := trial.DeepCopy()
			ended.Status.CompletionTime = &metav1.MicroTime{Time: time.Unix(1, 0)}
			if _, err := trials.Trim(ended); err != nil {
				t.Fatal(err)
			}
			if cmp.Equal(trial.Spec, ended.Spec) {
				t.Error("a trial that has ended is kept as a whole")
			}
			full, err := kinds.Of(trial.Spec)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := kinds.Of(ended.Spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(ends(full), ends(kept)); diff != "" {
				t.Errorf("its timetable (-before +after):\n%s", diff)
			}
			if full.EndsItself() != kept.EndsItself() || len(full.Servers()) != len(kept.Servers()) || kinds.Item(trial.Spec) != kinds.Item(ended.Spec) {
				t.Error("what its run asks of it has changed")
			}
		})
	}
}

func TestTrialsOfARunShareWhatTheyHaveInCommon(t *testing.T) {
	var trials Trials
	trim := func(change func(*v1alpha1.Trial)) *v1alpha1.Trial {
		trial := trialsOf(t)["a sweep"]
		trial.Status.CompletionTime = &metav1.MicroTime{Time: time.Unix(1, 0)}
		change(trial)
		if _, err := trials.Trim(trial); err != nil {
			t.Fatal(err)
		}
		return trial
	}
	first := trim(func(*v1alpha1.Trial) {})
	again := *first
	again.Spec.Sweep.Cells[0].Request.Path = "/written" // So that a write to what is shared would show.
	if _, err := trials.Trim(&again); err != nil || first.Spec.Sweep.Cells[0].Request.Path != "/written" {
		t.Errorf("a trial that comes twice changes what others share: %v", err)
	}
	first = trim(func(*v1alpha1.Trial) {})
	for name, tc := range map[string]struct {
		change func(*v1alpha1.Trial)
		shares bool
	}{
		"another trial of the same run":      {func(trial *v1alpha1.Trial) { trial.Name = "another" }, true},
		"a trial of another run":             {func(trial *v1alpha1.Trial) { trial.Labels[v1alpha1.LabelRunUID] = "another" }, false},
		"a trial of another implementation":  {func(trial *v1alpha1.Trial) { trial.Spec.Servers[0].Name = "another" }, false},
		"a trial that is measured otherwise": {func(trial *v1alpha1.Trial) { trial.Spec.Sweep.Cells[0].DurationSeconds++ }, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := trim(tc.change)
			if shares := &other.Spec.Sweep.Cells[0] == &first.Spec.Sweep.Cells[0]; shares != tc.shares {
				t.Errorf("it shares its cells with the first: %v, want %v", shares, tc.shares)
			}
			trim(func(*v1alpha1.Trial) {})
			first = trim(func(*v1alpha1.Trial) {})
		})
	}
}

// ends are the instants at which the cells of a trial end.
func ends(w kind.Work) []time.Duration {
	var list []time.Duration
	for _, slot := range w.Slots() {
		list = append(list, slot.End)
	}
	return list
}

func TestOfAWorkflowIsKeptHowFarItIs(t *testing.T) {
	w := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "w", "namespace": "s", "managedFields": []any{map[string]any{"manager": "x"}}},
		"spec":     map[string]any{"shutdown": "Stop", "suspend": true, "templates": []any{"large"}},
		"status":   map[string]any{"phase": "Failed", "message": "because", "nodes": map[string]any{"a": "large"}},
	}}
	w.SetGroupVersionKind(render.WorkflowKind)
	got, err := TrimWorkflow(w)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]any{"name": "w", "namespace": "s"},
		"spec": map[string]any{"shutdown": "Stop", "suspend": true}, "status": map[string]any{"phase": "Failed", "message": "because"},
	}
	if diff := cmp.Diff(want, got.(*unstructured.Unstructured).Object); diff != "" {
		t.Errorf("the workflow (-want +got):\n%s", diff)
	}
}
