package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/verdict"
)

// MayBeAA reports whether two servers share image and command. The report decides, since it also knows roles,
// settings and CPUs.
func MayBeAA(spec v1alpha1.BenchmarkRunSpec) bool {
	for i, a := range spec.Implementations {
		for _, b := range spec.Implementations[i+1:] {
			if a.Image != "" && a.Image == b.Image && slices.Equal(a.Command, b.Command) {
				return true
			}
		}
	}
	return false
}

// Seen holds the measurements of an A/A run.
type Seen struct {
	Fingerprint, Machine string
	Started              time.Time
	// Image was measured under two names.
	Image string
	// Bounded counts values left out because the generator, limiting or shared, hides noise.
	Values  []Value
	Bounded int
	Nothing string
}

// Value is the ratio of two equal servers in one metric and load, with its interval (inference.Confidence).
type Value struct {
	Load             string
	Metric           verdict.Metric
	Blocks           int
	Ratio, Low, High float64
	// Detectable is the smallest difference that such a run detects with probability inference.Power; 0 if unknown.
	Detectable float64
}

// Excludes reports whether the run took noise for a difference.
func (v Value) Excludes() bool { return v.Low > 1 || v.High < 1 }

// Width is half the interval, as a share of its middle.
func (v Value) Width() float64 { return math.Sqrt(v.High/v.Low) - 1 }

// Of reads an A/A run's noise from its table.
func Of(t analysis.Table) Seen {
	s := Seen{Fingerprint: t.Fingerprint, Machine: machine(t), Started: t.Run.Started}
	switch {
	case t.NoiseFloorUnpinned > 0:
		s.Nothing = fmt.Sprintf("%d of its cells ran on shared CPUs, whose noise differs from that of pinned runs", t.NoiseFloorUnpinned)
		return s
	case t.Fingerprint == "":
		s.Nothing = "its trials recorded no facts about their machine"
		return s
	case len(t.Levels) == 0:
		s.Nothing = "it measures no level of a load, so it has no noise"
		return s
	case !t.Calibrates():
		s.Nothing = "its report has no noise: its servers differ in more than their names, one of them is a reference, or too few blocks count"
		return s
	}
	a, b := t.NoiseFloor.Implementations[0], t.NoiseFloor.Implementations[1]
	for _, i := range t.Implementations {
		if i.Name == a {
			s.Image = i.Image
		}
	}
	if digests := imageIDs(t, a, b); len(digests) > 1 {
		s.Nothing = "its image's name resolved to several images"
		return s
	}
	for _, c := range t.Comparisons {
		// The mean over all loads adds nothing to its loads.
		if pair := [2]string{c.Implementation, c.Baseline}; c.Load != "" && (pair == [2]string{a, b} || pair == [2]string{b, a}) {
			s.add(c)
		}
	}
	if len(s.Values) == 0 {
		s.Nothing = "no value of its two equal servers has an interval"
	}
	return s
}

func (s *Seen) add(c verdict.Comparison) {
	for _, r := range c.Overall {
		switch {
		case r.ContenderIsBound || r.BaselineIsBound || r.Diluted || r.Hidden:
			s.Bounded++
		case r.Ratio != nil && r.Low != nil && r.High != nil && *r.Low > 0:
			v := Value{Load: c.Load, Metric: r.Metric, Blocks: r.Blocks, Ratio: *r.Ratio, Low: *r.Low, High: *r.High}
			if r.Detectable != nil {
				v.Detectable = *r.Detectable
			}
			s.Values = append(s.Values, v)
		}
	}
}

func machine(t analysis.Table) string {
	var nodes, models []string
	for _, f := range t.Environment {
		into := map[environment.Key]*[]string{environment.Node: &nodes, environment.CPUModel: &models}[f.Key]
		for _, v := range f.Values {
			if into != nil && v.Value != "" && !slices.Contains(*into, v.Value) {
				*into = append(*into, v.Value)
			}
		}
	}
	return strings.Join(append(nodes, models...), ", ")
}

func imageIDs(t analysis.Table, a, b string) []string {
	var all []string
	for _, f := range t.Environment {
		if f.Key != environment.ImageID || f.Implementation != a && f.Implementation != b {
			continue
		}
		for _, v := range f.Values {
			if v.Value != "" && !slices.Contains(all, v.Value) {
				all = append(all, v.Value)
			}
		}
	}
	return all
}
