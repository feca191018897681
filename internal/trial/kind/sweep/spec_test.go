package sweep_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

// filler gives every field of a value a value of its own, so that a field which is lost, or taken for another, is seen.
type filler struct{ next int64 }

func (f *filler) fill(v reflect.Value) {
	f.next++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", f.next))
	case reflect.Int32, reflect.Int64:
		v.SetInt(f.next)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	default: // What is left unset is found by unset.
	}
}

// filled is a value of which every field is set.
func filled[T any](f *filler) T {
	var v T
	f.fill(reflect.ValueOf(&v).Elem())
	return v
}

// unset lists the fields below a value that nobody has set.
func unset(v reflect.Value, path string) []string {
	if v.IsZero() {
		return []string{path}
	}
	if v.Type() == reflect.TypeFor[resource.Quantity]() {
		return nil
	}
	var out []string
	switch v.Kind() {
	case reflect.Pointer:
		return unset(v.Elem(), path)
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, unset(v.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, unset(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
	default: // A value of any other kind was set, since it is not zero.
	}
	return out
}

// filledPlan is a plan of two implementations and two cells, every field of which is set, and a trial of both implementations.
func filledPlan() (record.Plan, record.PlannedTrial) {
	f := &filler{}
	p := record.Plan{
		Implementations: filled[[]record.Implementation](f), Cells: filled[[]record.Cell](f),
		Generators: filled[record.Generators](f), Placement: filled[record.Placement](f),
	}
	for i, c := range p.Cells {
		p.Cells[i] = c.Speaking(record.HTTP2)
	}
	trial := filled[record.PlannedTrial](f)
	trial.Type, trial.Servers = record.Sweep, []string{p.Implementations[1].Name, p.Implementations[0].Name}
	return p, trial
}

func TestATrialSpecHoldsEveryFieldOfItsPlan(t *testing.T) {
	p, trial := filledPlan()
	want := sweep.Sweep{
		Implementations: []record.Implementation{p.Implementations[1], p.Implementations[0]}, Generators: p.Generators, Cells: p.Cells, Placement: p.Placement,
	}
	spec := kinds.Write("quick", p, trial)
	if diff := cmp.Diff(want, sweep.Read(spec)); diff != "" {
		t.Errorf("read back from the spec (-want +got):\n%s", diff)
	}
	if spec.RunName != "quick" || *spec.Index != trial.Index || spec.Block != trial.Block {
		t.Errorf("the spec is of run %s, trial %d of block %d", spec.RunName, *spec.Index, spec.Block)
	}
	if spec.Start != v1alpha1.StartHeld || spec.Type != v1alpha1.TrialType(record.Sweep) {
		t.Errorf("the spec is of type %s and starts %s", spec.Type, spec.Start)
	}
}

// A field that the API has and a plan does not write is a promise to users that nobody keeps.
func TestATrialSpecLeavesNoFieldOfTheAPIUnset(t *testing.T) {
	p, trial := filledPlan()
	spec := kinds.Write("quick", p, trial)
	if got := unset(reflect.ValueOf(spec), "spec"); !slices.Equal(got, []string{"spec.Microbenchmark", "spec.Profile"}) {
		t.Errorf("nobody writes %q, want the other kinds alone", got)
	}
}

func TestATrialSpecSurvivesTheAPIServer(t *testing.T) {
	text := ""
	for name, change := range map[string]func(*record.Cell){
		"every field set": func(*record.Cell) {},
		"no warm-up":      func(c *record.Cell) { c.WarmupSeconds = 0 },
		"an empty body":   func(c *record.Cell) { c.Request.Expect.Body = &text },
		"any body":        func(c *record.Cell) { c.Request.Expect.Body = nil },
		"no search":       func(c *record.Cell) { c.Search, c.Step = nil, 0 },
		"no script":       func(c *record.Cell) { c.Script = nil },
		"no rate":         func(c *record.Cell) { c.RequestsPerSecond, c.RampToRequestsPerSecond = 0, 0 },
		"no protocol":     func(c *record.Cell) { *c = c.Speaking("") },
		"no order":        func(c *record.Cell) { c.Order = "" },
	} {
		t.Run(name, func(t *testing.T) {
			p, trial := filledPlan()
			change(&p.Cells[0])
			sent, err := json.Marshal(kinds.Write("quick", p, trial))
			if err != nil {
				t.Fatal(err)
			}
			var spec v1alpha1.TrialSpec
			if err := json.Unmarshal(sent, &spec); err != nil {
				t.Fatal(err)
			}
			got := sweep.Read(spec)
			if diff := cmp.Diff(p.Cells, got.Cells); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(p.Implementations[0], got.Implementations[1]); diff != "" {
				t.Errorf("server (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATrialSpecSharesNothingWithItsPlan(t *testing.T) {
	p, trial := filledPlan()
	untouched, _ := filledPlan()
	spec := kinds.Write("quick", p, trial)
	for i := range spec.Servers {
		spec.Servers[i].Command[0] = "changed"
	}
	for i := range spec.Sweep.Cells {
		spec.Sweep.Cells[i].Search.Steps, spec.Sweep.Cells[i].Script.Key, *spec.Sweep.Cells[i].WarmupSeconds = -1, "changed", -1
	}
	*spec.Index = -1
	if diff := cmp.Diff(untouched, p); diff != "" {
		t.Errorf("the plan changes with its spec (-want +got):\n%s", diff)
	}
}

func TestASweepOfTwoServersIsADuet(t *testing.T) {
	for servers, want := range map[int]bool{0: false, 1: false, 2: true} {
		s := sweep.Sweep{Implementations: make([]record.Implementation, servers)}
		if got := s.Duet(); got != want {
			t.Errorf("a sweep of %d servers is a duet: %v, want %v", servers, got, want)
		}
	}
}
