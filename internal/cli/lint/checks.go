package lint

import (
	"fmt"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/report/format"
)

type findings []Finding

func one(code validity.Code, weight validity.Validity, scope validity.Scope, sentence, fix string) findings {
	return findings{{Code: code, Weight: weight, Scope: scope, Sentence: sentence, Fix: fix}}
}

func (f findings) with(value, limit float64) findings {
	for i := range f {
		f[i].Value, f[i].Limit = value, limit
	}
	return f
}

func graded(code validity.Code, share float64, sentence, fix string) []Finding {
	f := one(code, validity.Suspect, ScopeSample, sentence, fix).with(share, failedVoid)
	if share > failedVoid {
		f[0].Weight = validity.Void
	}
	return f
}

func checkTool(s Sample) []Finding {
	switch {
	case s.Failed != "":
		return one(validity.ToolFailed, validity.Void, ScopeSample, fmt.Sprintf("%s printed no result: %s.", s.Tool, strings.TrimRight(s.Failed, ".")),
			"Fix the error and repeat the run. A failed run has no throughput, not a throughput of 0.")
	case s.Requests == 0:
		return one(validity.NoRequests, validity.Void, ScopeSample, "No request was completed.", "Check that the server listens and responds before you load it.")
	}
	return nil
}

func checkAborted(s Sample) []Finding {
	if s.Aborted == "" || s.Failed != "" {
		return nil
	}
	return one(Aborted, validity.Suspect, ScopeSample, fmt.Sprintf("%s ended the test early: %q.", s.Tool, s.Aborted),
		"Report why it ended. Do not compare it with runs of the full length.")
}

func checkUnread(s Sample) []Finding {
	if len(s.Unread) == 0 || s.Failed != "" {
		return nil
	}
	return one(UnreadValues, Note, ScopeSample, fmt.Sprintf("%s could not be read, and nothing is concluded from it: %q.", plural(int64(len(s.Unread)), "line"), s.Unread[0]),
		"Use the original output of a current version of the tool.")
}

// checkSecure checks TLS: no other count includes a connection that breaks there.
func checkSecure(s Sample) []Finding {
	if s.Failed != "" || s.Secure == 0 {
		return nil
	}
	share := min(float64(s.Secure)/float64(max(s.Requests, 1)), 1)
	return graded(TLSFailed, share, fmt.Sprintf("TLS failed on %s (%s of requests): the server closed them, or its handshake failed.",
		plural(s.Secure, "connection"), percent(share)),
		"Test one connection with openssl s_client. Use fewer connections if the server limits them.")
}

func checkDuration(s Sample) []Finding {
	if !s.Counted() || s.Seconds.Value <= 0 {
		return nil
	}
	const fix = "Measure for at least 5 s after a warm-up (wrk -d10s, ab -t 10 -n 100000000, k6 duration)."
	took := s.Seconds.Value
	switch {
	case took < voidSeconds:
		return one(validity.TooShort, validity.Void, ScopeSample, fmt.Sprintf("The run took only %s: it measured start-up, not load.", spell(took*1e6)), fix).with(took, voidSeconds)
	case s.AskedSeconds > 0 && s.Seconds.High() < cutShort*s.AskedSeconds:
		return one(validity.CutShort, validity.Void, ScopeSample, fmt.Sprintf("The run ended after %s of %s.", spell(took*1e6), spell(s.AskedSeconds*1e6)),
			"Find out why it ended early, and repeat it at full length.")
	case s.Seconds.High() < suspectSeconds:
		return one(validity.TooShort, validity.Suspect, ScopeSample, fmt.Sprintf("The run took only %s.", spell(took*1e6)), fix).with(took, suspectSeconds)
	}
	return nil
}

func checkRequests(s Sample) []Finding {
	if !s.Counted() || s.Requests >= fewRequests {
		return nil
	}
	return one(validity.TooFewRequests, validity.Suspect, ScopeSample, fmt.Sprintf("The run made only %s requests.", format.Integer(s.Requests)),
		"Measure longer: below 1,000 requests, chance alone changes the throughput by 3% or more.").with(float64(s.Requests), fewRequests)
}

// checkLabel compares what people wrote with the tool's label. Patterns read their text, so a difference only casts doubt.
func checkLabel(s Sample) []Finding {
	var out []Finding
	for _, c := range s.Claims {
		told := s.Told(c.What)
		if told == 0 || told == c.Value {
			continue
		}
		f := one(validity.WrongLabel, validity.Suspect, ScopeSample, fmt.Sprintf("%q says %s %s, but %s ran %s.", c.Where, number(c.Value), c.What, s.Tool, number(told)),
			"Use the number in the tool's output. The label describes a different measurement.").with(told, c.Value)
		out = append(out, f...)
	}
	return out
}

// checkStatus voids a sample with any error status: an error page is often faster than the real one.
func checkStatus(s Sample) []Finding {
	if !s.Counted() || s.Errors.Status == 0 {
		return nil
	}
	share := float64(s.Errors.Status) / float64(s.Requests)
	return one(validity.WrongStatus, validity.Void, ScopeSample, fmt.Sprintf("%s of %s responses (%s) had an error status.", format.Integer(s.Errors.Status), format.Integer(s.Requests), percent(share)),
		"The run measured an error page. Request the page with curl -i, fix it, and measure again.").with(share, 0)
}

// checkFailed relates unanswered requests to all. A share is printed in full, since 0.0985 % is below 0.1 %.
func checkFailed(s Sample) []Finding {
	failed := s.Errors.Sum() - s.Errors.Status - s.Errors.Body
	if s.Failed != "" || failed == 0 {
		return nil
	}
	share := min(float64(failed)/float64(max(s.Requests+s.Errors.Connect+s.Errors.Read+s.Errors.Write, 1)), 1)
	return graded(FailedRequests, share,
		fmt.Sprintf("%s requests (%s of all) failed: %s.", format.Integer(failed), percent(share), kinds(s))+said(s),
		"Report all errors together with the throughput. Above 0.1%, the load differs from the configured one.")
}

// said quotes what the tool printed of failed requests.
func said(s Sample) string {
	if len(s.Said) == 0 {
		return ""
	}
	quoted := make([]string, len(s.Said))
	for i, text := range s.Said {
		quoted[i] = fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf(" %s printed: %s.", s.Tool, strings.Join(quoted, ", "))
}

func kinds(s Sample) string {
	e := s.Errors
	var out []string
	for _, k := range []struct {
		name string
		n    int64
	}{{"connect", e.Connect}, {"read", e.Read}, {"write", e.Write}, {"timeout", e.Timeout}, {"unknown", e.Unsorted}} {
		if k.n > 0 {
			out = append(out, k.name+" "+format.Integer(k.n))
		}
	}
	return strings.Join(out, ", ")
}

func checkLength(s Sample) []Finding {
	if !s.Counted() || s.Errors.Body == 0 {
		return nil
	}
	share := min(float64(s.Errors.Body)/float64(s.Requests), 1)
	if s.EmptyFirst {
		return graded(WrongLength, share,
			fmt.Sprintf("The first response was empty, and ab counts the %s others (%s) as failed because they are not. Either the first was wrong, or the others are.",
				format.Integer(s.Errors.Body), percent(share)),
			"Request the page with curl -i to see its real length. ab -l would hide the difference.")
	}
	return graded(WrongLength, share,
		fmt.Sprintf("%s responses (%s) differed in length from the first.", format.Integer(s.Errors.Body), percent(share)),
		"If the length of the page varies, use ab -l. Otherwise the server sent something else.")
}

// checkStarved relates timeouts to connections, since a starved connection adds one where a served one adds thousands of requests.
func checkStarved(s Sample) []Finding {
	if s.Failed != "" || s.Errors.Timeout == 0 || s.Connections == 0 {
		return nil
	}
	share := float64(s.Errors.Timeout) / float64(s.Connections)
	if share <= starvedVoid {
		return nil
	}
	ofRequests := float64(s.Errors.Timeout) / float64(max(s.Requests, 1))
	return one(validity.Starved, validity.Void, ScopeSample,
		fmt.Sprintf("%s timeouts on %s (%s; only %s of requests): some connections got no response, and the latencies do not include their waiting time.",
			format.Integer(s.Errors.Timeout), plural(s.Connections, "connection"), percent(share), percent(ofRequests)),
		"Use fewer connections until there are no timeouts, or raise wrk's --timeout to measure the waiting time.").with(share, starvedVoid)
}

// checkScript looks at what k6's script itself found wrong.
func checkScript(s Sample) []Finding {
	var out []Finding
	if s.ChecksNone {
		out = one(NoChecks, validity.Suspect, ScopeSample, "The script has checks, and none was made: an exception or a condition skipped them. Thresholds of checks say nothing.",
			"Look for exceptions in k6's log, and add a threshold on the number of checks.")
	}
	if s.Threw != "" {
		out = append(out, one(ScriptThrew, validity.Suspect, ScopeSample, fmt.Sprintf("The script threw an exception: %q. What follows it in an iteration did not run.", s.Threw),
			"Fix the script. An iteration that ends early makes fewer requests and checks.")...)
	}
	if s.ChecksFailed > 0 {
		all := s.ChecksFailed + s.ChecksPassed
		share := float64(s.ChecksFailed) / float64(all)
		out = append(out, graded(ChecksFailed, share, fmt.Sprintf("%s of %s checks (%s) failed.", format.Integer(s.ChecksFailed), format.Integer(all), percent(share)),
			"The script says that responses are wrong: fix them before you measure their speed.")...)
	}
	if len(s.Crossed) > 0 {
		quoted := make([]string, len(s.Crossed))
		for i, c := range s.Crossed {
			quoted[i] = fmt.Sprintf("%q", c)
		}
		out = append(out, one(ThresholdsCrossed, Note, ScopeSample, "The run crossed thresholds of the script: "+strings.Join(util.Distinct(quoted), ", ")+".",
			"Report that the run missed its objectives.")...)
	}
	return out
}

// checkRate voids a load that did not arrive: no latency includes dropped requests.
func checkRate(s Sample) []Finding {
	a := s.Arrivals
	if s.Failed != "" || a == nil {
		return nil
	}
	missed := max(a.Asked-float64(a.Started), float64(a.Dropped))
	if missed <= 0 {
		return nil
	}
	share := missed / max(a.Asked, missed)
	sentence := fmt.Sprintf("%s of %s requested iterations (%s) did not start; %s of them were dropped because no virtual user was free.",
		number(missed), number(a.Asked), percent(share), format.Integer(a.Dropped))
	fix := "Raise maxVUs. If they still run out, the server cannot sustain the rate. The result is then the throughput that it reached."
	if s.Tool != K6 {
		sentence = fmt.Sprintf("%s of %s requests at the asked rate (%s) did not start: the generator, its connections or the server did not keep up.", number(missed), number(a.Asked), percent(share))
		fix = "Use more connections. If the rate is still missed, the result is the throughput that was reached."
	}
	f := one(RateNotReached, Note, ScopeSample, sentence, fix).with(share, missedShare)
	if missed > max(missedShare*a.Asked, missedStarts) {
		f[0].Weight = validity.Void
	}
	return f
}

func checkKept(s Sample) []Finding {
	if !s.Counted() || s.Reused == nil || *s.Reused >= s.Requests {
		return nil
	}
	share := float64(*s.Reused) / float64(s.Requests)
	f := one(NotKeptAlive, Note, ScopeSample, fmt.Sprintf("Keep-alive was requested, but only %s of %s requests (%s) reused a connection.", format.Integer(*s.Reused), format.Integer(s.Requests), percent(share)),
		"Enable keep-alive for HTTP/1.0 clients on the server, or use wrk, which uses HTTP/1.1.").with(share, keptShare)
	if share < keptShare {
		f[0].Weight = validity.Suspect
	}
	return f
}
