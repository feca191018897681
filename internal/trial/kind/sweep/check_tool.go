package sweep

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// checkTools asks the tool of each load whether it can make it. Where it cannot, the sentence names the tools that can.
func checkTools(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Loads, func(i int, _ v1alpha1.Load) *kind.Violation {
		l := toolLoad(spec, i)
		var found []*kind.Violation
		for _, r := range tools.Check(l) {
			found = append(found, kind.Invalid("%s: %s", r.Problem, wayOut(r.Fix, tools.Able(l))))
		}
		return kind.Join(found...)
	})
}

// wayOut is what to do about a refusal: its own fix, or another tool.
func wayOut(fix string, able []record.Tool) string {
	var use string
	switch n := len(able); {
	case n > 1:
		names := make([]string, n)
		for i, name := range able {
			names[i] = string(name)
		}
		use = "use " + strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	case n == 1:
		use = "use " + string(able[0])
	}
	switch {
	case use == "" && fix == "":
		return "use another tool"
	case use == "":
		return fix
	case fix == "":
		return use
	}
	return fix + ", or " + use
}

// toolLoad is a load of a spec as its tool is asked for it.
func toolLoad(spec v1alpha1.BenchmarkRunSpec, i int) tool.Load {
	l := tool.Load{Load: sized(spec.Loads[i]), Field: fmt.Sprintf("spec.loads[%d]", i), Duet: isDuet(spec)}
	if server := encrypted(spec); server >= 0 {
		l.Encrypted = fmt.Sprintf("spec.implementations[%d]", server)
	}
	for k, percentile := range spec.LatencyPercentiles {
		l.Percentiles = append(l.Percentiles, tool.Percentile{Field: fmt.Sprintf("spec.latencyPercentiles[%d]", k), Value: percentile, Fix: "choose 99"})
	}
	for k, o := range spec.Objectives {
		if o.Percentile != "" && speaksOf(o, spec.Loads[i]) {
			l.Percentiles = append(l.Percentiles, tool.Percentile{
				Field: fmt.Sprintf("spec.objectives[%d].percentile", k), Value: o.Percentile, Fix: fmt.Sprintf("choose 99, or name another load in spec.objectives[%d].load", k),
			})
		}
	}
	return l
}
