package sweep

import (
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// checkTools asks each load's tool whether it can make it; errors name the tools that can.
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

// wayOut returns a refusal's own fix, or another tool.
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

// maxStreams is the usual limit of servers per connection: HTTP/2 recommends no fewer.
const maxStreams = 100

func checkProtocol(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	plain := slices.IndexFunc(spec.Implementations, func(i v1alpha1.Implementation) bool { return i.TLS == v1alpha1.TLS{} })
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		switch streams := l.StreamsPerConnection; {
		case streams < 0 || streams > maxStreams:
			return kind.Invalid("spec.loads[%d].streamsPerConnection is %d: give a number from 1 to %d", i, streams, maxStreams)
		case streams > 1 && l.Protocol != v1alpha1.ProtocolHTTP2:
			return kind.Invalid("spec.loads[%d].streamsPerConnection is %d, and HTTP/1.1 has one request at a time on each connection: set protocol: HTTP2, or remove streamsPerConnection", i, streams)
		case l.Protocol != v1alpha1.ProtocolHTTP2:
			return nil
		case l.Connection == v1alpha1.PerRequest:
			return kind.Invalid("spec.loads[%d].protocol is HTTP2, whose connections carry many requests, and connection is PerRequest: remove one of the two", i)
		case plain >= 0:
			return kind.Invalid("spec.loads[%d].protocol is HTTP2, on which %s and a server agree in a handshake of TLS alone, and spec.implementations[%d], %s, speaks none: set its tls, or remove protocol",
				i, l.Tool, plain, spec.Implementations[plain].Name)
		}
		return nil
	})
}

// noteProtocol notes a load's protocol if servers could choose.
func noteProtocol(p *record.Plan, spec v1alpha1.BenchmarkRunSpec) {
	if encrypted(spec) < 0 {
		return
	}
	for _, l := range spec.Loads {
		if l.Protocol == v1alpha1.ProtocolHTTP2 {
			p.Note("loads[%s].protocol is HTTP2: each connection has %d of its requests in flight, and a cell with a response in another version of HTTP is void", l.Name, max(l.StreamsPerConnection, 1))
		}
		if l.Protocol == "" {
			p.Note("loads[%s].protocol defaults to HTTP1: HTTP/2 is offered to no server", l.Name)
		}
	}
}
