package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/trial/kind/kindtest"
)

// admitPlanted lets the API server admit runs that ask for the kinds of kindtest by their seed, as it would if package v1alpha1 named the kinds.
func admitPlanted(t *testing.T, w *world) {
	t.Helper()
	scheme := runtime.NewScheme()
	w.must(apiextensionsv1.AddToScheme(scheme))
	c, err := client.New(w.config, client.Options{Scheme: scheme})
	w.must(err)
	change(t, c, "benchmarkruns.loadstone.dev", func(spec *apiextensionsv1.JSONSchemaProps) {
		either := rule(t, spec, "set either loads")
		either.Rule = fmt.Sprintf("self.seed == %d || (%s)", kindtest.FollowedSeed, either.Rule)
	})
	run := &v1alpha1.BenchmarkRun{}
	programs(&run.Spec)
	planted(&run.Spec)
	run.Name, run.Namespace = "planted", metav1.NamespaceDefault
	admitted(t, w, run)
}

// change writes the schema of the spec of a CRD anew.
func change(t *testing.T, c client.Client, name string, how func(spec *apiextensionsv1.JSONSchemaProps)) {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &crd); err != nil {
		t.Fatal(err)
	}
	all := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	spec := all["spec"]
	how(&spec)
	all["spec"] = spec
	if err := c.Update(t.Context(), &crd); err != nil {
		t.Fatal(err)
	}
}

// rule is the rule of a schema whose message begins with some words.
func rule(t *testing.T, spec *apiextensionsv1.JSONSchemaProps, begin string) *apiextensionsv1.ValidationRule {
	t.Helper()
	at := slices.IndexFunc(spec.XValidations, func(v apiextensionsv1.ValidationRule) bool { return strings.HasPrefix(v.Message, begin) })
	if at < 0 {
		t.Fatalf("no rule says %q", begin)
	}
	return &spec.XValidations[at]
}

// admitted waits until the API server would make an object: it takes a moment until it knows a schema.
func admitted(t *testing.T, w *world, o client.Object) {
	t.Helper()
	for deadline := time.Now().Add(testbed.Patience); ; time.Sleep(lookEvery) {
		err := w.c.Create(t.Context(), o.DeepCopyObject().(client.Object), client.DryRunAll)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the API server does not admit what asks for a planted kind: %v", err)
		}
	}
}

// planted makes a run of programs one that asks for the kinds of kindtest.
func planted(s *v1alpha1.BenchmarkRunSpec) {
	s.Microbenchmark, s.Seed = v1alpha1.Microbenchmark{}, kindtest.FollowedSeed
}

// Two kinds of work, one of blocks and one after them, that only their folder knows run on a cluster from spec to report. Only the API names all
// kinds.
func TestUnknownKindOfWorkRunsOnCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.awaitEnd(w.apply("planted", programs, planted))
	condition(t, run.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	condition(t, run.Status.Conditions, v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonTooFewBlocks)
	trials := w.trials(run)
	for _, trial := range trials {
		condition(t, trial.Status.Conditions, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonDone)
	}
	if len(trials) != 6 {
		t.Errorf("there are %d trials, want 4 of blocks and 2 that follow them", len(trials))
	}
	store, err := artifact.Open(w.store)
	w.must(err)
	d, err := store.Load(t.Context(), artifact.RunPrefix(run.Spec.Artifacts.Prefix, facts.Run(run)), "")
	w.must(err)
	if len(d.Trials) != 4 || len(d.Following) != 2 {
		t.Errorf("%d trials of blocks and %d that followed are stored", len(d.Trials), len(d.Following))
	}
	for _, trial := range slices.Concat(d.Trials, d.Following) {
		if len(trial.Rows) != 1 || trial.Rows[0].Case != "parse" || trial.Rows[0].Value != 100 {
			t.Errorf("%s has measured %+v", trial.Manifest.Name, trial.Rows)
		}
	}
	key, _ := strings.CutPrefix(run.Status.Report.URI, "s3://"+w.store.Bucket+"/")
	html, err := store.Get(t.Context(), key, run.Status.Report.SHA256)
	if err != nil || !strings.Contains(string(html), "Least time (ns, less is better)") || !strings.Contains(string(html), `<section id="`+kindtest.SectionID+`">`) {
		t.Errorf("the report %s: %v, or it lacks a section of the kinds", run.Status.Report.URI, err)
	}
}
