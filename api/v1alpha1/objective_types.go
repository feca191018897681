package v1alpha1

// ObjectiveMetric names the figure that an objective bounds.
// +kubebuilder:validation:Enum=Throughput;LatencyPercentile;MeanLatency;ErrorRate;ServerCPUPerRequest;ServerCPUs;PeakMemory;RatioToBaseline;Regression;Capacity
type ObjectiveMetric string

const (
	// ObjectiveThroughput is completed requests per second, as the mean over blocks.
	ObjectiveThroughput ObjectiveMetric = "Throughput"
	// ObjectiveLatencyPercentile is a percentile of the latencies of all blocks together, in microseconds.
	ObjectiveLatencyPercentile ObjectiveMetric = "LatencyPercentile"
	// ObjectiveMeanLatency is the mean latency in microseconds, as the mean over blocks.
	ObjectiveMeanLatency ObjectiveMetric = "MeanLatency"
	// ObjectiveErrorRate is the share of all requests that failed, from 0 to 1, void cells included.
	ObjectiveErrorRate ObjectiveMetric = "ErrorRate"
	// ObjectiveServerCPUPerRequest is the server's CPU time per request in microseconds, as the mean over blocks.
	ObjectiveServerCPUPerRequest ObjectiveMetric = "ServerCPUPerRequest"
	// ObjectiveServerCPUs is the number of CPUs that the server used, as the mean over blocks.
	ObjectiveServerCPUs ObjectiveMetric = "ServerCPUs"
	// ObjectivePeakMemory is the server's largest resident memory in bytes, as the mean over blocks.
	ObjectivePeakMemory ObjectiveMetric = "PeakMemory"
	// ObjectiveRatioToBaseline is the implementation's figure over the baseline's, block by block.
	ObjectiveRatioToBaseline ObjectiveMetric = "RatioToBaseline"
	// ObjectiveRegression is the implementation's figure over the anchor's, over the same ratio of earlier runs.
	ObjectiveRegression ObjectiveMetric = "Regression"
	// ObjectiveCapacity is the highest arrival rate at which a load's search kept its bound, in requests per second, as the geometric
	// mean over blocks.
	ObjectiveCapacity ObjectiveMetric = "Capacity"
)

// ComparedMetric names the figure of which a RatioToBaseline or a Regression is a ratio.
// +kubebuilder:validation:Enum=Throughput;ServerCPUPerRequest;LatencyPercentile
type ComparedMetric string

const (
	// ComparedThroughput is completed requests per second.
	ComparedThroughput ComparedMetric = "Throughput"
	// ComparedServerCPUPerRequest is the server's CPU time per request.
	ComparedServerCPUPerRequest ComparedMetric = "ServerCPUPerRequest"
	// ComparedLatencyPercentile is the percentile of the latency that the objective names.
	ComparedLatencyPercentile ComparedMetric = "LatencyPercentile"
)

// Earlier names earlier runs, and what ties them to this one.
type Earlier struct {
	// runs are where everything of each earlier run lies in the bucket, such as "bench/quick-0c9f3f11": what stands in its report's
	// address between the bucket and "/reports/". The runs must be of the same namespace. With three or more, the spread between them is
	// the error that a difference must exceed; with fewer, only the spread within the runs is known, and the report says so.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[A-Za-z0-9_-]+([/.][A-Za-z0-9_-]+)*$')",message="each of runs must be a key prefix in the bucket, such as PREFIX/NAMESPACE/NAME-UID8, without a slash at either end"
	Runs []string `json:"runs"`

	// anchor is the name of the implementation that all runs have measured, of the same image. Machines drift: figures of different
	// days are comparable only as ratios to the same thing.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Anchor string `json:"anchor"`
}

// Objective is a bound that a figure has to keep, of each implementation that it names and at each level that it names. It is Met
// if the whole interval of the figure (99 %) lies on the right side, Missed if it lies on the wrong side, and Undecided otherwise. A
// run has succeeded only if every objective is Met.
// +kubebuilder:validation:XValidation:rule="has(self.min) != has(self.max)",message="an objective needs either min or max: give a range as two objectives"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'LatencyPercentile' || (has(self.of) && self.of == 'LatencyPercentile')) == has(self.percentile)",message="percentile belongs to LatencyPercentile, as metric or in of, which needs it"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'RatioToBaseline' || self.metric == 'Regression') == has(self.of)",message="of belongs to metrics RatioToBaseline and Regression, which need it: it says of which figure the ratio is"
// +kubebuilder:validation:XValidation:rule="(self.metric == 'Regression') == has(self.against)",message="against belongs to metric Regression, which needs it: it names the earlier runs"
// +kubebuilder:validation:XValidation:rule="!has(self.connections) || has(self.load)",message="connections needs load: name the load whose levels are meant"
// +kubebuilder:validation:XValidation:rule="!has(self.requestsPerSecond) || has(self.load)",message="requestsPerSecond needs load: name the load whose levels are meant"
// +kubebuilder:validation:XValidation:rule="self.metric != 'Capacity' || (has(self.load) && has(self.min) && !has(self.connections) && !has(self.requestsPerSecond))",message="metric Capacity needs load and min, and neither connections nor requestsPerSecond: name a load with search and the least rate that it must find"
type Objective struct {
	// name is what people call the objective; metric and level if absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// metric is the figure that is bounded, in the unit that min and max have: Throughput and Capacity in requests/s, LatencyPercentile, MeanLatency and
	// ServerCPUPerRequest in microseconds, ErrorRate as a share from 0 to 1, ServerCPUs in CPUs, PeakMemory in bytes, RatioToBaseline
	// and Regression as a plain ratio.
	// +required
	Metric ObjectiveMetric `json:"metric"`

	// load is the name of the load; all loads if absent. The steps of a search are no levels of an objective: of a load with search it is
	// Capacity that can be bounded.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load,omitempty"`

	// connections names the levels with that number of connections; all levels if absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=400000
	Connections int32 `json:"connections,omitempty"`

	// requestsPerSecond names the levels with that arrival rate; all levels if absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`

	// implementations are the names of those that have to keep the bound; all contenders if absent, of ratios without the baseline or the
	// anchor.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=20
	Implementations []string `json:"implementations,omitempty"`

	// percentile is that of LatencyPercentile, in metric or in of: 50, 90, 95, 99 or 99.9.
	// +optional
	// +kubebuilder:validation:Enum="50";"90";"95";"99";"99.9"
	Percentile string `json:"percentile,omitempty"`

	// of is the figure of which RatioToBaseline and Regression are ratios.
	// +optional
	Of ComparedMetric `json:"of,omitempty"`

	// against names the earlier runs of Regression.
	// +optional
	Against *Earlier `json:"against,omitempty"`

	// min is what the figure must not fall below: a decimal number such as "17000" or "0.95", in the metric's unit.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?$')",message="min must be a decimal number such as \"17000\" or \"0.95\""
	Min string `json:"min,omitempty"`

	// max is what the figure must not exceed: a decimal number such as "5000" or "0.001", in the metric's unit.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+([.][0-9]+)?$')",message="max must be a decimal number such as \"5000\" or \"0.001\""
	Max string `json:"max,omitempty"`
}
