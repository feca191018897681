package record

import "loadstone.dev/loadstone/api/v1alpha1"

var caseMetrics = map[string]string{
	string(v1alpha1.ObjectiveCaseTime): "Time", string(v1alpha1.ObjectiveCaseBytes): "Bytes allocated", string(v1alpha1.ObjectiveCaseAllocations): "Allocations",
}

// CaseMetric returns the case metric that an objective bounds, directly or as a ratio; empty if none.
func (o Objective) CaseMetric() string {
	if o.OfRows != "" {
		return o.OfRows
	}
	if o.Of != "" {
		return caseMetrics[string(o.Of)]
	}
	return caseMetrics[string(o.Metric)]
}

// Objective is a bound on a value of the named implementations at the named levels.
type Objective struct {
	Name   string                   `json:"name,omitempty"`
	Metric v1alpha1.ObjectiveMetric `json:"metric"`
	// Load, Connections and RequestsPerSecond select levels; empty or 0 selects all.
	Load              string `json:"load,omitempty"`
	Connections       int32  `json:"connections,omitempty"`
	RequestsPerSecond int32  `json:"requestsPerSecond,omitempty"`
	// Case selects cases, with one * for any text; empty selects all.
	Case string `json:"case,omitempty"`
	// Implementations must meet the bound; default: all contenders.
	Implementations []string `json:"implementations,omitempty"`
	Percentile      string   `json:"percentile,omitempty"`
	// Of is the value behind a RatioToBaseline or Regression.
	Of v1alpha1.ComparedMetric `json:"of,omitempty"`
	// OfRows is the row metric of a Regression. It is only set when whole runs are compared, never in a spec or
	// record.
	OfRows string `json:"-"`
	// Grade is the certainty that a RatioToBaseline needs; empty means Proved.
	Grade v1alpha1.Grade `json:"grade,omitempty"`
	// Against names a Regression's earlier runs; nil otherwise.
	Against *Reference `json:"against,omitempty"`
	// Min and Max are decimal bounds in the metric's unit; one is empty.
	Min string `json:"min,omitempty"`
	Max string `json:"max,omitempty"`
}

// LeastEarlierRuns is how many earlier runs a Regression needs: the variation between them is its error.
const LeastEarlierRuns = 3

// Reference names earlier runs and their common anchor.
type Reference struct {
	// Runs are the earlier runs. Their UIDs identify them among the data of a run.
	Runs []v1alpha1.PastRun `json:"runs"`
	// Anchor is the implementation that all runs measured, with the same image.
	Anchor string `json:"anchor"`
}

// Claim is a statement about an implementation's build or answers.
type Claim struct {
	Subject ClaimSubject `json:"subject"`
	Value   string       `json:"value"`
	// Path is requested for a claim about a Response; empty otherwise.
	Path   string `json:"path,omitempty"`
	Absent bool   `json:"absent,omitempty"`
}

// Reply is whether a server's answer to a GET before any load contains a text.
type Reply struct {
	Path  string `json:"path"`
	Text  string `json:"text"`
	There Fact   `json:"there"`
}

// Expected is a build property with its expectation and finding.
type Expected struct {
	// Field is its name in the API.
	Field string
	Want  Expectation
	Found Fact
}

// Expected pairs expectations with findings, in field order.
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

// Missed reports whether the build is known to differ.
func (x Expected) Missed() bool {
	return x.Want == ExpectRequired && x.Found.Is == No || x.Want == ExpectForbidden && x.Found.Is == Yes
}

// Open reports whether the file does not show it.
func (x Expected) Open() bool { return x.Found.Is != Yes && x.Found.Is != No }
