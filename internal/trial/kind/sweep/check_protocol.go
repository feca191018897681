package sweep

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// maxStreams is how many streams servers accept on a connection as a rule: HTTP/2 recommends that they allow no fewer.
const maxStreams = 100

// checkProtocol refuses HTTP/2 where a server cannot speak it.
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

// noteProtocol says what a load speaks where a server could choose.
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
