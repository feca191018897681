package suites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/figures"
	"loadstone.dev/loadstone/internal/testbed"
)

// manySuites says how many suites TestManySuitesMissNoMinute has. It takes five minutes of a machine that does nothing else: make bench-suites runs it.
const manySuites = "LOADSTONE_TEST_SUITES"

const (
	// manyMinutes is the simulated time, with a scheduled time of every suite each minute; manyMegabytes bounds the reconcilers' memory.
	manyMinutes, manyMegabytes = 3, 150
)

// The worst that schedules can do: all suites at the same time, each minute. What ends their runs is this process, whose memory is measured.
func TestManySuitesMissNoMinute(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(manySuites))
	if err != nil || n < 1 {
		t.Skipf("it takes five minutes, and %s says of how many suites", manySuites)
	}
	w := newWorld(t)
	w.stop()
	w.operator.Config.QPS, w.operator.Config.Burst = 100, 200 // As those of the operator.
	w.start()
	fast := rest.CopyConfig(w.config)
	fast.QPS, fast.Burst = 200, 400
	c, err := client.NewWithWatch(fast, client.Options{Scheme: w.scheme})
	w.must(err)
	w.endsEachRun(c)
	for i := range n {
		w.must(c.Create(t.Context(), everyMinute(w.namespace, fmt.Sprintf("suite-%03d", i))))
	}
	w.scheduled(c, n)
	from := time.Now().Truncate(time.Minute).Add(time.Minute)
	peak := memoryUntil(from.Add((manyMinutes + 1) * time.Minute))

	var list v1alpha1.BenchmarkSuiteList
	w.must(c.List(t.Context(), &list, client.InNamespace(w.namespace)))
	missed, late := 0, time.Duration(0)
	for i := range list.Items {
		for m := range manyMinutes {
			minute := from.Add(time.Duration(m) * time.Minute)
			begun := beganIn(&list.Items[i], minute)
			if begun == nil {
				missed++
				continue
			}
			late = max(late, begun.Sub(minute))
		}
	}
	of := fmt.Sprintf("%d suites, each with a round in each of %d minutes", n, manyMinutes)
	t.Log(figures.Of("suite-schedules-missed", float64(missed), "minutes", figures.AtMost(0), of).Line())
	t.Log(figures.Of("suite-reconcilers-memory", float64(peak>>20), "MB", figures.AtMost(manyMegabytes), "the reconcilers of suites and the client of the test, not the operator").Line())
	t.Log(figures.Of("suite-schedules-late", late.Seconds(), "s", figures.Aim{}, "the latest round after its minute").Line())
	if missed > 0 || len(list.Items) != n {
		t.Errorf("%d minutes of %d suites were missed", missed, len(list.Items))
	}
}

// everyMinute is a suite with a schedule of each minute.
func everyMinute(namespace, name string) *v1alpha1.BenchmarkSuite {
	one := int32(1)
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	s.Spec.Parameters = []v1alpha1.Parameter{{Name: "image", Default: "shop/checkout:1"}}
	s.Spec.Runs = []v1alpha1.SuiteRun{{Name: "small", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: fmt.Appendf(nil, template, 10)}}}}
	s.Spec.Triggers.Schedules = []v1alpha1.Schedule{{Cron: "* * * * *"}}
	s.Spec.History = v1alpha1.History{Passed: &one, Failed: &one}
	return s
}

// endsEachRun ends each run of the namespace as soon as it is there.
func (w *world) endsEachRun(c client.WithWatch) {
	w.t.Helper()
	runs, err := c.Watch(w.t.Context(), &v1alpha1.BenchmarkRunList{}, client.InNamespace(w.namespace))
	w.must(err)
	testbed.Beside(w.t, func(ctx context.Context) error {
		defer runs.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case e, open := <-runs.ResultChan():
				if !open {
					return errors.New("the watch of runs has ended")
				}
				run, ok := e.Object.(*v1alpha1.BenchmarkRun)
				if !ok || e.Type != watch.Added {
					continue
				}
				over(run, metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
				if err := c.Status().Update(ctx, run); err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
					return fmt.Errorf("ending %s: %w", run.Name, err)
				}
			}
		}
	})
}

// scheduled waits until all suites know their next time.
func (w *world) scheduled(c client.Client, n int) {
	w.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) {
		var list v1alpha1.BenchmarkSuiteList
		w.must(c.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
		known := 0
		for i := range list.Items {
			if list.Items[i].Status.NextScheduleTime != nil {
				known++
			}
		}
		if known == n {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("of %d suites only %d know their next time", n, known)
		}
	}
}

// beganIn is when a suite's round of a minute began; nil if none did.
func beganIn(s *v1alpha1.BenchmarkSuite, minute time.Time) *metav1.Time {
	for _, line := range s.Status.History {
		if line.Trigger == v1alpha1.TriggerSchedule && line.StartTime != nil && line.StartTime.Truncate(time.Minute).Equal(minute) {
			return line.StartTime
		}
	}
	return nil
}

// memoryUntil is the most memory, in bytes, that this process had of the system until an instant, as Go's runtime knows it.
func memoryUntil(end time.Time) uint64 {
	var peak uint64
	for time.Now().Before(end) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.Sys-m.HeapReleased)
		time.Sleep(time.Second)
	}
	return peak
}
