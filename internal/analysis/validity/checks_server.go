package validity

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

// checkObserver voids a cell whose server was not observed: neither its CPU time nor its pinning is known.
func checkObserver(f *facts) []Reason {
	switch {
	case f.Seen == nil:
		return []Reason{{Code: ObserverFailed, Weight: Void, Scope: ScopeCell, Subject: measured.SubjectServer}}
	case f.Seen.Error != "" || f.Seen.CPUNanos <= 0:
		return []Reason{{Code: ObserverFailed, Weight: Void, Scope: ScopeCell, Subject: measured.SubjectServer, Detail: f.Seen.Error}}
	}
	return nil
}

const (
	// growthBytes: less than a MiB is the allocator's own stock, which it takes in such pieces.
	growthBytes = 1 << 20
	// growthPerRequest: no allocator gives less than 16 bytes, so that slower growth is not one lost object a request.
	growthPerRequest = 16
)

// checkMemory looks for memory that is lost with each request. A cache or a pool that fills grows in the first half and slows
// down; a leak goes on at the same pace.
func checkMemory(f *facts) []Reason {
	if f.Seen == nil || f.Seen.RSSStartBytes <= 0 || f.Seen.RSSMiddleBytes <= 0 || f.Requests <= 0 {
		return nil
	}
	first, second := f.Seen.RSSMiddleBytes-f.Seen.RSSStartBytes, f.Seen.RSSBytes-f.Seen.RSSMiddleBytes
	each := float64(first+second) / float64(f.Requests)
	if first <= 0 || second <= 0 || first+second <= growthBytes || each <= growthPerRequest || 2*second < first {
		return nil
	}
	return []Reason{{Code: MemoryGrows, Weight: Suspect, Scope: ScopeCell, Subject: measured.SubjectServer, Value: each, Limit: growthPerRequest}}
}

// slowedDown: a server whose last third has less than half the speed of its first is two servers, and its mean is of neither.
const slowedDown = 0.5

func checkSlowdown(f *facts) []Reason {
	trend, ok := f.Observed(measured.Trend)
	if !ok || f.Level.RampToRequestsPerSecond > 0 || 1+trend >= slowedDown {
		return nil
	}
	return []Reason{{Code: SlowedDown, Weight: Suspect, Scope: ScopeLoad, Subject: measured.SubjectServer, Value: 1 + trend, Limit: slowedDown}}
}

const (
	// unansweredVoid is StarvedVoid, seen from the server: of fewer than a hundred connections a single one is enough.
	unansweredVoid = StarvedVoid
	// unfair: Jain's index is 0.8 if a fifth of the connections get nothing, or if their shares vary by half of the mean.
	unfair = 0.8
	// fairRequests: with k requests a connection chance alone makes the index about k / (k + 1).
	fairRequests = 20
	// missingConnections: one in a hundred that is not there is enough to be another level; missingVoid: a tenth less is another load, as
	// with the rate and the time.
	missingConnections, missingVoid = 0.99, 0.9
	// reopenedSuspect and reopenedVoid: a connection a hundred requests is the habit of some servers, and costs the rest little; one
	// for every second request is no keep-alive.
	reopenedSuspect, reopenedVoid = 0.01, 0.5
)

// checkSockets looks at the server's connections shortly before the end of the load. One that has just been opened anew is
// unanswered without being starved: as many as are opened for each request are let pass, twice.
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
	// Connections that make a mix get answers of different sizes, and their bytes differ by chance.
	if s.Established > 0 && len(f.Level.Mix) == 0 && s.Jain < unfair && f.Requests >= fairRequests*s.Established {
		out = append(out, Reason{Code: Unfair, Weight: Suspect, Scope: ScopeLatency, Subject: measured.SubjectServer, Value: s.Jain, Limit: unfair})
	}
	return out
}

// checkConnections wants the level's connections to be there: those that are open near the end of the load, and those that were refused
// as well if the tool never tries again. Beside a generator that is busy, held back or without ports they are marked and accuse nobody.
// A script may hold as many as it likes. Those that are on their way, since the server closes some, are let pass as in checkSockets.
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

// checkKeepAlive looks for a server that closes connections which were to stay open: the tool opens new ones and says nothing.
func checkKeepAlive(f *facts) []Reason {
	if f.Level.Connection != record.KeepAlive {
		return nil
	}
	return graded(KeepAliveLost, f.Reopened(), reopenedSuspect, reopenedVoid)
}

const (
	// retransmits: on one machine or one switch nothing is lost unless a queue overflows.
	retransmits = 0.01
	// localPorts is the kernel's default range of local ports, about 28,200, for records that do not tell it, and portsSuspect how full it
	// may be.
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
