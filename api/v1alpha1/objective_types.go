package v1alpha1

// ObjectiveMetric is the measured value that an objective bounds.
// +kubebuilder:validation:Enum=Throughput;LatencyPercentile;MeanLatency;ErrorRate;ServerCPUPerRequest;ServerCPUs;PeakMemory;RatioToBaseline;Regression;Capacity;CaseTime;CaseBytes;CaseAllocations
type ObjectiveMetric string

const (
	// ObjectiveThroughput is completed requests per second, as the mean over blocks.
	ObjectiveThroughput ObjectiveMetric = "Throughput"
	// ObjectiveLatencyPercentile is a percentile of the latencies of all blocks together, in microseconds.
	ObjectiveLatencyPercentile ObjectiveMetric = "LatencyPercentile"
	// ObjectiveMeanLatency is the mean latency in microseconds, as the mean over blocks.
	ObjectiveMeanLatency ObjectiveMetric = "MeanLatency"
	// ObjectiveErrorRate is the share of failed requests among all requests, from 0 to 1, void cells included.
	ObjectiveErrorRate ObjectiveMetric = "ErrorRate"
	// ObjectiveServerCPUPerRequest is the server's CPU time per request in microseconds, as the mean over blocks.
	ObjectiveServerCPUPerRequest ObjectiveMetric = "ServerCPUPerRequest"
	// ObjectiveServerCPUs is the number of CPUs that the server uses, as the mean over blocks.
	ObjectiveServerCPUs ObjectiveMetric = "ServerCPUs"
	// ObjectivePeakMemory is the server's largest resident memory in bytes, as the mean over blocks.
	ObjectivePeakMemory ObjectiveMetric = "PeakMemory"
	// ObjectiveRatioToBaseline is the ratio of the implementation's value to the baseline's, block by block.
	ObjectiveRatioToBaseline ObjectiveMetric = "RatioToBaseline"
	// ObjectiveRegression is the ratio of the implementation's value to the anchor's, divided by the same ratio of earlier runs.
	ObjectiveRegression ObjectiveMetric = "Regression"
	// ObjectiveCapacity is the highest arrival rate at which the search of a load met its bound, in requests per second, as the geometric
	// mean over blocks.
	ObjectiveCapacity ObjectiveMetric = "Capacity"
	// ObjectiveCaseTime is the time of one operation of a case in nanoseconds (metric Time), as the mean over processes.
	ObjectiveCaseTime ObjectiveMetric = "CaseTime"
	// ObjectiveCaseBytes is the memory that one operation of a case allocates, in bytes (metric Bytes allocated), as the mean over processes.
	ObjectiveCaseBytes ObjectiveMetric = "CaseBytes"
	// ObjectiveCaseAllocations is the number of allocations of one operation of a case (metric Allocations), as the mean over processes.
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
	// ComparedCaseTime is the time of one operation of a case.
	ComparedCaseTime ComparedMetric = "CaseTime"
	// ComparedCaseBytes is the memory that one operation of a case allocates.
	ComparedCaseBytes ComparedMetric = "CaseBytes"
	// ComparedCaseAllocations is the number of allocations of one operation of a case.
	ComparedCaseAllocations ComparedMetric = "CaseAllocations"
)

// Earlier identifies earlier runs, and the implementation that links them to this run. With three or more runs, a difference must exceed the
// spread between them; with fewer, only the spread within the runs is known, and the report states it.
// +kubebuilder:validation:XValidation:rule="has(self.runs) != has(self.lastGood)",message="against needs either runs or lastGood: name earlier runs, or say with how many of its last good rounds a suite compares"
type Earlier struct {
	// runs are the object-store prefixes of the earlier runs, such as "bench/quick-0c9f3f11": the part of status.report.uri between the
	// bucket and "/reports/". The runs must be of the same namespace. At most 20.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[A-Za-z0-9_-]+([/.][A-Za-z0-9_-]+)*$')",message="each of runs must be a key prefix in the bucket, such as PREFIX/NAMESPACE/NAME-UID8, without a slash at either end"
	Runs []string `json:"runs,omitempty"`

	// lastGood is with how many of the last good rounds of a BenchmarkSuite each round is compared: with the run that each of them made of the same
	// template, by its name. It is for templates of a suite only. As long as there are fewer, the round is compared with those that there are. Before the
	// first good round there is nothing to compare with: the objective is left out, and the plan and the round say so. From 1 to 20.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	LastGood int32 `json:"lastGood,omitempty"`

	// anchor is the name of the implementation that all runs measured with the same image. Machines drift: values of different days are
	// comparable only as ratios to the same implementation.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Anchor string `json:"anchor,omitempty"`
}

// Objective is a bound that a measured value must meet, for each selected implementation at each selected level. An objective is Met if
// the whole 99 % interval of the value lies on the right side of the bound, Missed if it lies on the wrong side, and Undecided otherwise.
// A run succeeds only if every objective is Met.
// +kubebuilder:validation:XValidation:rule="has(self.min) != has(self.max)",message="an objective needs either min or max: give a range as two objectives"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'LatencyPercentile' || (has(self.of) && self.of == 'LatencyPercentile')) == has(self.percentile)",message="percentile belongs to LatencyPercentile, as metric or in of, which needs it"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'RatioToBaseline' || self.metric == 'Regression') == has(self.of)",message="of is required for metrics RatioToBaseline and Regression, and forbidden otherwise: it selects the value of which the ratio is"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'Regression') == has(self.against)",message="against belongs to metric Regression, which needs it: it says which runs are the earlier ones"
// +kubebuilder:validation:XValidation:rule="!has(self.connections) || has(self.load)",message="connections needs load: name the load whose levels are meant"
// +kubebuilder:validation:XValidation:rule="!has(self.requestsPerSecond) || has(self.load)",message="requestsPerSecond needs load: name the load whose levels are meant"
// +kubebuilder:validation:XValidation:rule="self.metric != 'Capacity' || (has(self.load) && has(self.min) && !has(self.connections) && !has(self.requestsPerSecond))",message="metric Capacity needs load and min, and neither connections nor requestsPerSecond: name a load with search and the least rate that it must find"
// +kubebuilder:validation:XValidation:rule="!has(self.case) || self.metric.startsWith('Case') || (has(self.of) && self.of.startsWith('Case'))",message="case belongs to CaseTime, CaseBytes and CaseAllocations, as metric or in of: leave it out, or bound one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.load) || !(self.metric.startsWith('Case') || (has(self.of) && self.of.startsWith('Case')))",message="load does not apply to CaseTime, CaseBytes and CaseAllocations: name a case"
type Objective struct {
	// name is the display name of the objective. Defaults to metric and level.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// metric is the measured value that min or max bounds. The unit is requests/s for Throughput and Capacity; microseconds for
	// LatencyPercentile, MeanLatency and ServerCPUPerRequest; a share from 0 to 1 for ErrorRate; CPUs for ServerCPUs; bytes for
	// PeakMemory; nanoseconds for CaseTime; bytes for CaseBytes; a number for CaseAllocations; and a plain ratio for RatioToBaseline
	// and Regression.
	// +required
	Metric ObjectiveMetric `json:"metric,omitempty"`

	// load is the name of the load. The steps of a search are not levels: for a load with search, bound its Capacity. Defaults to all
	// loads.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load,omitempty"`

	// connections selects the levels with that number of connections. Defaults to all levels.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=400000
	Connections int32 `json:"connections,omitempty"`

	// requestsPerSecond selects the levels with that arrival rate. Defaults to all levels.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`

	// case selects the cases of a microbenchmark by their name, in which one * stands for any text. Defaults to all cases that have the
	// value in some implementation. One that an implementation lacks is undecided.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Case string `json:"case,omitempty"`

	// implementations are the names of the implementations that must meet the bound. Defaults to all contenders; for ratios, to all
	// contenders except the baseline or the anchor.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=20
	Implementations []string `json:"implementations,omitempty"`

	// percentile is the percentile of LatencyPercentile, in metric or in of: 50, 90, 95, 99 or 99.9.
	// +optional
	// +kubebuilder:validation:Enum="50";"90";"95";"99";"99.9"
	Percentile string `json:"percentile,omitempty"`

	// of is the measured value that RatioToBaseline and Regression compare.
	// +optional
	Of ComparedMetric `json:"of,omitempty"`

	// against identifies the earlier runs of a Regression.
	// +optional
	Against Earlier `json:"against,omitzero"`

	// min is the lower bound of the value, a decimal number such as "17000" or "0.95" in the unit of the metric.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?$')",message="min must be a decimal number such as \"17000\" or \"0.95\""
	Min string `json:"min,omitempty"`

	// max is the upper bound of the value, a decimal number such as "5000" or "0.001" in the unit of the metric.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?$')",message="max must be a decimal number such as \"5000\" or \"0.001\""
	Max string `json:"max,omitempty"`
}
