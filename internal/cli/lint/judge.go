package lint

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
)

// Note is the weight of a finding beside those of a run: the number stands, and something about it must be known. Void means that the
// number is not what it claims to be, and Suspect that it is probably another, or rests on too little.
const Note validity.Validity = "Note"

// The codes of findings that a run does not know as well; the sentence of each finding says more.
const (
	FailedRequests     validity.Code = "FailedRequests"
	WrongLength        validity.Code = "WrongLength"
	ChecksFailed       validity.Code = "ChecksFailed"
	ThresholdsCrossed  validity.Code = "ThresholdsCrossed"
	RateNotReached     validity.Code = "RateNotReached"
	NotKeptAlive       validity.Code = "NotKeptAlive"
	ThroughputMismatch validity.Code = "ThroughputMismatch"
	Impossible         validity.Code = "Impossible"
	Inflated           validity.Code = "Inflated"
	Stalled            validity.Code = "Stalled"
	MeanAboveP99       validity.Code = "MeanAboveP99"
	UnaccountedTime    validity.Code = "UnaccountedTime"
	OutOfOrder         validity.Code = "OutOfOrder"
	TooFewSamples      validity.Code = "TooFewSamples"
	CoarseLatency      validity.Code = "CoarseLatency"
	ErrorsWin          validity.Code = "ErrorsWin"
	Duplicate          validity.Code = "Duplicate"
	NoRepeats          validity.Code = "NoRepeats"
	FewRepeats         validity.Code = "FewRepeats"
	Spread             validity.Code = "Spread"
	Saturated          validity.Code = "Saturated"
	UnequalWork        validity.Code = "UnequalWork"
	RoundNumbers       validity.Code = "RoundNumbers"
	MixedLatencies     validity.Code = "MixedLatencies"
)

// What a finding concerns, where it is not the latencies alone.
const (
	// ScopeSample concerns all numbers of the samples.
	ScopeSample validity.Scope = "Sample"
	// ScopeComparison concerns what is concluded from several samples, and none of them alone.
	ScopeComparison validity.Scope = "Comparison"
)

// Finding is one thing that is wrong, or must be known.
type Finding struct {
	Code   validity.Code     `json:"code"`
	Weight validity.Validity `json:"weight"`
	Scope  validity.Scope    `json:"scope"`
	// Samples are the indices of the samples that it concerns, ascending.
	Samples []int `json:"samples"`
	// Value and Limit are what was seen and what is let pass; both are 0 where the sentence says it all.
	Value float64 `json:"value,omitempty"`
	Limit float64 `json:"limit,omitempty"`
	// Sentence is what is wrong, Fix what to do; both may quote untrusted text of the files.
	Sentence string `json:"sentence"`
	Fix      string `json:"fix"`
}

// Report is what Analyse found.
type Report struct {
	Samples []Sample `json:"samples"`
	// Verdicts are those of the samples, in their order. A finding about a comparison leaves a sample's verdict as it is.
	Verdicts []validity.Validity `json:"verdicts"`
	// Verdict is that of the set: validity.Void if no sample can be used, validity.Suspect if there is any finding above a note.
	Verdict  validity.Validity `json:"verdict"`
	Repeats  []Repeats         `json:"repeats"`
	Findings []Finding         `json:"findings"`
	// NotKnowable lists, in sentences, what no raw output of a tool tells.
	NotKnowable []string `json:"notKnowable"`
}

// sampleChecks look at one sample alone; each is safe alone and knows nothing of the others. What they find gets its index here.
var sampleChecks = []func(Sample) []Finding{
	checkTool, checkDuration, checkRequests, checkLabel, checkStatus, checkFailed, checkLength, checkStarved, checkScript, checkRate,
	checkKept, checkThroughput, checkStall, checkLittle, checkOrder, checkMean, checkSamples, checkResolution,
}

// set is all samples together, with what was found out about each alone.
type set struct {
	samples []Sample
	// usable says of each sample that it has a throughput which its own checks let stand.
	usable []bool
}

// setChecks look at all samples together.
var setChecks = []func(set) []Finding{
	checkErrorsWin, checkDuplicates, checkRepeats, checkSaturation, checkWork, checkRound, checkMixed,
}

// Judge returns what of the samples cannot be believed, the gravest first.
func Judge(samples []Sample) []Finding {
	out := alone(samples)
	all := newSet(samples, out)
	for _, check := range setChecks {
		out = append(out, check(all)...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(gravity(a.Weight), gravity(b.Weight)) })
	return out
}

// alone is what is found in each sample alone, check by check.
func alone(samples []Sample) []Finding {
	out := []Finding{}
	for _, check := range sampleChecks {
		for i, s := range samples {
			for _, f := range check(s) {
				f.Samples = []int{i}
				out = append(out, f)
			}
		}
	}
	return out
}

func newSet(samples []Sample, found []Finding) set {
	all := set{samples: samples, usable: make([]bool, len(samples))}
	for i, s := range samples {
		all.usable[i] = s.Counted() && s.PerSecond() > 0
	}
	for _, f := range found {
		if f.Weight == validity.Void {
			all.usable[f.Samples[0]] = false
		}
	}
	return all
}

// Analyse judges samples and sums up.
func Analyse(samples []Sample) Report {
	r := Report{
		Samples: samples, Verdicts: make([]validity.Validity, len(samples)), Verdict: validity.Valid,
		Findings: Judge(samples), Repeats: newSet(samples, alone(samples)).repeats(), NotKnowable: notKnowable,
	}
	void := 0
	for i := range samples {
		r.Verdicts[i] = sampleVerdict(i, r.Findings)
		if r.Verdicts[i] == validity.Void {
			void++
		}
	}
	switch {
	case void == len(samples):
		r.Verdict = validity.Void
	case slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Weight != Note }):
		r.Verdict = validity.Suspect
	}
	return r
}

// validity.Void is the number of samples that are void.
func (r Report) Void() int {
	n := 0
	for _, v := range r.Verdicts {
		if v == validity.Void {
			n++
		}
	}
	return n
}

// sampleVerdict is that of one sample. What was said of its latency alone makes it suspect, since its throughput stands.
func sampleVerdict(sample int, findings []Finding) validity.Validity {
	out := validity.Valid
	for _, f := range findings {
		if f.Scope == ScopeComparison || !slices.Contains(f.Samples, sample) {
			continue
		}
		switch {
		case f.Weight == validity.Void && f.Scope == ScopeSample:
			return validity.Void
		case f.Weight != Note:
			out = validity.Suspect
		}
	}
	return out
}

func gravity(w validity.Validity) int {
	return slices.Index([]validity.Validity{validity.Void, validity.Suspect, Note}, w)
}

// unseen is notKnowable in a line; docs/how-to/analyze.md has the list.
const unseen = "Raw output does not show other CPU use, order and warm-up of the runs, or whether responses were correct (docs/how-to/analyze.md)."

// notKnowable is the same for all raw outputs of all three tools; docs/how-to/analyze.md lists it word by word.
var notKnowable = []string{
	"Whether the generator had idle CPU. If it limited the throughput, the result compares generators.",
	"How much CPU time the server used, and which CPUs server and generator used.",
	"What else ran on the machine, whether a quota throttled the server, and how much CPU time the hypervisor took (steal).",
	"The order of the runs, their warm-up, and whether each used a new process.",
	"Whether the responses were correct: status and length do not prove it.",
	"How the servers were built, and which machine they ran on.",
}
