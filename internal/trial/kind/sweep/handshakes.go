package sweep

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// encrypted is the first implementation that speaks TLS; -1 if none does.
func encrypted(spec v1alpha1.BenchmarkRunSpec) int {
	return slices.IndexFunc(spec.Implementations, func(i v1alpha1.Implementation) bool { return i.TLS != v1alpha1.TLS{} })
}

// noteHandshakes says what a connection for each request means of a server that speaks TLS.
func noteHandshakes(p *record.Plan, spec v1alpha1.BenchmarkRunSpec) {
	if encrypted(spec) < 0 {
		return
	}
	for _, l := range spec.Loads {
		if l.Connection != v1alpha1.PerRequest {
			continue
		}
		each := "a whole one, since " + string(l.Tool) + " resumes no session"
		if tools.Caveats(record.Cell{Tool: l.Tool}, true).Resumes {
			each = "which resumes the session where the server allows it"
		}
		p.Note("loads[%s].connection is PerRequest: with a server that speaks TLS each request begins with a handshake, %s", l.Name, each)
	}
}
