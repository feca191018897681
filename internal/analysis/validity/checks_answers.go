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

// checkBody voids a cell with any wrong body: a shorter answer is less work.
func checkBody(f *facts) []Reason {
	if f.Errors.Body == 0 {
		return nil
	}
	return []Reason{{Code: WrongBody, Weight: Void, Scope: ScopeCell, Value: float64(f.Errors.Body)}}
}

// auditVoid: an audit that failed for the most part has seen too few answers.
const auditVoid = 0.5

// checkAudit looks at what the agents saw of the warm-up's answers. A missing answer only marks the cell: the audit
// sends few requests under a load that may fill every queue.
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

// checkErrors relates failed requests to all requests, including those lost with their connection.
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

// StarvedVoid: a starved connection hides, since it adds one timeout where a served one adds thousands of requests. A
// server that answered 100 of 1,000 connections showed a few dozen timeouts. So timeouts are related to the requests
// in flight, at one in a hundred.
const StarvedVoid = 0.01

func checkStarved(f *facts) []Reason {
	share := float64(f.Errors.Timeout) / float64(max(f.Level.InFlight(), 1))
	if share <= StarvedVoid {
		return nil
	}
	return []Reason{{Code: Starved, Weight: Void, Scope: ScopeCell, Value: share, Limit: StarvedVoid}}
}

// mixTolerance is the allowed difference of a request's share from its weight, relative to that share; mixShare is
// the same relative to all requests.
const mixTolerance, mixShare = 0.1, 0.02

// checkMix voids a cell whose requests do not match the weights. All cells begin at the same place of the order, so a
// cell with few requests may lack the rare ones.
func checkMix(f *facts) []Reason {
	mix := f.Level.Mix
	if len(mix) == 0 || f.Requests == 0 {
		return nil
	}
	void := func(detail string) []Reason {
		return []Reason{{Code: OtherMix, Weight: Void, Scope: ScopeCell, Detail: detail}}
	}
	if len(f.ByRequest) != len(mix) {
		return void("the tool did not report a count for each")
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

// checkProtocol voids a cell if a single answer was not in the HTTP/2 that it asked for. A tool that does not report
// the protocol counts as none.
func checkProtocol(f *facts) []Reason {
	if f.Level.Protocol != record.HTTP2 || f.HTTP2 == f.Requests {
		return nil
	}
	return []Reason{{Code: OtherProtocol, Weight: Void, Scope: ScopeCell, Detail: fmt.Sprintf("HTTP/2: %d of %d", f.HTTP2, f.Requests)}}
}
