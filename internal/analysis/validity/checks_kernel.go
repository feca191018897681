package validity

import (
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// queueVoid: as many connections as must not be unanswered must not be refused or kept waiting for a second either.
	queueVoid = StarvedVoid
	// synSuspect: a second more for fewer than one connection in a thousand is beyond every percentile up to the 99.9th.
	synSuspect = 0.001
	// synSeconds is what the first retransmission of a handshake costs its connection, by RFC 6298, and synVoid the share of the
	// connections' time that may be lost so: a tenth less is another load.
	synSeconds, synVoid = 1, 0.1
)

// checkQueue looks for connections that found the server's queue of new connections full. The kernel drops their handshake without a
// word, and they try again a second later. Whatever else the kernel drops there is marked and accuses nobody.
func checkQueue(f *facts) []Reason {
	h := f.Handshakes()
	if h == nil {
		return nil
	}
	out := graded(QueueOverflows, float64(h.ListenOverflows)/f.Opened(), 0, queueVoid)
	if drops := h.ListenDrops - h.ListenOverflows; drops > 0 {
		out = append(out, Reason{Code: HandshakesDropped, Weight: Suspect, Scope: ScopeLoad, Subject: measured.SubjectServer, Value: float64(drops) / f.Opened()})
	}
	return out
}

// checkHandshakes looks for handshakes that took a second and more, which no tool counts as a latency or an error. Related to segments
// they would vanish: each cost a connection a second, and the level's connections in the closed model that much of their load.
func checkHandshakes(f *facts) []Reason {
	n, known := f.SynRetransmits()
	share := n / f.Opened()
	if !known || share <= synSuspect {
		return nil
	}
	r := Reason{Code: SlowHandshakes, Weight: Suspect, Scope: ScopeLoad, Value: share, Limit: synSuspect}
	time := float64(max(f.Level.Connections, 1)) * f.LoadSeconds
	closed := f.Level.RequestsPerSecond == 0 && f.Level.Step == 0
	if lost := n * synSeconds / time; closed && time > 0 && lost > synVoid {
		r.Weight, r.Scope = Void, ScopeCell
	}
	return []Reason{r}
}

// hungVoid is unansweredVoid: an answer that never comes is one, whether others came before it or not.
const hungVoid = unansweredVoid

// checkHung looks for connections that were answered and then no more: a tool has one connection less, and says nothing. Where a
// connection makes but a few requests in all, half a cell may pass between two answers, and with a script's the pause may be the script's.
func checkHung(f *facts) []Reason {
	if f.Seen == nil || f.Seen.Sockets == nil || f.Seen.Sockets.Hung == nil || !f.KeepsOpen() || f.Level.Scripted {
		return nil
	}
	s := f.Seen.Sockets
	if s.Established <= 0 || f.Requests < fairRequests*s.Established {
		return nil
	}
	return graded(Hung, float64(*s.Hung)/float64(s.Established), 0, hungVoid)
}

// generatorThrottled is what steal may take before it is marked: less of a quota is less than that.
const generatorThrottled = stealSuspect

// checkGeneratorThrottled looks for generators that a CPU quota held back. One that was for longer than voids a server's cell says of the
// server's throughput but that it is at least so much, as one does whose CPUs are exhausted.
func checkGeneratorThrottled(f *facts) []Reason {
	var out []Reason
	for i, r := range f.Runs {
		if r == nil || r.Throttled == nil || f.LoadSeconds <= 0 {
			continue
		}
		if share := float64(r.Throttled.Nanos) / 1e9 / f.LoadSeconds; share > generatorThrottled {
			out = append(out, Reason{Code: GeneratorThrottled, Weight: Suspect, Scope: ScopeLoad, Subject: record.MemberGenerator(i), Value: share, Limit: generatorThrottled})
		}
	}
	return out
}

// heldBack reports whether a quota held a generator back for longer than is let pass.
func (f *facts) heldBack() bool { return len(checkGeneratorThrottled(f)) > 0 }
