package v1alpha1

// ObjectiveMetric is the measured value that an objective bounds.
// +kubebuilder:validation:Enum=Throughput;LatencyPercentile;MeanLatency;ErrorRate;ServerCPUPerRequest;ServerCPUs;PeakMemory;RatioToBaseline;Regression;Capacity;CaseTime;CaseBytes;CaseAllocations
type ObjectiveMetric string

const (
	// ObjectiveThroughput is completed requests per second (mean over blocks).
	ObjectiveThroughput ObjectiveMetric = "Throughput"
	// ObjectiveLatencyPercentile is a latency percentile over all blocks, in microseconds.
	ObjectiveLatencyPercentile ObjectiveMetric = "LatencyPercentile"
	// ObjectiveMeanLatency is the mean latency in microseconds (mean over blocks).
	ObjectiveMeanLatency ObjectiveMetric = "MeanLatency"
	// ObjectiveErrorRate is the share of failed requests from 0 to 1, including void cells.
	ObjectiveErrorRate ObjectiveMetric = "ErrorRate"
	// ObjectiveServerCPUPerRequest is the server's CPU time per request in microseconds (mean over blocks).
	ObjectiveServerCPUPerRequest ObjectiveMetric = "ServerCPUPerRequest"
	// ObjectiveServerCPUs is the number of CPUs that the server uses (mean over blocks).
	ObjectiveServerCPUs ObjectiveMetric = "ServerCPUs"
	// ObjectivePeakMemory is the server's largest resident memory in bytes (mean over blocks).
	ObjectivePeakMemory ObjectiveMetric = "PeakMemory"
	// ObjectiveRatioToBaseline is the ratio to the baseline's value, block by block.
	ObjectiveRatioToBaseline ObjectiveMetric = "RatioToBaseline"
	// ObjectiveRegression is the ratio to the anchor's value, divided by the same ratio of earlier runs.
	ObjectiveRegression ObjectiveMetric = "Regression"
	// ObjectiveCapacity is the highest arrival rate within the bound of a search, in requests per second (geometric mean over blocks).
	ObjectiveCapacity ObjectiveMetric = "Capacity"
	// ObjectiveCaseTime is the time per operation of a case in nanoseconds (mean over processes).
	ObjectiveCaseTime ObjectiveMetric = "CaseTime"
	// ObjectiveCaseBytes is the allocated bytes per operation of a case (mean over processes).
	ObjectiveCaseBytes ObjectiveMetric = "CaseBytes"
	// ObjectiveCaseAllocations is the number of allocations per operation of a case (mean over processes).
	ObjectiveCaseAllocations ObjectiveMetric = "CaseAllocations"
)

// ComparedMetric is the measured value that a RatioToBaseline or a Regression compares.
// +kubebuilder:validation:Enum=Throughput;ServerCPUPerRequest;LatencyPercentile;CaseTime;CaseBytes;CaseAllocations
type ComparedMetric string

const (
	// ComparedThroughput is completed requests per second.
	ComparedThroughput ComparedMetric = "Throughput"
	// ComparedServerCPUPerRequest is the server's CPU time per request.
	ComparedServerCPUPerRequest ComparedMetric = "ServerCPUPerRequest"
	// ComparedLatencyPercentile is the latency percentile that the objective names.
	ComparedLatencyPercentile ComparedMetric = "LatencyPercentile"
	// ComparedCaseTime is the time per operation of a case.
	ComparedCaseTime ComparedMetric = "CaseTime"
	// ComparedCaseBytes is the allocated bytes per operation of a case.
	ComparedCaseBytes ComparedMetric = "CaseBytes"
	// ComparedCaseAllocations is the number of allocations per operation of a case.
	ComparedCaseAllocations ComparedMetric = "CaseAllocations"
)

// PastRun identifies an earlier run in the same namespace by values of its BenchmarkRun. They remain valid after the BenchmarkRun is deleted.
type PastRun struct {
	// name is metadata.name of the run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')",message="name must be the name of a BenchmarkRun"
	Name string `json:"name,omitempty"`

	// uid is metadata.uid of the run.
	// +required
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-f-]+$')",message="uid must be metadata.uid of a BenchmarkRun"
	UID string `json:"uid,omitempty"`

	// prefix is spec.artifacts.prefix of the run, if set.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+([/.][A-Za-z0-9_-]+)*$')",message="prefix must be spec.artifacts.prefix of a BenchmarkRun"
	Prefix string `json:"prefix,omitempty"`

	// manifestSHA256 is status.report.manifestSHA256 of the run. Records with another digest are refused.
	// +required
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-f]+$')",message="manifestSHA256 must be status.report.manifestSHA256 of a BenchmarkRun"
	ManifestSHA256 string `json:"manifestSHA256,omitempty"`
}

// Earlier identifies earlier runs and the anchor that links them to this run. A difference must exceed the spread
// between them. With fewer than three runs that spread is unknown, and the objective is undecided.
// +kubebuilder:validation:XValidation:rule="has(self.runs) != has(self.lastGood)",message="against needs either runs or lastGood: name earlier runs, or set the number of good rounds to compare with"
type Earlier struct {
	// runs are earlier runs in the same namespace; at most 20.
	// +optional
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Runs []PastRun `json:"runs,omitempty"`

	// lastGood is the number of last good rounds of the BenchmarkSuite to compare with, from 3 to 20. Only for templates of a suite. In each
	// round the run of the same template is used. With fewer good rounds, those are used. Before the third good round the objective is left
	// out; plan and round say so.
	// +optional
	// +kubebuilder:validation:Minimum=3
	// +kubebuilder:validation:Maximum=20
	LastGood int32 `json:"lastGood,omitempty"`

	// anchor is an implementation that all runs measured with the same image. Machines drift, so values of different days are compared as
	// ratios to it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Anchor string `json:"anchor,omitempty"`
}

// Grade is how certain a decision must be.
// +kubebuilder:validation:Enum=Proved;Indicated
type Grade string

// Grades.
const (
	// GradeProved: only cells within every limit of noise count.
	GradeProved Grade = "Proved"
	// GradeIndicated: cells beyond the limits count, too, with intervals as much wider as others' use of the CPUs may have changed them.
	GradeIndicated Grade = "Indicated"
)

// Objective is a bound for a measured value, for each selected implementation at each selected level. It is Met if the whole 99% interval is
// on the right side of the bound, Missed if it is on the wrong side, and Undecided otherwise. A run succeeds only if every objective is Met.
// +kubebuilder:validation:XValidation:rule="has(self.min) != has(self.max)",message="an objective needs either min or max: give a range as two objectives"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'LatencyPercentile' || (has(self.of) && self.of == 'LatencyPercentile')) == has(self.percentile)",message="percentile is required for LatencyPercentile (metric or of) and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'RatioToBaseline' || self.metric == 'Regression') == has(self.of)",message="of is required for metrics RatioToBaseline and Regression, and forbidden otherwise: it selects the compared value"
// +kubebuilder:validation:XValidation:rule="!has(self.grade) || self.metric == 'RatioToBaseline'",message="grade is only for RatioToBaseline: remove it"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'Regression') == has(self.against)",message="against is required for metric Regression and forbidden otherwise: name the earlier runs there"
// +kubebuilder:validation:XValidation:rule="!has(self.connections) || has(self.load)",message="connections needs load: name the load of the levels"
// +kubebuilder:validation:XValidation:rule="!has(self.requestsPerSecond) || has(self.load)",message="requestsPerSecond needs load: name the load of the levels"
// +kubebuilder:validation:XValidation:rule="self.metric != 'Capacity' || (has(self.load) && has(self.min) && !has(self.connections) && !has(self.requestsPerSecond))",message="metric Capacity needs load (one with search) and min, and neither connections nor requestsPerSecond"
// +kubebuilder:validation:XValidation:rule="!has(self.case) || self.metric.startsWith('Case') || (has(self.of) && self.of.startsWith('Case'))",message="case is only for CaseTime, CaseBytes and CaseAllocations (metric or of): remove it, or bound one of these"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !(self.metric.startsWith('Case') || (has(self.of) && self.of.startsWith('Case')))",message="load does not apply to CaseTime, CaseBytes and CaseAllocations: name a case"
type Objective struct {
	// name is the display name. Default: metric and level.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// metric is the value that min or max bounds. Units: Throughput and Capacity requests/s; LatencyPercentile, MeanLatency and
	// ServerCPUPerRequest microseconds; ErrorRate a share from 0 to 1; ServerCPUs CPUs; PeakMemory and CaseBytes bytes; CaseTime nanoseconds;
	// CaseAllocations a number; RatioToBaseline and Regression a plain ratio.
	// +required
	Metric ObjectiveMetric `json:"metric,omitempty"`

	// load is the name of the load. For a load with search, bound its Capacity: the steps of a search are not levels. Default: all loads.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load,omitempty"`

	// connections selects levels by their number of connections. Default: all levels.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=400000
	Connections int32 `json:"connections,omitempty"`

	// requestsPerSecond selects levels by their arrival rate. Default: all levels.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`

	// case selects the cases of a microbenchmark by name; one * matches any text. A case that an implementation lacks is undecided. Default:
	// all cases that have the value in at least one implementation.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Case string `json:"case,omitempty"`

	// implementations must meet the bound. Default: all contenders; for ratios, without the baseline or anchor.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=20
	Implementations []string `json:"implementations,omitempty"`

	// percentile is the percentile of LatencyPercentile (metric or of): 50, 90, 95, 99 or 99.9.
	// +optional
	// +kubebuilder:validation:Enum="50";"90";"95";"99";"99.9"
	Percentile string `json:"percentile,omitempty"`

	// of is the value that RatioToBaseline and Regression compare.
	// +optional
	Of ComparedMetric `json:"of,omitempty"`

	// grade is how certain the decision of a RatioToBaseline must be. Indicated permits one on a busy machine, where cells are void because
	// of others. Default: Proved.
	// +optional
	Grade Grade `json:"grade,omitempty"`

	// against are the earlier runs of a Regression.
	// +optional
	Against Earlier `json:"against,omitzero"`

	// min is the lower bound, in the unit of the metric, such as "17000" or "0.95".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?$')",message="min must be a decimal number such as \"17000\" or \"0.95\""
	Min string `json:"min,omitempty"`

	// max is the upper bound, in the unit of the metric, such as "5000" or "0.001".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?$')",message="max must be a decimal number such as \"5000\" or \"0.001\""
	Max string `json:"max,omitempty"`
}
