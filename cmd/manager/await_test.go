package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func ended(name string, succeeded, conclusive metav1.ConditionStatus) *v1alpha1.BenchmarkRun {
	now := metav1.Now()
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: name}}
	run.Status = v1alpha1.BenchmarkRunStatus{Progress: "14/14", CompletionTime: &now, Verdict: "epoll is better", Conditions: []metav1.Condition{
		{Type: v1alpha1.ConditionSucceeded, Status: succeeded, Reason: "Why", Message: "all is stored"},
		{Type: v1alpha1.ConditionConclusive, Status: conclusive, Reason: "NoiseTooHigh", Message: "may be noise"},
	}}
	return run
}

func runsOf(t *testing.T, runs ...client.Object) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(runs...).Build()
}

func TestTheChartsTestWantsAVerdict(t *testing.T) {
	c := runsOf(t, ended("good", metav1.ConditionTrue, metav1.ConditionTrue), ended("noisy", metav1.ConditionTrue, metav1.ConditionFalse),
		ended("failed", metav1.ConditionFalse, metav1.ConditionUnknown))
	for name, want := range map[string]string{
		"good": "", "noisy": "Conclusive is False (NoiseTooHigh): may be noise", "failed": "Succeeded is False (Why): all is stored", "absent": "reading BenchmarkRun system/absent",
	} {
		var out bytes.Buffer
		err := ending(t.Context(), c, client.ObjectKey{Namespace: "system", Name: name}, &out, time.Millisecond)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		if said := "measured: 14 of 14, all is stored\nverdict: epoll is better\n"; name != "absent" && out.String() != said {
			t.Errorf("%s: it printed %q, want %q", name, out.String(), said)
		}
	}
}

func TestARunThatGoesOnIsWaitedForAndSaysSoOnce(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "on"}, Status: v1alpha1.BenchmarkRunStatus{Progress: "1/14"}}
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	c := counting{runsOf(t, run), func() {
		if asked++; asked == 3 {
			cancel()
		}
	}}
	var out bytes.Buffer
	err := ending(ctx, c, client.ObjectKeyFromObject(run), &out, time.Millisecond)
	if !errors.Is(err, context.Canceled) || out.String() != "measured: 1 of 14\n" {
		t.Errorf("got %v and printed %q", err, out.String())
	}
}

type counting struct {
	client.Reader
	asked func()
}

func (c counting) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	c.asked()
	return c.Reader.Get(context.WithoutCancel(ctx), key, o, opts...)
}

func TestAwaitNeedsARun(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "")
	for _, args := range [][]string{{}, {"--namespace=a"}, {"run"}} {
		if err := await(t.Context(), args); err == nil || !strings.Contains(err.Error(), "usage: manager await") {
			t.Errorf("%q: got %v", args, err)
		}
	}
}
