package validity

import (
	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

// Validity is how far a cell can be believed.
type Validity string

const (
	// Valid cells passed every check.
	Valid Validity = "Valid"
	// Suspect cells are used and marked.
	Suspect Validity = "Suspect"
	// Void cells enter nothing and are listed.
	Void Validity = "Void"
)

// Scope is what of a cell a reason concerns.
type Scope string

const (
	// ScopeCell concerns the whole cell.
	ScopeCell Scope = "Cell"
	// ScopeLatency concerns the latencies alone.
	ScopeLatency Scope = "Latency"
	// ScopeLoad concerns throughput and latencies, and not what was seen of the server.
	ScopeLoad Scope = "ThroughputAndLatency"
)

// Reason is one finding of one check. Value and Limit are what was seen and what is let pass; both are 0 where Detail says it all.
type Reason struct {
	Code    Code     `json:"code"`
	Weight  Validity `json:"weight"`
	Scope   Scope    `json:"scope"`
	Subject string   `json:"subject,omitempty"`
	Value   float64  `json:"value,omitempty"`
	Limit   float64  `json:"limit,omitempty"`
	// Detail is text from a tool, a kernel or an agent: untrusted.
	Detail string `json:"detail,omitempty"`
}

// checks are run in this order; each is safe alone and knows nothing of the others. Their thresholds stand beside them. Where a
// source is named, the naive rule of that kind trips on a large part of good cells: the figures are of 211 good wrk cells on a
// shared two-CPU virtual machine.
var checks = []func(*facts) []Reason{
	checkTool, checkObserver, checkLabel, checkDuration, checkRequests, checkRate, checkExceeded,
	checkStatus, checkBody, checkBytes, checkAudit, checkEquivalence, checkMix, checkProtocol, checkErrors, checkStarved, checkSockets, checkConnections, checkKeepAlive,
	checkPinning, checkShared, checkSiblings, checkTogether, checkGenerator, checkLittle, checkInFlight, checkSkew, checkAgents,
	checkNeighbours, checkSteal, checkThrottled, checkUtilisation, checkMemory, checkSlowdown, checkStalls, checkNetwork, checkSeen,
	checkMachine, checkImage, checkScript,
	checkMeasuredAudit, checkHung, checkQueue, checkHandshakes, checkGeneratorThrottled, checkSpeed,
}

// graded is nothing up to the first threshold, Suspect up to the second, Void beyond.
func graded(code Code, share, suspect, void float64) []Reason {
	switch {
	case share <= suspect:
		return nil
	case share <= void:
		return []Reason{{Code: code, Weight: Suspect, Scope: ScopeCell, Value: share, Limit: suspect}}
	}
	return []Reason{{Code: code, Weight: Void, Scope: ScopeCell, Value: share, Limit: void}}
}

// rules are what the run itself asks of a valid cell.
type rules struct {
	pinning, generatorPinning record.Strictness
	// errorsVoid, neighboursVoid and stealVoid are shares beyond which a cell is void.
	errorsVoid, neighboursVoid, stealVoid float64
	// usual is what a trial must share with the others of the run.
	usual *measured.Usual
}

// newRules reads the limits of a run's plan, and what its trials have in common.
func newRules(data record.RunData) rules {
	p := data.Manifest.Plan
	return rules{
		usual: measured.NewUsual(data), pinning: p.Placement.Pinning, generatorPinning: p.Placement.GeneratorPinning,
		errorsVoid: p.Validity.MaxErrorRate, neighboursVoid: p.Validity.MaxNeighbourCPU, stealVoid: p.Validity.MaxSteal,
	}
}
