package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/queue"
)

// The states of runs; each run is in exactly one.
const (
	stateQueued    = "queued"
	stateSuspended = "suspended"
	stateMeasuring = "measuring"
	stateReporting = "reporting"
	stateDeleting  = "deleting"
	stateSucceeded = "succeeded"
	stateFailed    = "failed"
)

var states = []string{stateQueued, stateSuspended, stateMeasuring, stateReporting, stateDeleting, stateSucceeded, stateFailed}

var (
	runsDesc = prometheus.NewDesc("loadstone_runs",
		"BenchmarkRuns in the cluster by state: queued (also those that wait for nodes), suspended (before their turn), measuring, reporting, deleting, succeeded, failed.", []string{"state"}, nil)
	queueDesc = prometheus.NewDesc("loadstone_queue_runs",
		"BenchmarkRuns that take turns: the one whose turn it is, and those behind it.", nil, nil)
	waitingDesc = prometheus.NewDesc("loadstone_run_waiting_since_timestamp_seconds",
		"Since when a BenchmarkRun waits for something unavailable, refusing or suspended, in Unix time; the reason is that of its condition Succeeded.",
		[]string{"namespace", "run", "reason"}, nil)
)

// readPatience bounds reading runs. They come from a cache, which is slow only at the start.
const readPatience = 5 * time.Second

// Runs collects metrics of runs, in the operator that leads: with those of others, sums would count a run twice.
type Runs struct {
	reader client.Reader
	leads  func() bool
}

var _ prometheus.Collector = Runs{}

// NewRuns makes a collector of a reader's runs.
func NewRuns(r client.Reader, leads func() bool) Runs { return Runs{r, leads} }

// Describe implements prometheus.Collector.
func (Runs) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{runsDesc, queueDesc, waitingDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Unreadable runs fail the whole answer, since zeros would be misleading.
func (c Runs) Collect(to chan<- prometheus.Metric) {
	if !c.leads() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readPatience)
	defer cancel()
	var runs v1alpha1.BenchmarkRunList
	if err := c.reader.List(ctx, &runs); err != nil {
		to <- prometheus.NewInvalidMetric(runsDesc, err)
		return
	}
	count := map[string]int{}
	for i := range runs.Items {
		r := &runs.Items[i]
		count[state(r)]++
		if since, reason := waiting(r); since != nil {
			to <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(since.Unix()), r.Namespace, r.Name, reason)
		}
	}
	for _, s := range states {
		to <- prometheus.MustNewConstMetric(runsDesc, prometheus.GaugeValue, float64(count[s]), s)
	}
	to <- prometheus.MustNewConstMetric(queueDesc, prometheus.GaugeValue, float64(len(queue.Order(runs.Items))))
}

func state(r *v1alpha1.BenchmarkRun) string {
	succeeded := meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case !r.DeletionTimestamp.IsZero():
		return stateDeleting
	case r.Status.CompletionTime != nil && succeeded:
		return stateSucceeded
	case r.Status.CompletionTime != nil:
		return stateFailed
	case queue.Suspended(r):
		return stateSuspended
	case r.Status.StartTime == nil:
		return stateQueued
	case queue.HoldsUp(r):
		return stateMeasuring
	default:
		return stateReporting
	}
}

func waiting(r *v1alpha1.BenchmarkRun) (*metav1.Time, string) {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionSucceeded)
	if c == nil || r.Status.CompletionTime != nil || !r.DeletionTimestamp.IsZero() {
		return nil, ""
	}
	return r.Status.WaitingSince, c.Reason
}
