package record

import "time"

// LatencyKind says what a latency distribution is a distribution of. Two kinds are never merged or compared.
type LatencyKind string

const (
	// Observed latencies are those of requests that were sent and answered, one sample a request.
	Observed LatencyKind = "Observed"
	// Corrected latencies hold samples that the tool inserted for requests which it did not send while it waited.
	Corrected LatencyKind = "Corrected"
)

// Latency is a whole distribution: an HdrHistogram of microseconds, 1 µs to 1 hour, 3 significant digits, in HdrHistogram's
// V2 compressed encoding (base64).
type Latency struct {
	Kind LatencyKind `json:"kind"`
	// Samples is the number of values in the histogram.
	Samples int64 `json:"samples"`
	// HDR is the encoded histogram.
	HDR string `json:"hdr"`
}

// Errors counts failed requests by kind, as the tool tells them.
type Errors struct {
	Connect int64 `json:"connect"`
	Read    int64 `json:"read"`
	Write   int64 `json:"write"`
	Timeout int64 `json:"timeout"`
	Status  int64 `json:"status"`
}

// Sum is the number of all errors, of whatever kind.
func (e Errors) Sum() int64 { return e.Connect + e.Read + e.Write + e.Timeout + e.Status }

// Measurement is what one run of a tool said, parsed from its raw output.
type Measurement struct {
	Tool        string   `json:"tool"`
	ToolVersion string   `json:"toolVersion"`
	Args        []string `json:"args"`
	// Threads and Connections are the tool's own label of what it ran, not what it was asked for.
	Threads     int32 `json:"threads"`
	Connections int32 `json:"connections"`
	// DurationMicros is the tool's own measured time under load, in microseconds.
	DurationMicros int64 `json:"durationMicros"`
	// Requests is the number of completed requests, whatever their status.
	Requests int64 `json:"requests"`
	// Bytes is the number of bytes read, headers included.
	Bytes   int64     `json:"bytes"`
	Errors  Errors    `json:"errors"`
	Latency []Latency `json:"latency"`
	// Unknown lists, in sentences, what the tool could not tell.
	Unknown []string `json:"unknown,omitempty"`
}

// CellRun is one cell as one generator lived it. Times are of the generator's own clock.
type CellRun struct {
	Load        string    `json:"load"`
	Connections int32     `json:"connections"`
	Started     time.Time `json:"started"`
	Ended       time.Time `json:"ended"`
	// Raw is the name of the file with the tool's raw output, relative to the agent's folder.
	Raw string `json:"raw"`
	// Error says why there is no measurement, or is empty.
	Error       string       `json:"error,omitempty"`
	Measurement *Measurement `json:"measurement,omitempty"`
	// CPUNanos is the CPU time of the generator's container during the cell, in nanoseconds.
	CPUNanos int64 `json:"cpuNanos"`
	// CPUsAllowed is Cpus_allowed_list of the tool's process, read while it ran.
	CPUsAllowed string `json:"cpusAllowed"`
}

// GeneratorResult is the record of one generator agent over a trial: its file "result.json".
type GeneratorResult struct {
	Environment Environment `json:"environment"`
	Cells       []CellRun   `json:"cells"`
}

// CellObservation is the server during one cell, from the start of its measured time until its tool had ended.
type CellObservation struct {
	Load        string    `json:"load"`
	Connections int32     `json:"connections"`
	Started     time.Time `json:"started"`
	Ended       time.Time `json:"ended"`
	// Error says why the observation is incomplete, or is empty.
	Error string `json:"error,omitempty"`
	// CPUNanos is the CPU time of the server's container in the window, in nanoseconds, by its cgroup.
	CPUNanos int64 `json:"cpuNanos"`
	// CPUsAllowed is Cpus_allowed_list of the server's process, read in the window.
	CPUsAllowed string `json:"cpusAllowed"`
	// BusyNanos, StealNanos and CoreNanos are the time of the CPUs in CPUsAllowed that went to anybody, that was stolen by the
	// hypervisor, and that passed at all, summed over those CPUs, by /proc/stat (10 ms resolution).
	BusyNanos  int64 `json:"busyNanos"`
	StealNanos int64 `json:"stealNanos"`
	CoreNanos  int64 `json:"coreNanos"`
	// ThrottledNanos and ThrottledPeriods are what the CFS quota took from the container.
	ThrottledNanos   int64 `json:"throttledNanos"`
	ThrottledPeriods int64 `json:"throttledPeriods"`
	// RSSBytes and PeakMemoryBytes are the resident memory of the server's processes at the end, and the largest of the samples.
	RSSBytes        int64 `json:"rssBytes"`
	PeakMemoryBytes int64 `json:"peakMemoryBytes"`
	// VoluntarySwitches and InvoluntarySwitches are the context switches of all threads of the server in the window.
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	// Threads and Descriptors are the server's at the end of the window.
	Threads     int64 `json:"threads"`
	Descriptors int64 `json:"descriptors"`
	// Unknown lists, in sentences, what could not be read, such as the descriptors of a server that is not dumpable.
	Unknown []string `json:"unknown,omitempty"`
}

// ObserverResult is the record of the observer over a trial: its file "result.json".
type ObserverResult struct {
	Environment Environment       `json:"environment"`
	Cells       []CellObservation `json:"cells"`
}

// Environment is the machine and the kernel that an agent found itself on.
type Environment struct {
	Node          string `json:"node"`
	Kernel        string `json:"kernel"`
	OS            string `json:"os"`
	CPUModel      string `json:"cpuModel"`
	OnlineCPUs    string `json:"onlineCPUs"`
	MemoryBytes   int64  `json:"memoryBytes"`
	CgroupVersion string `json:"cgroupVersion"`
	// Governor is the CPU frequency governor, or "unknown" where the kernel shows none.
	Governor string `json:"governor"`
	// SMTSiblings lists the hardware threads that share a core with the container's CPUs, such as "1,5"; empty where the
	// kernel does not say.
	SMTSiblings string `json:"smtSiblings"`
	// CPUsAllowed is Cpus_allowed_list of the agent itself.
	CPUsAllowed string `json:"cpusAllowed"`
	// AgentVersion is the agent's own version; ToolVersion that of the load generator, empty for an observer.
	AgentVersion string `json:"agentVersion"`
	ToolVersion  string `json:"toolVersion,omitempty"`
}
