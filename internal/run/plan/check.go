package plan

import (
	"encoding/json"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

const (
	// maxTrials bounds a run; beyond it, its workflow no longer fits into one object.
	maxTrials = 1000
	// maxTrialBytes bounds the command to a trial's agents.
	maxTrialBytes = 1 << 20
	leastMemory   = 4 << 20
	leastMilliCPU = 10
)

// Violation says why a run is impossible.
type Violation = kind.Violation

func checkSpec(spec v1alpha1.BenchmarkRunSpec) *Violation {
	return kind.Join(checkMemory(spec), checkContainers(spec), checkTLS(spec), checkValidity(spec), checkSize(spec), CheckPods("spec.placement.pods", spec.Placement.Pods))
}

// checkEarlier refuses comparisons with last good rounds outside a suite, and with earlier runs on one machine.
func checkEarlier(spec v1alpha1.BenchmarkRunSpec, round, local bool) *Violation {
	return kind.Each(spec.Objectives, func(i int, o v1alpha1.Objective) *Violation {
		if local && len(o.Against.Runs) > 0 {
			return kind.Invalid("spec.objectives[%d].against.runs names runs on a cluster: on one machine, compare result folders with loadstone compare", i)
		}
		if o.Against.LastGood > 0 && !round {
			return kind.Invalid("spec.objectives[%d].against.lastGood needs a BenchmarkSuite: make this run a template of one, or name earlier runs in spec.objectives[%d].against.runs", i, i)
		}
		return nil
	})
}

func checkNetwork(spec v1alpha1.BenchmarkRunSpec, local bool) *Violation {
	if spec.Placement.Network == "" || local {
		return nil
	}
	return kind.Invalid("spec.placement.network works on one machine only: remove it, or measure on one machine with loadstone run")
}

// checkSuspend refuses spec.suspend for runs that begin on demand.
func checkSuspend(spec v1alpha1.BenchmarkRunSpec, opts Options) *Violation {
	switch {
	case spec.Suspend == nil || !*spec.Suspend:
		return nil
	case opts.Local:
		return kind.Invalid("spec.suspend is true, and a run on one machine begins when it is started: remove it, or run it on a cluster")
	case opts.Template:
		return kind.Invalid("spec.suspend is true, and the runs of a suite are made when their round begins: remove it, and set spec.suspend of the suite")
	}
	return nil
}

func checkImplementations(spec v1alpha1.BenchmarkRunSpec) *Violation {
	if len(spec.Implementations) == 0 {
		return kind.Invalid("spec.implementations is empty: name at least one image to measure")
	}
	return nil
}

// checkPrograms requires an image to pull on a cluster, and an image or a command on one machine.
func checkPrograms(spec v1alpha1.BenchmarkRunSpec, local bool) *Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *Violation {
		switch {
		case local && len(impl.Command) == 0 && impl.Image == "":
			return kind.Invalid("spec.implementations[%d].command is missing: name the program and its arguments, such as [./%s], or an image", i, impl.Name)
		case !local && impl.Image == "":
			return kind.Invalid("spec.implementations[%d].image is missing: a cluster starts an implementation by its image: name one, or measure on one machine with loadstone run", i)
		case !local && IsPath(impl.Image):
			return kind.Invalid("spec.implementations[%d].image is %s, a file of one machine: name the image as a cluster pulls it, or measure on one machine with loadstone run", i, impl.Image)
		}
		if v := checkHere(i, impl); local && v != nil {
			return v
		}
		return nil
	})
}

// IsPath reports whether an image is a local file or folder.
func IsPath(image string) bool {
	return strings.HasPrefix(image, "/") || strings.HasPrefix(image, "./") || strings.HasPrefix(image, "../")
}

func checkMemory(spec v1alpha1.BenchmarkRunSpec) *Violation {
	return kind.Each(spec.Implementations, func(i int, impl v1alpha1.Implementation) *Violation {
		if impl.Memory != nil && impl.Memory.Value() < leastMemory {
			return kind.Invalid("spec.implementations[%d].memory is %s, too little for any container: give at least 4Mi", i, impl.Memory)
		}
		return nil
	})
}

// checkValidity refuses limits looser than the fixed ones.
func checkValidity(spec v1alpha1.BenchmarkRunSpec) *Violation {
	for _, limit := range []struct {
		field, text string
		loosest     float64
	}{
		{"maxErrorRate", spec.Validity.MaxErrorRate, MaxErrorRate},
		{"maxNeighbourCPU", spec.Validity.MaxNeighbourCPU, MaxNeighbourCPU},
		{"maxSteal", spec.Validity.MaxSteal, MaxSteal},
	} {
		if limit.text == "" {
			continue
		}
		if share, err := strconv.ParseFloat(limit.text, 64); err != nil || !(share >= 0 && share <= limit.loosest) {
			return kind.Invalid("spec.validity.%s is %q: give a decimal from 0 to %v, since the default can be tightened but not relaxed", limit.field, limit.text, limit.loosest)
		}
	}
	return nil
}

func checkSize(spec v1alpha1.BenchmarkRunSpec) *Violation {
	blocks := spec.Blocks
	if blocks == 0 {
		blocks = DefaultBlocks
	}
	if n := int(blocks) * len(spec.Implementations); n > maxTrials {
		return kind.Invalid("spec.blocks times spec.implementations makes %d trials, and the maximum is %d: lower spec.blocks or split the run", n, maxTrials)
	}
	return nil
}

func (p *Plan) checkTrials(local bool) *Violation {
	if local {
		return nil
	}
	for _, line := range p.distinct() {
		work, err := json.Marshal(kinds.Planned(p.Plan, line))
		if err != nil {
			return kind.Invalid("trial %s cannot be written: %s", line.Name, err)
		}
		if len(work) > maxTrialBytes {
			return kind.Invalid("each trial of %s takes %d bytes, and the maximum is %d: shorten body and expect.body of the requests in spec.loads[], which each of its %d cells repeats, or split the levels into several runs",
				strings.Join(line.Servers, " and "), len(work), maxTrialBytes, len(p.Cells))
		}
	}
	return nil
}
