package lint

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/internal/analysis/validity"
)

// Note is a finding's weight: the number is correct but needs an explanation. Void means that the number is false, Suspect that it is
// probably wrong or based on too little.
const Note validity.Validity = "Note"

// Codes of findings that a run does not have, too.
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
	Aborted            validity.Code = "Aborted"
	TLSFailed          validity.Code = "TLSFailed"
	NoChecks           validity.Code = "NoChecks"
	ScriptThrew        validity.Code = "ScriptThrew"
	UnreadValues       validity.Code = "UnreadValues"
	Pipelined          validity.Code = "Pipelined"
	Distributed        validity.Code = "Distributed"
	PartsMissing       validity.Code = "PartsMissing"
	PartsOrRepeats     validity.Code = "PartsOrRepeats"
	UnevenLatency      validity.Code = "UnevenLatency"
	AllAlike           validity.Code = "AllAlike"
	Warmup             validity.Code = "Warmup"
)

// What a finding concerns, where it is not the latencies alone.
const (
	// ScopeSample concerns all numbers of a sample.
	ScopeSample validity.Scope = "Sample"
	// ScopeComparison concerns conclusions from several samples only.
	ScopeComparison validity.Scope = "Comparison"
)

// Finding is one thing that is wrong, or must be known.
type Finding struct {
	Code   validity.Code     `json:"code"`
	Weight validity.Validity `json:"weight"`
	Scope  validity.Scope    `json:"scope"`
	// Samples are the indices of affected samples, ascending.
	Samples []int `json:"samples"`
	// Value was observed, Limit is allowed; both are 0 if the sentence says it all.
	Value float64 `json:"value,omitempty"`
	Limit float64 `json:"limit,omitempty"`
	// Sentence is the problem, Fix the remedy; both may quote untrusted text.
	Sentence string `json:"sentence"`
	Fix      string `json:"fix"`
}

// Report is what Analyse found.
type Report struct {
	Samples []Sample `json:"samples"`
	// Verdicts are by sample. Findings about comparisons do not change them.
	Verdicts []validity.Validity `json:"verdicts"`
	// Verdict is Void if no sample can be used, and Suspect with any finding above a note.
	Verdict  validity.Validity `json:"verdict"`
	Repeats  []Repeats         `json:"repeats"`
	Findings []Finding         `json:"findings"`
	Refusals []Refusal         `json:"refusals"`
	// NotKnowable lists, in sentences, the facts that no raw output contains.
	NotKnowable []string `json:"notKnowable"`
}

// sampleChecks check one sample each, independently. The caller adds its index to their findings.
var sampleChecks = []func(Sample) []Finding{
	checkTool, checkAborted, checkDuration, checkRequests, checkLabel, checkStatus, checkSecure, checkFailed, checkLength, checkStarved, checkScript, checkRate,
	checkKept, checkUnread, checkThroughput, checkStall, checkLittle, checkOrder, checkMean, checkSamples, checkResolution,
}

type set struct {
	samples []Sample
	// usable marks samples with a throughput that their own checks accept.
	usable []bool
	// twin is the index of the first sample that prints exactly the same; -1 if none.
	twin []int
}

var setChecks = []func(set) []Finding{
	checkErrorsWin, checkDuplicates, checkParts, checkRepeats, checkAlike, checkSaturation, checkWork, checkRound, checkMixed,
}

// Judge returns all findings, the gravest first.
func Judge(samples []Sample) []Finding {
	out := alone(samples)
	all := newSet(samples, out)
	for _, check := range setChecks {
		out = append(out, check(all)...)
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(gravity(a.Weight), gravity(b.Weight)) })
	return out
}

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
	all := set{samples: samples, usable: make([]bool, len(samples)), twin: twins(samples)}
	for i := range samples {
		s := &samples[i]
		all.usable[i] = s.Counted() && s.PerSecond() > 0
	}
	for _, f := range found {
		if f.Weight == validity.Void {
			all.usable[f.Samples[0]] = false
		}
	}
	return all
}

// Analyse judges samples and summarizes. Refusals list unreadable files and runs.
func Analyse(samples []Sample, refusals []Refusal) Report {
	r := Report{
		Samples: append([]Sample{}, samples...), Verdicts: make([]validity.Validity, len(samples)), Verdict: validity.Valid,
		Refusals: append([]Refusal{}, refusals...), Findings: Judge(samples), Repeats: newSet(samples, alone(samples)).repeats(), NotKnowable: notKnowable,
	}
	void := 0
	for i, d := range doubts(len(samples), r.Findings) {
		r.Verdicts[i] = d.verdict
		if d.verdict == validity.Void {
			void++
		}
	}
	switch {
	case void == len(samples) && void > 0:
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

type doubt struct {
	verdict validity.Validity
	// whole: more than its latencies are doubtful.
	whole bool
}

// doubts merges findings by sample. Findings on latency only make it suspect, since its throughput stands.
func doubts(samples int, findings []Finding) []doubt {
	out := slices.Repeat([]doubt{{verdict: validity.Valid}}, samples)
	for _, f := range findings {
		if f.Scope == ScopeComparison || f.Weight == Note {
			continue
		}
		for _, i := range f.Samples {
			d := &out[i]
			d.whole = d.whole || f.Scope == ScopeSample
			switch {
			case f.Weight == validity.Void && f.Scope == ScopeSample:
				d.verdict = validity.Void
			case d.verdict != validity.Void:
				d.verdict = validity.Suspect
			}
		}
	}
	return out
}

func gravity(w validity.Validity) int {
	return slices.Index([]validity.Validity{validity.Void, validity.Suspect, Note}, w)
}

// unseen is notKnowable in a line; docs/how-to/analyze.md has the list.
const unseen = "Raw output does not show other CPU use, order and warm-up of the runs, or whether responses were correct (docs/how-to/analyze.md)."

// notKnowable is the same for all tools; docs/how-to/analyze.md quotes it.
var notKnowable = []string{
	"Whether the generator had idle CPU. If it limited the throughput, the result compares generators.",
	"How much CPU time the server used, and which CPUs server and generator used.",
	"Other programs on the machine, throttling by a quota, and CPU time that the hypervisor took (steal).",
	"The order of the runs, their warm-up, and whether each used a new process.",
	"Whether the responses were correct: status and length do not prove it.",
	"How the servers were built, and which machine they ran on.",
}
