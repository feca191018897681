package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind"
	"loadstone.dev/loadstone/internal/kind/sweep"
	"loadstone.dev/loadstone/internal/record"
)

// maxTrials bounds a run: beyond it a workflow no longer fits into one object.
const maxTrials = 1000

// Violation says why a run cannot be.
type Violation = kind.Violation

// checkSpec holds what the schema of the API cannot say. Each check is safe alone.
func checkSpec(spec v1alpha1.BenchmarkRunSpec) *Violation {
	for _, check := range []func(v1alpha1.BenchmarkRunSpec) *Violation{checkImplementations, checkMemory, checkValidity, checkSize} {
		if v := check(spec); v != nil {
			return v
		}
	}
	return nil
}

func checkImplementations(spec v1alpha1.BenchmarkRunSpec) *Violation {
	if len(spec.Implementations) == 0 {
		return kind.Invalid("spec.implementations is empty: name at least one image to measure")
	}
	return nil
}

// checkPrograms asks for what starts each implementation: an image on a cluster, a command on one machine.
func checkPrograms(spec v1alpha1.BenchmarkRunSpec, local bool) *Violation {
	for i, impl := range spec.Implementations {
		switch {
		case local && len(impl.Command) == 0:
			return kind.Invalid("spec.implementations[%d].command is missing: on this machine an implementation is started by its command and not by its image: name the program and its arguments, such as [./%s]", i, impl.Name)
		case !local && impl.Image == "":
			return kind.Invalid("spec.implementations[%d].image is missing: a cluster starts an implementation by its image: name one, or measure on one machine with loadstone run", i)
		}
	}
	return nil
}

func checkMemory(spec v1alpha1.BenchmarkRunSpec) *Violation {
	const least = 4 << 20
	for i, impl := range spec.Implementations {
		if impl.Memory != nil && impl.Memory.Value() < least {
			return kind.Invalid("spec.implementations[%d].memory is %s, too little for any container: give at least 4Mi", i, impl.Memory)
		}
	}
	return nil
}

// checkValidity refuses limits that are looser than the ones that always hold.
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

// Node is what a plan needs to know of a node.
type Node struct {
	Name string
	// Role is the node's loadstone.dev/role label, or empty.
	Role string
	// MilliCPU is the node's allocatable CPU in thousandths.
	MilliCPU int64
}

// Selector is the node label that pods of a role need: the role itself if any node carries it, else none.
func Selector(nodes []Node, role string) map[string]string {
	if slices.ContainsFunc(nodes, func(n Node) bool { return n.Role == role }) {
		return map[string]string{v1alpha1.LabelRole: role}
	}
	return nil
}

// Fits says whether the nodes can give every pod of the plan its exclusive CPUs; nil if they can.
func Fits(p Plan, nodes []Node) *Violation {
	if p.Order == record.OrderSlicedDuet {
		if v := fitsDuet(nodes); v != nil {
			return v
		}
	} else if v := fitsServers(p, nodes); v != nil {
		return v
	}
	if p.Generators.Pods == 0 {
		return nil // Programs that measure themselves need none.
	}
	need := sweep.GeneratorMilliCPU(p.Generators, p.Placement)
	best, ok := fit(nodes, v1alpha1.RoleGenerator, need)
	if !ok {
		return tooFew(fmt.Sprintf("spec.loads[].generators.cpus is %d", p.Generators.CPUs), need, v1alpha1.RoleGenerator, best)
	}
	if room := rooms(nodes, v1alpha1.RoleGenerator, need); room < int64(p.Generators.Pods) {
		return &Violation{Reason: v1alpha1.ReasonNotEnoughCPUs, Message: fmt.Sprintf("spec.loads[].generators.pods is %d: with %dm CPU each, the nodes for generators have room for %d: ask for fewer, add nodes, or let them share CPUs with spec.placement.generatorPinning: Preferred", p.Generators.Pods, need, room)}
	}
	return nil
}

// fitsServers asks for room for each server, with its observer.
func fitsServers(p Plan, nodes []Node) *Violation {
	for i, impl := range p.Implementations {
		need := int64(impl.CPUs)*1000 + sweep.ObserverMilliCPU
		if best, ok := fit(nodes, v1alpha1.RoleServer, need); !ok {
			return tooFew(fmt.Sprintf("spec.implementations[%d].cpus is %d", i, impl.CPUs), need, v1alpha1.RoleServer, best)
		}
	}
	return nil
}

// rooms is how many pods of a size the nodes of a role have room for.
func rooms(nodes []Node, role string, need int64) int64 {
	labelled := Selector(nodes, role) != nil
	var n int64
	for _, node := range nodes {
		if !labelled || node.Role == role {
			n += node.MilliCPU / need
		}
	}
	return n
}

func fit(nodes []Node, role string, need int64) (best Node, ok bool) {
	labelled := Selector(nodes, role) != nil
	for _, n := range nodes {
		if (!labelled || n.Role == role) && n.MilliCPU > best.MilliCPU {
			best = n
		}
	}
	return best, best.MilliCPU >= need
}

func tooFew(field string, need int64, role string, best Node) *Violation {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: its pod needs %dm CPU on one node, and ", field, need)
	if best.Name == "" {
		fmt.Fprintf(&b, "no node may run a %s: label one with %s=%s", role, v1alpha1.LabelRole, role)
	} else {
		fmt.Fprintf(&b, "the largest node for a %s, %s, has %dm allocatable: ask for fewer CPUs or add a larger node labelled %s=%s", role, best.Name, best.MilliCPU, v1alpha1.LabelRole, role)
	}
	return &Violation{Reason: v1alpha1.ReasonNotEnoughCPUs, Message: b.String()}
}
