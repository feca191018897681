package validity

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

// checkObserver voids a cell whose server was not observed: its CPU time and pinning are unknown.
func checkObserver(f *facts) []Reason {
	switch {
	case f.Seen == nil:
		return []Reason{{Code: ObserverFailed, Weight: Void, Scope: ScopeCell, Subject: measured.SubjectServer}}
	case f.Seen.Error != "" || f.Seen.CPUNanos <= 0 && len(f.Seen.CPUUncounted) == 0:
		return []Reason{{Code: ObserverFailed, Weight: Void, Scope: ScopeCell, Subject: measured.SubjectServer, Detail: f.Seen.Error}}
	}
	return nil
}

// checkCounted marks a cell whose CPU time may lack a part of the server's work.
func checkCounted(f *facts) []Reason {
	if f.Seen == nil || len(f.Seen.CPUUncounted) == 0 {
		return nil
	}
	return []Reason{{Code: CPUUncounted, Weight: Suspect, Scope: ScopeCPU, Subject: measured.SubjectServer, Detail: strings.Join(f.Seen.CPUUncounted, "; ")}}
}

const (
	// growthBytes: less than 1 MiB is the allocator's own stock, taken in such pieces.
	growthBytes = 1 << 20
	// growthPerRequest: no allocator gives less than 16 bytes, so slower growth is not one lost object per request.
	growthPerRequest = 16
)

// checkMemory looks for memory lost with each request. A cache or pool slows down in the second half; a leak does
// not.
func checkMemory(f *facts) []Reason {
	if f.Seen == nil || f.Seen.RSSStartBytes <= 0 || f.Seen.RSSMiddleBytes <= 0 || f.Requests <= 0 {
		return nil
	}
	first, second := f.Seen.RSSMiddleBytes-f.Seen.RSSStartBytes, f.Seen.RSSBytes-f.Seen.RSSMiddleBytes
	each := float64(first+second) / float64(f.Requests)
	if first <= 0 || second <= 0 || first+second <= growthBytes || each <= growthPerRequest || 2*second < first {
		return nil
	}
	return []Reason{{Code: MemoryGrows, Weight: Suspect, Scope: ScopeMemory, Subject: measured.SubjectServer, Value: each, Limit: growthPerRequest}}
}

// slowedDown: with less than half of its first third's speed in its last third, a cell's mean describes neither.
const slowedDown = 0.5

func checkSlowdown(f *facts) []Reason {
	trend, ok := f.Observed(measured.Trend)
	if !ok || f.Level.RampToRequestsPerSecond > 0 || 1+trend >= slowedDown {
		return nil
	}
	return []Reason{{Code: SlowedDown, Weight: Suspect, Scope: ScopeLoad, Subject: measured.SubjectServer, Value: 1 + trend, Limit: slowedDown}}
}

const (
	// unansweredVoid is StarvedVoid as seen by the server: below a hundred connections, one is enough.
	unansweredVoid = StarvedVoid
	// unfair: Jain's index is 0.8 if a fifth of the connections get nothing, or if shares vary by half of the mean.
	unfair = 0.8
	// fairRequests: with k requests per connection, chance alone makes the index about k / (k + 1).
	fairRequests = 20
	// missingConnections: one missing in a hundred is another level. missingVoid: a tenth less is another load, as
	// with rate and time.
	missingConnections, missingVoid = 0.99, 0.9
	// reopenedSuspect: some servers close a connection every hundred requests, at little cost. reopenedVoid:
	// reopening for every second request is no keep-alive.
	reopenedSuspect, reopenedVoid = 0.01, 0.5
)

// checkSockets looks at connections shortly before the end. Just reopened ones are unanswered but not starved, so
// twice their share is allowed.
func checkSockets(f *facts) []Reason {
	if f.Seen == nil || f.Seen.Sockets == nil || !f.KeepsOpen() {
		return nil
	}
	s := f.Seen.Sockets
	var out []Reason
	if s.Unanswered > 0 && s.Established > 0 {
		share := float64(s.Unanswered)/float64(s.Established) - 2*f.Reopened()
		out = append(out, graded(Unanswered, share, 0, unansweredVoid)...)
	}
	// With a mix, answers differ in size, so the bytes per connection differ by chance.
	if s.Established > 0 && len(f.Level.Mix) == 0 && s.Jain < unfair && f.Requests >= fairRequests*s.Established {
		out = append(out, Reason{Code: Unfair, Weight: Suspect, Scope: ScopeLatency, Subject: measured.SubjectServer, Value: s.Jain, Limit: unfair})
	}
	return out
}

// checkConnections requires the connections to be open near the end. Refused ones count as missing if the tool never
// retries. A busy, held-back or portless generator only marks the cell. Scripts may hold any number; reopened ones
// are allowed for as in checkSockets.
func checkConnections(f *facts) []Reason {
	if !f.KeepsOpen() || f.Level.Connections <= 0 || f.Level.Scripted {
		return nil
	}
	gone := 0.0
	if f.Seen != nil && f.Seen.Sockets != nil {
		gone = float64(int64(f.Level.Connections) - f.Seen.Sockets.Established)
	}
	if f.Caveats().StaysRefused {
		gone = max(gone, float64(f.Errors.Connect))
	}
	share := 1 - gone/float64(f.Level.Connections)
	busy := f.heldBack() || f.Busiest() >= generatorBusy || slices.ContainsFunc(checkNetwork(f), func(r Reason) bool { return r.Code == PortsExhausted })
	switch there := share + 2*f.Reopened(); {
	case there >= missingConnections:
		return nil
	case there >= missingVoid || busy:
		return []Reason{{Code: MissingConnections, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Value: max(share, 0), Limit: missingConnections}}
	}
	return []Reason{{Code: MissingConnections, Weight: Void, Scope: ScopeCell, Subject: measured.SubjectServer, Value: max(share, 0), Limit: missingVoid}}
}

// checkKeepAlive looks for a server that closes keep-alive connections: the tool silently opens new ones.
func checkKeepAlive(f *facts) []Reason {
	if f.Level.Connection != record.KeepAlive {
		return nil
	}
	return graded(KeepAliveLost, f.Reopened(), reopenedSuspect, reopenedVoid)
}

const (
	retransmits = 0.01
	// localPorts is the kernel's default number of local ports (about 28,200), for records without it. portsSuspect
	// is how full the range may be.
	localPorts, portsSuspect = 28_000, 0.9
)

func checkNetwork(f *facts) []Reason {
	var out []Reason
	if share, ok := f.Observed(measured.RetransmittedShare); ok && share > retransmits {
		out = append(out, Reason{Code: Retransmits, Weight: Suspect, Scope: ScopeLoad, Value: share, Limit: retransmits})
	}
	for i, r := range f.Runs {
		if r == nil || r.Measurement == nil {
			continue
		}
		ports := cmp.Or(f.Trial.Generators[i].LocalPorts, localPorts)
		share := float64(r.Network.TimeWait+int64(r.Measurement.Connections)) / float64(ports)
		if share > portsSuspect {
			out = append(out, Reason{Code: PortsExhausted, Weight: Suspect, Scope: ScopeLoad, Subject: record.MemberGenerator(i), Value: share, Limit: portsSuspect})
		}
	}
	return out
}
