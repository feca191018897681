package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func image(name string) string {
	registry, tag := os.Getenv("REGISTRY"), os.Getenv("TAG")
	if registry == "" {
		registry = "localhost/loadstone"
	}
	if tag == "" {
		tag = "dev"
	}
	return registry + "/" + name + ":" + tag
}

// small is a run of one implementation and one short cell, with changes.
func small(name string, deltas ...func(*v1alpha1.BenchmarkRunSpec)) *v1alpha1.BenchmarkRun {
	body, none := "helloworld", int32(0)
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{{Name: "go", Image: image("gohttp"), Command: []string{"/usr/local/bin/gohttp", "--port=8080"}, Port: 8080}},
			Loads: []v1alpha1.Load{{
				Name: "l", Tool: v1alpha1.ToolWrk, WarmupSeconds: &none, DurationSeconds: 1,
				Request: v1alpha1.Request{Expect: v1alpha1.Expect{Body: &body}},
				Levels:  []v1alpha1.Level{{Connections: 4}},
			}},
			Blocks: 1,
		},
	}
	for _, d := range deltas {
		d(&run.Spec)
	}
	return run
}

// The API server refuses a wrong spec at once and names the field.
func TestInvalidSpecIsRejected(t *testing.T) {
	tests := map[string]struct {
		delta func(*v1alpha1.BenchmarkRunSpec)
		want  string
	}{
		"unknown tool":     {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Tool = "siege" }, `spec.loads[0].tool: Unsupported value: "siege"`},
		"no such baseline": {func(s *v1alpha1.BenchmarkRunSpec) { s.Baseline = "rust" }, "baseline must be the name of one of the implementations"},
		"two implementations of one name": {
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Implementations = append(s.Implementations, s.Implementations[0])
				s.Baseline = "go"
			},
			"spec.implementations[1]: Duplicate value",
		},
		"level 0":            {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Levels[0].Connections = 0 }, "spec.loads[0].levels[0].connections"},
		"a duration below 1": {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = -1 }, "spec.loads[0].durationSeconds"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := apply(t, small("mistake", tc.delta)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// scripts creates a ConfigMap of scripts for a test.
func scripts(t *testing.T, data map[string]string) {
	t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "e2e-scripts", Namespace: namespace}, Data: data}
	if err := loadstone.Client.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := loadstone.Client.Delete(context.Background(), m); err != nil {
			t.Error(err)
		}
	})
}

func scripted(tool v1alpha1.Tool, key string) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) {
		s.Loads[0].Tool, s.Loads[0].Script = tool, v1alpha1.Script{ConfigMap: "e2e-scripts", Key: key}
	}
}

// A mistake that appears later ends the run soon. Its message names the field and what to do.
func TestLateMistakeFailsRunWithMessage(t *testing.T) {
	tests := map[string]struct {
		delta  func(*v1alpha1.BenchmarkRunSpec)
		reason string
		want   string
	}{
		"more CPUs than any node has": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].CPUs, s.PatienceSeconds = 512, 1 },
			v1alpha1.ReasonNotEnoughCPUs, "spec.implementations[0].cpus is 512",
		},
		"an image that cannot be pulled": {
			// This registry does not exist either, but it might become available.
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Implementations[0].Image, s.PatienceSeconds = "localhost/loadstone/nothing:none", 1
			},
			v1alpha1.ReasonTrialsFailed, `implementations[go].image: "localhost/loadstone/nothing:none" cannot be pulled`,
		},
		"a server that never listens": {
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Implementations[0].Port, s.Implementations[0].Readiness.TimeoutSeconds = 8099, 1
			},
			v1alpha1.ReasonTrialsFailed, "implementations[go] did not listen on port 8099",
		},
		"a command that is not in the image": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].Command = []string{"/no/such/program"} },
			v1alpha1.ReasonTrialsFailed, "/no/such/program",
		},
		"a response that is not as expected": {
			func(s *v1alpha1.BenchmarkRunSpec) { b := "goodbye"; s.Loads[0].Request.Expect.Body = &b },
			v1alpha1.ReasonTrialsFailed, "goodbye",
		},
		"a Lua script that does not parse":      {scripted(v1alpha1.ToolWrk, "bad.lua"), v1alpha1.ReasonTrialsFailed, "the script does not load"},
		"a k6 script that throws":               {scripted(v1alpha1.ToolK6, "bad.js"), v1alpha1.ReasonTrialsFailed, "oh dear"},
		"a script that is not in its ConfigMap": {scripted(v1alpha1.ToolK6, "none.js"), v1alpha1.ReasonObjectMissing, "spec.loads[0].script.key: ConfigMap e2e-scripts has no key none.js"},
	}
	scripts(t, map[string]string{"bad.lua": "function request( return", "bad.js": "export default function () { throw new Error('oh dear'); }"})
	n := 0
	for name, tc := range tests {
		n++ // The one before may still be going.
		t.Run(name, func(t *testing.T) {
			run := small(fmt.Sprintf("mistake-%d", n), tc.delta)
			mustApply(t, run)
			await(t, run, 3*time.Minute, "ended", ended)
			c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
			if c == nil || c.Status != metav1.ConditionFalse || c.Reason != tc.reason || !strings.Contains(c.Message, tc.want) {
				t.Errorf("got %+v, want reason %s and %q", c, tc.reason, tc.want)
			}
		})
	}
}

// Deleting a run stops its load of an hour and leaves nothing. Meanwhile, another run is queued and says so.
func TestARunDeletedWhileItMeasuresLeavesNothingAndTheNextOneGoesOn(t *testing.T) {
	long := small("deleted", func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].DurationSeconds = 3600 })
	mustApply(t, long)
	await(t, long, 3*time.Minute, "measuring", measuring(t))
	next := small("next")
	mustApply(t, next)
	await(t, next, 3*time.Minute, "queued", func(r *v1alpha1.BenchmarkRun) bool {
		c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
		return c != nil && c.Reason == v1alpha1.ReasonQueued && strings.Contains(c.Message, namespace+"/deleted is measuring")
	})
	began := time.Now()
	remove(t, long)
	t.Logf("it took %s until nothing was left", time.Since(began))
	awaitSuccess(t, next, 3*time.Minute)
}

// kill kills the operator without a grace period.
func kill(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var pods corev1.PodList
	mine := client.MatchingLabels{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "operator"}
	if err := loadstone.Client.List(ctx, &pods, client.InNamespace(system), mine); err != nil || len(pods.Items) == 0 {
		t.Fatalf("%d operators: %v", len(pods.Items), err)
	}
	for i := range pods.Items {
		if err := loadstone.Client.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
	}
}
