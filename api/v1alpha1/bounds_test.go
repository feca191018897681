package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

// schema is what a CRD says of one field.
type schema struct {
	Description string            `json:"description"`
	Maximum     *int64            `json:"maximum"`
	MaxItems    *int64            `json:"maxItems"`
	MaxLength   *int64            `json:"maxLength"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
}

// at finds a field by its path, such as "status.repeats.disturbedBlocks", also through the items of a list, such as "spec.loads.name".
func (s schema) at(t *testing.T, path string) schema {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		if s.Items != nil {
			s = *s.Items
		}
		next, ok := s.Properties[name]
		if !ok {
			t.Fatalf("%s has no %s", path, name)
		}
		s = next
	}
	return s
}

// crd reads the schema of a kind as it is installed.
func crd(t *testing.T, kinds string) schema {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", "loadstone.dev_"+kinds+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(raw, &definition); err != nil {
		t.Fatal(err)
	}
	return definition.Spec.Versions[0].Schema.OpenAPIV3Schema
}

func bound(t *testing.T, what string, is *int64) int64 {
	t.Helper()
	if is == nil {
		t.Fatalf("%s has no bound", what)
	}
	return *is
}

// The longest run can be recorded even if every block is void: with a lower bound the status would be refused, and the run would hang.
func TestSchemaAllowsMostBlocks(t *testing.T) {
	run, trial := crd(t, "benchmarkruns"), crd(t, "trials")
	planned := bound(t, "spec.blocks", run.at(t, "spec.blocks").Maximum)
	all := planned + int64(plan.RepeatBlocks(int32(planned)))
	status := run.at(t, "status")
	for name, tc := range map[string]struct {
		got  *int64
		want int64
	}{
		"status.interim.analysedBlocks":    {status.at(t, "interim.analysedBlocks").Maximum, planned},
		"status.interim.stoppedAfterBlock": {status.at(t, "interim.stoppedAfterBlock").Maximum, planned},
		"status.repeats.scannedBlocks":     {status.at(t, "repeats.scannedBlocks").Maximum, all},
		"status.repeats.disturbedBlocks":   {status.at(t, "repeats.disturbedBlocks").MaxItems, all},
		"spec.block of a Trial":            {trial.at(t, "spec.block").Maximum, all},
	} {
		if got := bound(t, name, tc.got); got != tc.want {
			t.Errorf("%s is bounded by %d, but a run of %d blocks can need %d: api/v1alpha1 and plan.RepeatBlocks must agree", name, got, planned, tc.want)
		}
	}
	trials := all * bound(t, "spec.implementations", run.at(t, "spec.implementations").MaxItems)
	if got := bound(t, "spec.index", trial.at(t, "spec.index").Maximum); got < trials-1 {
		t.Errorf("spec.index of a Trial ends at %d, but a run can have %d trials", got, trials)
	}
	cells := bound(t, "spec.loads", run.at(t, "spec.loads").MaxItems) * bound(t, "levels", run.at(t, "spec.loads").Items.at(t, "levels").MaxItems)
	progress := fmt.Sprintf("%d/%d", trials*cells, trials*cells)
	if got := bound(t, "status.progress", run.at(t, "status.progress").MaxLength); got < int64(len(progress)) {
		t.Errorf("status.progress holds %d characters, but a run can be at %s", got, progress)
	}
}

// What a bound of the API says that the code relies on, it says in every place.
func TestSchemaAndCodeHaveEqualBounds(t *testing.T) {
	run := crd(t, "benchmarkruns").at(t, "spec")
	for path, want := range map[string]int64{
		"loads.durationSeconds":                record.MaxCellSeconds,
		"loads.levels.requestsPerSecond":       record.MaxRate,
		"loads.levels.rampToRequestsPerSecond": record.MaxRate,
		"loads.search.startRequestsPerSecond":  record.MaxRate,
		"loads.generators.pods":                record.MaxGenerators,
		"timeoutSeconds":                       plan.MaxTimeoutSeconds,
	} {
		if got := bound(t, path, run.at(t, path).Maximum); got != want {
			t.Errorf("spec.%s is bounded by %d, and the code by %d", path, got, want)
		}
	}
	if got, want := run.at(t, "implementations.readiness.timeoutSeconds").Description, fmt.Sprintf("Default: %d for a server", record.ReadySeconds); !strings.Contains(got, want) {
		t.Errorf("spec.implementations[].readiness.timeoutSeconds does not say %q: %s", want, got)
	}
	if got, want := run.at(t, "implementations.user").Description, fmt.Sprintf("Default: %d on a cluster", record.OwnUser); !strings.Contains(got, want) {
		t.Errorf("spec.implementations[].user does not say %q: %s", want, got)
	}
}

// The longest names and highest numbers still make a valid pod name: a trial's, or that of Argo's agent pod, which adds up to 17 characters to the
// workflow's.
func TestNamesOfLastTrialAreValid(t *testing.T) {
	name := strings.Repeat("n", 28)
	attempts := bound(t, "status.attempt of a Trial", crd(t, "trials").at(t, "status.attempt").Maximum)
	long := func(c string) v1alpha1.Implementation {
		return v1alpha1.Implementation{Name: strings.Repeat(c, 20), Image: "x", Port: 8080}
	}
	for _, order := range []v1alpha1.Order{v1alpha1.OrderBlocks, v1alpha1.OrderSlicedDuet} {
		p, err := plan.Compile(v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{long("a"), long("b")}, Baseline: strings.Repeat("a", 20), Blocks: 100, Order: order,
			Loads: []v1alpha1.Load{{Name: "l", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 1}}}},
		}, plan.Options{Name: name, UID: "0c9f3f11"})
		if err != nil {
			t.Fatal(err)
		}
		last := plan.RepeatBlocks(p.Blocks)
		for _, trial := range p.Repeat(name, last) {
			pod := render.PodName(trial.Name, int32(attempts), record.MemberGenerator(15))
			if errs := validation.IsDNS1123Label(pod); len(errs) > 0 {
				t.Errorf("%s: %v", pod, errs)
			}
		}
		workflow := render.WorkflowName(name, "0c9f3f11-0000-4000-8000-000000000001", plan.Part{Repeat: last})
		if errs := validation.IsDNS1123Label(workflow + "-1340600742-agent"); len(errs) > 0 {
			t.Errorf("%s: %v", workflow, errs)
		}
	}
}

// The status of a run of 100 blocks can name all of them as disturbed and repeated.
func TestStatusOfLongestRunIsAccepted(t *testing.T) {
	c := apiServer(t)
	const blocks = 100
	last := blocks + plan.RepeatBlocks(blocks)
	run := edit(t, "longest", "baseline: go", fmt.Sprintf("baseline: go\n  blocks: %d", blocks))
	if err := create(t, c, run); err != nil {
		t.Fatal(err)
	}
	status := v1alpha1.BenchmarkRunStatus{Repeats: v1alpha1.RepeatStatus{ScannedBlocks: last}}
	for b := range last {
		status.Repeats.DisturbedBlocks = append(status.Repeats.DisturbedBlocks, b+1)
	}
	raw, err := json.Marshal(status)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedMap(run.Object, fields, "status"); err != nil {
		t.Fatal(err)
	}
	if err := c.Status().Update(t.Context(), run); err != nil {
		t.Errorf("the status of a run of %d blocks and %d repeat blocks is refused: %v", blocks, last-blocks, err)
	}
	o := parse(t, []byte(strings.Replace(strings.Replace(trial, "block: 1", fmt.Sprintf("block: %d", last), 1), "quick-000-go", "longest-399-go", 1)))
	if err := create(t, c, o); err != nil {
		t.Errorf("the trial of its last repeat block is refused: %v", err)
	}
}
