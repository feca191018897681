package validity

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
