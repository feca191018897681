package validity

import (
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

const (
	// queueVoid: as many connections may be refused or delayed by a second as may stay unanswered.
	queueVoid = StarvedVoid
	// synSuspect: a second more for fewer than one connection in a thousand is beyond the 99.9th percentile.
	synSuspect = 0.001
	// synSeconds is what the first retransmission of a handshake costs (RFC 6298). synVoid is the share of the
	// connections' time that may be lost this way: a tenth less is another load.
	synSeconds, synVoid = 1, 0.1
)

// checkQueue looks for connections that found the server's accept queue full. The kernel silently drops their
// handshake, and they retry a second later. Other drops of the kernel are only marked.
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

// checkHandshakes looks for handshakes of a second and more, which no tool counts as latency or error. It relates
// them to connections, since they would vanish among segments. In the closed model each costs a second of a
// connection's load.
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

// hungVoid is unansweredVoid: an answer that never comes weighs the same whether others came before or not.
const hungVoid = unansweredVoid

// checkHung looks for connections that were answered at first and then no more: the tool silently has one connection
// less. It skips cells with few requests per connection, where long gaps are normal, and scripts, which may pause.
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

// generatorThrottled equals steal's limit: a quota takes CPU time as steal does.
const generatorThrottled = stealSuspect

// checkGeneratorThrottled looks for generators that a CPU quota held back. Beyond the share that voids a server's
// cell, the throughput is only a lower bound, as with exhausted CPUs.
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

func (f *facts) heldBack() bool { return len(checkGeneratorThrottled(f)) > 0 }
