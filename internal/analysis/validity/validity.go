package validity

import (
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

// Validity is how far a cell can be trusted.
type Validity string

const (
	// Valid cells passed every check.
	Valid Validity = "Valid"
	// Suspect cells are used and marked.
	Suspect Validity = "Suspect"
	// Void cells are listed but not used.
	Void Validity = "Void"
)

// Scope is the part of a cell that a reason concerns.
type Scope string

const (
	// ScopeCell concerns the whole cell.
	ScopeCell Scope = "Cell"
	// ScopeLatency concerns latencies only.
	ScopeLatency Scope = "Latency"
	// ScopeLoad concerns throughput and latencies, but not the server's observations.
	ScopeLoad Scope = "ThroughputAndLatency"
	// ScopeCPU concerns the server's CPU time only, which is then unknown.
	ScopeCPU Scope = "CPUTime"
	// ScopeMemory concerns the server's memory only. Throughput, latency and CPU time are right.
	ScopeMemory Scope = "Memory"
)

// Reason is one finding of one check. Value is the observed value, Limit the allowed one; both are 0 if Detail says it
// all.
type Reason struct {
	Code    Code     `json:"code"`
	Weight  Validity `json:"weight"`
	Scope   Scope    `json:"scope"`
	Subject string   `json:"subject,omitempty"`
	Value   float64  `json:"value,omitempty"`
	Limit   float64  `json:"limit,omitempty"`
	// Detail is text from a tool, a kernel or an agent (untrusted).
	Detail string `json:"detail,omitempty"`
}

// checks run in this order and are independent of each other. Figures next to their thresholds come from 211 good wrk
// cells on a shared two-CPU virtual machine, where the usual naive rules trip on many good cells.
var checks = []func(*facts) []Reason{
	checkTool, checkObserver, checkCounted, checkLabel, checkDuration, checkRequests, checkRate, checkExceeded,
	checkStatus, checkBody, checkBytes, checkAudit, checkEquivalence, checkMix, checkProtocol, checkErrors, checkStarved, checkSockets, checkConnections, checkKeepAlive,
	checkPinning, checkShared, checkSiblings, checkTogether, checkGenerator, checkLittle, checkInFlight, checkSkew, checkAgents,
	checkNeighbours, checkSteal, checkThrottled, checkUtilisation, checkMemory, checkSlowdown, checkStalls, checkNetwork, checkSeen,
	checkMachine, checkImage, checkScript,
	checkMeasuredAudit, checkLoadAudit, checkHung, checkQueue, checkHandshakes, checkGeneratorThrottled, checkSpeed,
}

// graded returns nothing up to the first threshold, Suspect up to the second, and Void beyond.
func graded(code Code, share, suspect, void float64) []Reason {
	switch {
	case share <= suspect:
		return nil
	case share <= void:
		return []Reason{{Code: code, Weight: Suspect, Scope: ScopeCell, Value: share, Limit: suspect}}
	}
	return []Reason{{Code: code, Weight: Void, Scope: ScopeCell, Value: share, Limit: void}}
}

// rules are the run's own requirements for a valid cell.
type rules struct {
	pinning, generatorPinning             record.Strictness
	errorsVoid, neighboursVoid, stealVoid float64
	// usual holds the facts that all trials must share.
	usual *measured.Usual
}

func newRules(data record.RunData) rules {
	p := data.Manifest.Plan
	return rules{
		usual: measured.NewUsual(data), pinning: p.Placement.Pinning, generatorPinning: p.Placement.GeneratorPinning,
		errorsVoid: p.Validity.MaxErrorRate, neighboursVoid: p.Validity.MaxNeighbourCPU, stealVoid: p.Validity.MaxSteal,
	}
}
