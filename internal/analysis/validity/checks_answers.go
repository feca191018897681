package validity

import (
	"fmt"
	"math"

	"loadstone.dev/loadstone/internal/record"
)

// checkStatus voids a cell with any error answer: an error page is often faster than the real one.
func checkStatus(f *facts) []Reason {
	if f.Errors.Status == 0 {
		return nil
	}
	return []Reason{{Code: WrongStatus, Weight: Void, Scope: ScopeCell, Value: float64(f.Errors.Status)}}
}

// checkBody voids a cell with any wrong body, as a wrong status does: a shorter answer is less work.
func checkBody(f *facts) []Reason {
	if f.Errors.Body == 0 {
		return nil
	}
	return []Reason{{Code: WrongBody, Weight: Void, Scope: ScopeCell, Value: float64(f.Errors.Body)}}
}

// auditVoid: an audit whose greater part failed has seen too little of the answers to vouch for them.
const auditVoid = 0.5

// checkAudit looks at what the agents saw of the answers beside the tool. An answer that never came is marked: the audit is a
// client of few requests under a load that may fill every queue.
func checkAudit(f *facts) []Reason {
	all := f.WarmupAudit()
	var out []Reason
	if wrong := all.WrongStatus + all.WrongBody; wrong > 0 {
		out = append(out, Reason{Code: WrongAnswers, Weight: Void, Scope: ScopeCell, Value: float64(wrong), Detail: all.Example})
	}
	if all.Failed > 0 {
		out = append(out, graded(AuditFailed, float64(all.Failed)/float64(max(all.Requests, all.Failed)), 0, auditVoid)...)
	}
	return out
}

// checkErrors relates failed requests to all: those that were completed, and those that were not because their connection failed.
func checkErrors(f *facts) []Reason {
	e := f.Errors
	failed := e.Sum() - e.Status - e.Body
	if failed == 0 {
		return nil
	}
	r := Reason{Code: Errors, Weight: Suspect, Scope: ScopeCell, Limit: f.rules.errorsVoid}
	r.Value = float64(failed) / float64(f.Requests+e.Connect+e.Read+e.Write)
	if f.Requests == 0 || r.Value > f.rules.errorsVoid {
		r.Weight, r.Value = Void, min(r.Value, 1)
	}
	return []Reason{r}
}

// StarvedVoid: a starved connection hides, since it adds one timeout where a served one adds thousands of requests. A server
// that answered 100 of 1,000 connections showed a few dozen timeouts, so they are related to the requests in flight, at one in a hundred.
const StarvedVoid = 0.01

func checkStarved(f *facts) []Reason {
	share := float64(f.Errors.Timeout) / float64(max(f.Level.InFlight(), 1))
	if share <= StarvedVoid {
		return nil
	}
	return []Reason{{Code: Starved, Weight: Void, Scope: ScopeCell, Value: share, Limit: StarvedVoid}}
}

// mixTolerance is by how much of itself the share of a request may differ from that of its weight, and mixShare by how much of all requests.
const mixTolerance, mixShare = 0.1, 0.02

// checkMix voids a cell whose requests were not made as their weights say. All cells begin at the same place of their order, so that one with few requests
// may lack the rare ones, and of two servers the slower one gets others than the faster one: their costs are those of different work then.
func checkMix(f *facts) []Reason {
	mix := f.Level.Mix
	if len(mix) == 0 || f.Requests == 0 {
		return nil
	}
	void := func(detail string) []Reason {
		return []Reason{{Code: OtherMix, Weight: Void, Scope: ScopeCell, Detail: detail}}
	}
	if len(f.ByRequest) != len(mix) {
		return void("the tool has not said how often it made each")
	}
	var made, weights float64
	for i, asked := range mix {
		made, weights = made+float64(f.ByRequest[i]), weights+float64(asked.Weight)
	}
	for i, asked := range mix {
		want, got := float64(asked.Weight)/weights, float64(f.ByRequest[i])/made
		if off := math.Abs(got - want); made == 0 || off > mixTolerance*want || off > mixShare {
			return void(fmt.Sprintf("%s: %d of %.0f, planned %.3g %%", asked.Key, f.ByRequest[i], made, 100*want))
		}
	}
	return nil
}

// checkProtocol voids a cell that was to be answered in HTTP/2 and was not, be it by a single answer: what it measured is in part another protocol. A tool
// that does not tell has told of none.
func checkProtocol(f *facts) []Reason {
	if f.Level.Protocol != record.HTTP2 || f.HTTP2 == f.Requests {
		return nil
	}
	return []Reason{{Code: OtherProtocol, Weight: Void, Scope: ScopeCell, Detail: fmt.Sprintf("HTTP/2: %d of %d", f.HTTP2, f.Requests)}}
}
