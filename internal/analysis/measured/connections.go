package measured

import (
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// Caveats are what must be known of the cell's tool to read what it said.
func (f *Facts) Caveats() tool.Caveats { return tools.Caveats(f.Level.Cell(), f.Implementation.TLS) }

// KeepsOpen reports whether the level is of connections that stay open, each with as many requests in flight as it has streams.
func (f *Facts) KeepsOpen() bool {
	return f.Level.Connection == record.KeepAlive && f.Level.RequestsPerSecond == 0 && f.Level.Step == 0
}

// Opened is the number of connections of the level: those that it holds, or those that the server has accepted meanwhile.
func (f *Facts) Opened() float64 {
	n := int64(max(f.Level.Connections, 1))
	if f.Seen != nil {
		n = max(n, f.Seen.Network.PassiveOpens)
	}
	return float64(n)
}

// Reopened is the number of connections that the server accepted beyond the level's own and the audit's, for each request.
func (f *Facts) Reopened() float64 {
	if !f.ServerNetwork() || f.Requests <= 0 {
		return 0
	}
	return max(float64(f.Seen.Network.PassiveOpens-int64(f.Level.Connections)-f.MeasuredAudit().Connections)/float64(f.Requests), 0)
}

// ServerNetwork reports whether the server's network namespace was read.
func (f *Facts) ServerNetwork() bool { return f.Seen != nil && f.Seen.Network.SegmentsOut > 0 }

// Handshakes are those of the server's namespace; nil if they were not read.
func (f *Facts) Handshakes() *record.Handshakes {
	if f.Seen == nil {
		return nil
	}
	return f.Seen.Network.Handshakes
}

// SynRetransmits is how many segments of handshakes were sent again: by the generators or by the server, whichever saw more, since both
// repeat theirs where an answer is lost. It is false if neither was read.
func (f *Facts) SynRetransmits() (float64, bool) {
	var clients, server int64
	known := false
	for _, r := range f.Runs {
		if r != nil && r.Network.Handshakes != nil {
			known = true
			clients += r.Network.Handshakes.SynRetransmits
		}
	}
	if h := f.Handshakes(); h != nil {
		known, server = true, h.SynRetransmits
	}
	return float64(max(clients, server)), known
}
