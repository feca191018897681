package kind

import (
	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// readTLS is how a server of an object's spec speaks TLS; nil if it does not.
func readTLS(t v1alpha1.TLS) *record.TLS {
	if t == (v1alpha1.TLS{}) {
		return nil
	}
	return &record.TLS{CA: t.CA, ServerName: t.ServerName}
}

// TLS is how each of some servers speaks TLS, nil of one that does not; empty if none does.
func TLS(servers []record.Implementation) []*record.TLS {
	out, some := make([]*record.TLS, len(servers)), false
	for i, own := range servers {
		out[i], some = own.TLS, some || own.TLS != nil
	}
	if !some {
		return nil
	}
	return out
}

// TLSArgs are the arguments by which the agent beside a server learns that the server speaks TLS. It verifies nothing: the generators' check does.
func TLSArgs(own record.Implementation) []string {
	if own.TLS == nil {
		return nil
	}
	return []string{"--tls"}
}
