package record

import "loadstone.dev/loadstone/api/v1alpha1"

// caseMetrics are the metrics of cases that objectives bound, by the objective's word.
var caseMetrics = map[string]string{
	string(v1alpha1.ObjectiveCaseTime): "Time", string(v1alpha1.ObjectiveCaseBytes): "Bytes allocated", string(v1alpha1.ObjectiveCaseAllocations): "Allocations",
}

// CaseMetric is the metric of cases that an objective bounds, or bounds a ratio of; empty if it bounds something else.
func (o Objective) CaseMetric() string {
	if o.OfRows != "" {
		return o.OfRows
	}
	if o.Of != "" {
		return caseMetrics[string(o.Of)]
	}
	return caseMetrics[string(o.Metric)]
}

// Objective is a bound that a value has to meet, of each implementation that it names and at each level that it names.
type Objective struct {
	// Name is what people call it; empty if the spec gives none.
	Name   string                   `json:"name,omitempty"`
	Metric v1alpha1.ObjectiveMetric `json:"metric"`
	// Load, Connections and RequestsPerSecond name the levels; each that is empty or 0 names all of them.
	Load              string `json:"load,omitempty"`
	Connections       int32  `json:"connections,omitempty"`
	RequestsPerSecond int32  `json:"requestsPerSecond,omitempty"`
	// Case is the name of the cases, in which one * stands for any text; empty for all of them.
	Case string `json:"case,omitempty"`
	// Implementations are the names of those that have to meet the bound; all contenders if empty.
	Implementations []string `json:"implementations,omitempty"`
	// Percentile is that of a latency, such as "99".
	Percentile string `json:"percentile,omitempty"`
	// Of is the value of which a RatioToBaseline or a Regression is a ratio.
	Of v1alpha1.ComparedMetric `json:"of,omitempty"`
	// OfRows is the metric of rows of which a Regression is a ratio, by the name that the kind of work gives it. No spec has it and no record: it
	// is asked where runs are compared as a whole.
	OfRows string `json:"-"`
	// Against names the earlier runs of a Regression; nil otherwise.
	Against *Reference `json:"against,omitempty"`
	// Min and Max are the bounds in the metric's unit, in decimal; one of them is empty.
	Min string `json:"min,omitempty"`
	Max string `json:"max,omitempty"`
}

// Reference names earlier runs, and what ties them to this one.
type Reference struct {
	// Runs are the prefixes in the bucket under which the earlier runs lie.
	Runs []string `json:"runs"`
	// Anchor is the implementation that all runs have measured, of the same image.
	Anchor string `json:"anchor"`
}

// Claim is a statement about how an implementation was built, or about what it answers.
type Claim struct {
	Subject ClaimSubject `json:"subject"`
	Value   string       `json:"value"`
	// Path is what a claim about a Response asks for; empty of any other.
	Path string `json:"path,omitempty"`
	// Absent claims that it is not there.
	Absent bool `json:"absent,omitempty"`
}

// Reply is whether a server's answer to a GET, before any load, has a text in its body, as a claim says.
type Reply struct {
	Path  string `json:"path"`
	Text  string `json:"text"`
	There Fact   `json:"there"`
}

// Expected is a property of a build, with what is expected of it and what was found.
type Expected struct {
	// Field is its name in the API.
	Field string
	Want  Expectation
	Found Fact
}

// Expected sets what is expected of the build next to what was found, in the order of the fields.
func (b Build) Expected(e Expectations) []Expected {
	all := []Expected{
		{"optimized", e.Optimized, b.Optimized},
		{"debugInfo", e.DebugInfo, b.DebugInfo},
		{"coverage", e.Coverage, b.Coverage},
		{"sanitizers", e.Sanitizers, b.Sanitizers},
		{"assertions", e.Assertions, b.Assertions},
		{"stripped", e.Stripped, b.Stripped},
		{"pie", e.PIE, b.PIE},
		{"static", e.Static, b.Static},
	}
	var out []Expected
	for _, x := range all {
		if x.Want != "" {
			out = append(out, x)
		}
	}
	return out
}

// Missed reports whether the build is known to be otherwise.
func (x Expected) Missed() bool {
	return x.Want == ExpectRequired && x.Found.Is == No || x.Want == ExpectForbidden && x.Found.Is == Yes
}

// Open reports whether the file does not show it.
func (x Expected) Open() bool { return x.Found.Is != Yes && x.Found.Is != No }
