package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/record"
)

// profilesRun profiles three servers: the instructions of a request three times over, and the memory of the static one.
func (s Sizes) profilesRun() *v1alpha1.BenchmarkRun {
	run := benchmarkRun("bench-profiles", 0, 1, 1, []int32{1}, s.profiled...)
	run.Spec.Loads[0].Request.Expect.Body = nil
	run.Spec.Profiles = []v1alpha1.Profile{
		{Name: "instructions", Tool: v1alpha1.ToolCallgrind, Requests: s.requests, Repeats: 3},
		{Name: "memory", Tool: v1alpha1.ToolMemcheck, Requests: s.requests, Implementations: []string{"epoll"}},
	}
	return run
}

// Profiles measures how well counts repeat themselves, and what profiling costs beside the profilers themselves.
func (b *Bench) Profiles(ctx context.Context) ([]figures.Figure, error) {
	p, err := b.perform(ctx, b.sizes.profilesRun(), nil)
	if err != nil {
		return nil, err
	}
	table, err := analysis.Analyse(p.data)
	if err != nil {
		return nil, err
	}
	var list []figures.Figure
	for _, profile := range table.Profiles {
		for _, f := range profile.Found {
			switch c := f.PerRequest; {
			case profile.Name == "memory":
				list = append(list, figures.Of("first-answer-under-memcheck", float64(f.FirstAnswerMillis)/1000, "s", figures.AtMost(20), "of a static server in an image of nothing else"))
			case c == nil:
				return nil, fmt.Errorf("the instructions of a request of %s are unknown: %+v", f.Implementation, f)
			default:
				list = append(list, figures.Of("instructions-spread-"+f.Implementation, 100*c.Spread(), "%", figures.AtMost(1),
					fmt.Sprintf("n=%d by %s, %.1f to %.1f instructions a request", c.N, f.Tool, c.Min, c.Max)))
			}
		}
	}
	beside := besideProfilers(p.data.Following)
	list = append(list, figures.Of("profile-beside-its-tool", figures.Median(beside).Seconds(), "s", figures.AtMost(5), "median, "+figures.Spread(beside)))
	return append(list, toolboxSize()...), nil
}

// besideProfilers is how long each trial took, to the next one's first launch, beside its own launches.
func besideProfilers(trials []record.TrialData) []time.Duration {
	var list []time.Duration
	for i := 1; i < len(trials); i++ {
		own, next := trials[i-1].Servers[0].Profiled.Launches, trials[i].Servers[0].Profiled.Launches
		if len(own) == 0 || len(next) == 0 {
			continue
		}
		beside := next[0].Started.Sub(own[0].Started)
		for _, l := range own {
			beside -= l.Ended.Sub(l.Started)
		}
		list = append(list, beside)
	}
	return list
}

// toolboxSize is the size of the image that is brought into others, as its archive lies in the cache; none if it does not.
func toolboxSize() []figures.Figure {
	cache := os.Getenv("LOADSTONE_CACHE")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache", "loadstone")
	}
	info, err := os.Stat(filepath.Join(cache, "images", "toolbox.tar"))
	if err != nil {
		return nil
	}
	return []figures.Figure{figures.Of("toolbox-image", float64(info.Size())/1e6, "MB", figures.AtMost(40), strings.TrimSuffix(info.Name(), ".tar")+", the archive")}
}
