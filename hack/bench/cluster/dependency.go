package cluster

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/record"
)

// The two names of one server: alone, and beside a database that it does not use.
const alone, beside = "alone", "beside"

// dependencyRun compares a server with itself beside a database.
func (s Sizes) dependencyRun() *v1alpha1.BenchmarkRun {
	run := benchmarkRun("bench-dependency", s.pairWarmup, s.pairDuration, s.dependencyBlocks, []int32{100}, "epoll", "epoll")
	run.Spec.Implementations[0].Name, run.Spec.Implementations[1].Name, run.Spec.Baseline = alone, beside, alone
	user, cpu, memory := int64(1000), resource.MustParse("300m"), resource.MustParse("128Mi")
	run.Spec.Implementations[1].Dependencies = []v1alpha1.Dependency{
		{Name: "redis", Image: implementation("redis").Image, Port: 6379, ContainerSettings: v1alpha1.ContainerSettings{User: &user, Group: &user}, CPU: &cpu, Memory: &memory},
	}
	return run
}

// Dependency measures what a dependency changes in a server that does not use it.
func (b *Bench) Dependency(ctx context.Context) ([]figures.Figure, error) {
	p, err := b.perform(ctx, b.sizes.dependencyRun(), nil)
	if err != nil {
		return nil, err
	}
	table, err := analysis.Analyse(p.data)
	if err != nil {
		return nil, err
	}
	load := p.plan.Cells[0]
	at := record.Point{Load: load.Load, Connections: load.Connections}
	ratios, err := blockRatios(table.Group(at, beside), table.Group(at, alone))
	if err != nil {
		return nil, err
	}
	interval, err := figures.Geometric(ratios)
	if err != nil {
		return nil, err
	}
	return []figures.Figure{{
		Name: "cpu-beside-a-dependency", Value: interval.Mean, Interval: interval, Unit: "ratio", Aim: figures.Around(1),
		Note: fmt.Sprintf("CPU time per request of epoll beside a redis that it does not use, to epoll alone; n=%d blocks; %s", len(ratios), interval),
	}}, nil
}

// blockRatios are the ratios of two groups' CPU time per request in the blocks of which neither cell is void.
func blockRatios(over, under *validity.Group) ([]float64, error) {
	if over == nil || under == nil {
		return nil, errors.New("a level was not measured")
	}
	base := map[int32]float64{}
	for _, c := range under.Cells {
		if c.Validity != validity.Void && c.CPUPerRequest != nil {
			base[c.Block] = *c.CPUPerRequest
		}
	}
	var ratios []float64
	for _, c := range over.Cells {
		if to, ok := base[c.Block]; ok && c.Validity != validity.Void && c.CPUPerRequest != nil {
			ratios = append(ratios, *c.CPUPerRequest/to)
		}
	}
	return ratios, nil
}
