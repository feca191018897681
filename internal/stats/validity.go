package stats

import (
	"fmt"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
)

// Validity says how far a cell can be believed.
type Validity string

const (
	// Valid cells passed every check.
	Valid Validity = "Valid"
	// Suspect cells are used and marked.
	Suspect Validity = "Suspect"
	// Void cells enter nothing and are listed.
	Void Validity = "Void"
)

// Scope says what of a cell a reason concerns.
type Scope string

const (
	// ScopeCell concerns the whole cell.
	ScopeCell Scope = "Cell"
	// ScopeLatency concerns the latencies alone.
	ScopeLatency Scope = "Latency"
	// ScopeLoad concerns throughput and latencies, and not what was seen of the server.
	ScopeLoad Scope = "ThroughputAndLatency"
)

// ReasonCode names what is wrong with a cell.
type ReasonCode string

const (
	// ToolFailed means that a generator has no measurement; Detail is its error.
	ToolFailed ReasonCode = "ToolFailed"
	// ObserverFailed means that the server was not or not wholly observed; Detail is the observer's error.
	ObserverFailed ReasonCode = "ObserverFailed"
	// NoRequests means that not one request was completed.
	NoRequests ReasonCode = "NoRequests"
	// CutShort means that the load lasted less than planned; Value and Limit are shares of the planned time.
	CutShort ReasonCode = "CutShort"
	// WrongLabel means that the tool ran other threads or connections than planned; Detail says which.
	WrongLabel ReasonCode = "WrongLabel"
	// WrongStatus means that the server answered with an error status; Value is the number of such answers.
	WrongStatus ReasonCode = "WrongStatus"
	// Errors means that requests failed; Value and Limit are shares of all requests.
	Errors ReasonCode = "Errors"
	// Starved means that connections were left waiting beyond the tool's timeout; Value is timeouts per connection.
	Starved ReasonCode = "Starved"
	// NotPinned means that a process did not own its CPUs; Subject says whose, Detail is its CPU list.
	NotPinned ReasonCode = "NotPinned"
	// SharedCPUs means that server and generator were allowed on the same CPU; Detail is the generator's CPU list.
	SharedCPUs ReasonCode = "SharedCPUs"
	// GeneratorLimited means that the generator had no CPU left and the server had; Value is the generator's utilisation. It
	// implies GeneratorBusy, which is then not said as well.
	GeneratorLimited ReasonCode = "GeneratorLimited"
	// GeneratorBusy means that requests may have waited in the generator; Value is its utilisation.
	GeneratorBusy ReasonCode = "GeneratorBusy"
	// Strangers means that others ran on the server's CPUs; Value is their share of the time.
	Strangers ReasonCode = "Strangers"
	// Stolen means that the hypervisor took the server's CPUs away; Value is the share of the time.
	Stolen ReasonCode = "Stolen"
	// Throttled means that a CPU quota held the server back; Value is the share of the time.
	Throttled ReasonCode = "Throttled"
)

// Reason is one finding of one check. Value and Limit are what was seen and what is let pass; both are 0 where Detail says it all.
type Reason struct {
	Code    ReasonCode `json:"code"`
	Weight  Validity   `json:"weight"`
	Scope   Scope      `json:"scope"`
	Subject string     `json:"subject,omitempty"`
	Value   float64    `json:"value,omitempty"`
	Limit   float64    `json:"limit,omitempty"`
	// Detail is text from a tool, a kernel or an agent: untrusted.
	Detail string `json:"detail,omitempty"`
}

// Thresholds of the checks, as shares. Where a source is named, the naive rule of that kind trips on a large part of good cells:
// the figures are of 211 good wrk cells on a shared two-CPU virtual machine.
const (
	// minDuration: a tool that stopped itself before nine tenths of its time did not run what was planned. wrk ends within 0.1 s.
	minDuration = 0.9
	// errorsVoid: one failed request in a thousand is what services commonly promise at most; fewer are marked.
	errorsVoid = 0.001
	// starvedVoid: a starved connection hides, since it adds one timeout where a served one adds thousands of requests. A server
	// that answered 100 of 1,000 connections showed a few dozen timeouts, so they are related to connections, at one in a hundred.
	starvedVoid = 0.01
	// generatorLimited: of good cells none had both sides at 95 %; below it the rest is the tool's own start and end.
	generatorLimited = 0.95
	// generatorBusy: "less than 20 % idle", the usual watchdog, trips on 46 % of good cells (all fast servers), so it concerns the
	// latencies only, in which waiting for a busy generator is counted.
	generatorBusy = 0.8
	// A stranger share above 1 % is met in 25 % of good cells.
	strangersSuspect, strangersVoid = 0.05, 0.15
	// Steal above 0.1 % is met in 61 % of good cells.
	stolenSuspect, stolenVoid = 0.01, 0.05
	// Exclusive CPUs have no quota, so that any throttling is a surprise; as a loss of CPU time it weighs like steal.
	throttledVoid = 0.05
)

// checks are run in this order; each is safe alone and knows nothing of the others.
var checks = []func(*facts, v1alpha1.Strictness) []Reason{
	checkTool, checkObserver, checkLabel, checkDuration, checkStatus, checkErrors, checkStarved, checkPinning, checkShared,
	checkGenerator, checkStrangers, checkStolen, checkThrottled,
}

// judge runs all checks and writes their outcome on the cell.
func (f *facts) judge(pinning v1alpha1.Strictness) {
	f.cell.Validity = Valid
	for _, check := range checks {
		for _, r := range check(f, pinning) {
			f.cell.Reasons = append(f.cell.Reasons, r)
			if r.Weight == Void || f.cell.Validity == Valid {
				f.cell.Validity = r.Weight
			}
			if r.Code == GeneratorLimited {
				f.cell.ThroughputIsBound = true
			}
		}
	}
}

func checkTool(f *facts, _ v1alpha1.Strictness) []Reason {
	if len(f.runs) == 0 {
		return []Reason{{Code: ToolFailed, Weight: Void, Scope: ScopeCell, Subject: record.RoleGenerator}}
	}
	var out []Reason
	for i, r := range f.runs {
		if r == nil {
			out = append(out, Reason{Code: ToolFailed, Weight: Void, Scope: ScopeCell, Subject: generator(i)})
		} else if r.Measurement == nil || r.Error != "" {
			out = append(out, Reason{Code: ToolFailed, Weight: Void, Scope: ScopeCell, Subject: generator(i), Detail: r.Error})
		}
	}
	if len(out) == 0 && f.cell.Requests <= 0 {
		out = append(out, Reason{Code: NoRequests, Weight: Void, Scope: ScopeCell})
	}
	return out
}

// checkObserver voids a cell whose server was not observed: neither its CPU time nor its pinning is known.
func checkObserver(f *facts, _ v1alpha1.Strictness) []Reason {
	switch {
	case f.seen == nil:
		return []Reason{{Code: ObserverFailed, Weight: Void, Scope: ScopeCell, Subject: record.RoleServer}}
	case f.seen.Error != "" || f.seen.CPUNanos <= 0:
		return []Reason{{Code: ObserverFailed, Weight: Void, Scope: ScopeCell, Subject: record.RoleServer, Detail: f.seen.Error}}
	}
	return nil
}

func checkLabel(f *facts, _ v1alpha1.Strictness) []Reason {
	var out []Reason
	for i, r := range f.runs {
		if r == nil || r.Measurement == nil {
			continue
		}
		m := r.Measurement
		share := protocol.Share(v1alpha1.Cell{Connections: f.level.Connections, Generators: f.level.Generators}, int32(i))
		if m.Threads == f.level.Threads && m.Connections == share.Connections {
			continue
		}
		out = append(out, Reason{
			Code: WrongLabel, Weight: Void, Scope: ScopeCell, Subject: generator(i),
			Detail: fmt.Sprintf("%d/%d", m.Threads, m.Connections),
		})
	}
	return out
}

func checkDuration(f *facts, _ v1alpha1.Strictness) []Reason {
	if !f.complete() || f.level.DurationSeconds <= 0 {
		return nil
	}
	share := f.cell.LoadSeconds / float64(f.level.DurationSeconds)
	if share >= minDuration {
		return nil
	}
	return []Reason{{Code: CutShort, Weight: Void, Scope: ScopeCell, Value: share, Limit: minDuration}}
}

// generator names the generator of an index as in artifacts.
func generator(i int) string { return fmt.Sprintf("%s-%d", record.RoleGenerator, i) }
