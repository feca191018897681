package record

// ObjectiveMetric names the value that an objective bounds.
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
	// ObjectiveRatioToBaseline is the implementation's value over the baseline's, block by block.
	ObjectiveRatioToBaseline ObjectiveMetric = "RatioToBaseline"
	// ObjectiveRegression is the implementation's value over the anchor's, over the same ratio of earlier runs.
	ObjectiveRegression ObjectiveMetric = "Regression"
	// ObjectiveCapacity is the highest arrival rate at which a load's search met its bound, in requests per second, as the geometric
	// mean over blocks.
	ObjectiveCapacity ObjectiveMetric = "Capacity"
	// ObjectiveCaseTime is the time of one operation of a case in nanoseconds, as the mean over processes.
	ObjectiveCaseTime ObjectiveMetric = "CaseTime"
	// ObjectiveCaseBytes is what one operation of a case allocates in bytes, as the mean over processes.
	ObjectiveCaseBytes ObjectiveMetric = "CaseBytes"
	// ObjectiveCaseAllocations is the number of allocations of one operation of a case, as the mean over processes.
	ObjectiveCaseAllocations ObjectiveMetric = "CaseAllocations"
)

// ComparedMetric names the value of which a RatioToBaseline or a Regression is a ratio.
type ComparedMetric string

const (
	// ComparedThroughput is completed requests per second.
	ComparedThroughput ComparedMetric = "Throughput"
	// ComparedServerCPUPerRequest is the server's CPU time per request.
	ComparedServerCPUPerRequest ComparedMetric = "ServerCPUPerRequest"
	// ComparedLatencyPercentile is the percentile of the latency that the objective names.
	ComparedLatencyPercentile ComparedMetric = "LatencyPercentile"
	// ComparedCaseTime is the time of one operation of a case.
	ComparedCaseTime ComparedMetric = "CaseTime"
	// ComparedCaseBytes is what one operation of a case allocates.
	ComparedCaseBytes ComparedMetric = "CaseBytes"
	// ComparedCaseAllocations is the number of allocations of one operation of a case.
	ComparedCaseAllocations ComparedMetric = "CaseAllocations"
)

// caseMetrics are the metrics of cases that objectives bound, by the objective's word.
var caseMetrics = map[string]string{
	string(ObjectiveCaseTime): "Time", string(ObjectiveCaseBytes): "Bytes allocated", string(ObjectiveCaseAllocations): "Allocations",
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
	Name   string          `json:"name,omitempty"`
	Metric ObjectiveMetric `json:"metric"`
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
	Of ComparedMetric `json:"of,omitempty"`
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
