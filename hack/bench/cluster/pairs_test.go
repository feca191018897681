package cluster

import (
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/progress"
	"loadstone.dev/loadstone/internal/plan"
)

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
	b := New(progress.New(t.Output()), Tiny)
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
