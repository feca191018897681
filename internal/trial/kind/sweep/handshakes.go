package sweep

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// encrypted is the first implementation that speaks TLS; -1 if none does.
func encrypted(spec v1alpha1.BenchmarkRunSpec) int {
	return slices.IndexFunc(spec.Implementations, func(i v1alpha1.Implementation) bool { return i.TLS != v1alpha1.TLS{} })
}

// checkHandshakes refuses loads that would measure how a tool waits after each handshake.
func checkHandshakes(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	server := encrypted(spec)
	if server < 0 {
		return nil
	}
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		if l.Connection == v1alpha1.PerRequest && tools.Traits(record.Tool(l.Tool)).StallsTLS {
			return kind.Invalid("spec.loads[%d].connection is PerRequest, and spec.implementations[%d] speaks TLS: after each handshake of TLS 1.3 %s waits up to 40 ms, with some servers and not with others, before it sends its request: use wrk or k6, or KeepAlive",
				i, server, l.Tool)
		}
		return nil
	})
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
		each := "which resumes the session where the server allows it"
		if tools.Traits(record.Tool(l.Tool)).WholeHandshakes {
			each = "a whole one, since " + string(l.Tool) + " resumes no session"
		}
		p.Note("loads[%s].connection is PerRequest: with a server that speaks TLS each request begins with a handshake, %s", l.Name, each)
	}
}
