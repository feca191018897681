package record

import (
	"cmp"
	"strconv"
	"time"
)

// LatencyKind is the kind of latency in a distribution. Kinds are never merged or compared.
type LatencyKind string

const (
	// Observed latencies have one sample per answered request.
	Observed LatencyKind = "Observed"
	// Corrected latencies contain samples that the tool inserted for requests it did not send while it waited.
	Corrected LatencyKind = "Corrected"
	// WithConnection latencies include opening a connection for each request.
	WithConnection LatencyKind = "WithConnection"
	// FromIntended latencies begin when the arrival rate planned the request.
	FromIntended LatencyKind = "FromIntended"
)

// MissedShare and MissedStarts: a rate is sustained if it misses at most one start in a hundred, or two (the cost of
// a cell's beginning and end).
const MissedShare, MissedStarts = 0.01, 2

// Latency is a whole distribution: an HdrHistogram of microseconds, 1 µs to 1 hour, 3 significant digits, in the V2
// compressed encoding (base64) of package histogram.
//
// If a tool gives only quantiles, each sample lies between two values. HDR then holds every sample at its lower end
// and HDRHigh at its upper end; every quantile lies between theirs.
type Latency struct {
	Kind    LatencyKind `json:"kind"`
	Samples int64       `json:"samples"`
	HDR     string      `json:"hdr"`
	// HDRHigh is the histogram of upper ends; empty if HDR is exact.
	HDRHigh string `json:"hdrHigh,omitempty"`
}

// Errors counts failed requests by kind, as the tool reports them.
type Errors struct {
	Connect int64 `json:"connect"`
	Read    int64 `json:"read"`
	Write   int64 `json:"write"`
	Timeout int64 `json:"timeout"`
	Status  int64 `json:"status"`
	// Body counts answers with a wrong body, if the tool checks.
	Body int64 `json:"body"`
}

// Sum returns the number of all errors.
func (e Errors) Sum() int64 { return e.Connect + e.Read + e.Write + e.Timeout + e.Status + e.Body }

// Measurement is one run of a tool, parsed from its raw output.
type Measurement struct {
	Tool        string   `json:"tool"`
	ToolVersion string   `json:"toolVersion"`
	Args        []string `json:"args"`
	// Threads and Connections are the tool's own statement, not the request.
	Threads     int32 `json:"threads"`
	Connections int32 `json:"connections"`
	// DurationMicros is the time under load by the tool's clock.
	DurationMicros int64 `json:"durationMicros"`
	// Requests counts completed requests, whatever their status.
	Requests int64 `json:"requests"`
	// ByRequest counts the requests of each kind of a mix, answered or not, in the order of the cell; empty without a
	// mix.
	ByRequest []int64 `json:"byRequest,omitempty"`
	// HTTP2 counts requests answered in HTTP/2, if the cell asks for it.
	HTTP2 int64 `json:"http2,omitempty"`
	// Asked counts the arrivals planned by the rate, Dropped those without a free virtual user. Both are 0 in the
	// closed model.
	Asked   int64 `json:"asked,omitempty"`
	Dropped int64 `json:"dropped,omitempty"`
	// Bytes includes headers.
	Bytes   int64     `json:"bytes"`
	Errors  Errors    `json:"errors"`
	Latency []Latency `json:"latency"`
	// Unknown lists, in sentences, what the tool could not tell.
	Unknown []string `json:"unknown,omitempty"`
}

// Point identifies a cell within its trial: the load and its level.
type Point struct {
	Load        string `json:"load"`
	Connections int32  `json:"connections"`
	// RequestsPerSecond is 0 in the closed model.
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`
	// Step is 0 outside a search.
	Step int32 `json:"step,omitempty"`
}

// PointOf returns the point of a planned cell.
func PointOf(c Cell) Point {
	return Point{Load: c.Load, Connections: c.Connections, RequestsPerSecond: c.RequestsPerSecond, Step: c.Step}
}

// Name returns the cell's name in files, artifacts and tables, such as "sweep-100" or "open-50-r2000".
func (p Point) Name() string {
	name := p.Load + "-" + strconv.Itoa(int(p.Connections))
	if p.RequestsPerSecond > 0 {
		name += "-r" + strconv.Itoa(int(p.RequestsPerSecond))
	}
	if p.Step > 0 {
		name += "-s" + strconv.Itoa(int(p.Step))
	}
	return name
}

// Audit is the agent's own check of answers while the tool runs.
type Audit struct {
	// Requests counts those answered or failed.
	Requests    int64 `json:"requests"`
	WrongStatus int64 `json:"wrongStatus"`
	WrongBody   int64 `json:"wrongBody"`
	Failed      int64 `json:"failed"`
	// Example describes the first wrong answer in a sentence (untrusted).
	Example     string `json:"example,omitempty"`
	Connections int64  `json:"connections,omitempty"`
}

// CellRun is one cell of one generator. Times are by the generator's clock.
type CellRun struct {
	Point
	// Server is the index of the server in the trial; in a duet, the generator has a run against each.
	Server  int       `json:"server,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Rate is the total arrival rate of a search's step, decided just before it; 0 outside a search, since the point
	// has the rate.
	Rate int32 `json:"rate,omitempty"`
	// FirstConnection is when the tool opened its first connection, to a millisecond, or to three if that took over a
	// second; nil if not seen.
	FirstConnection *time.Time `json:"firstConnection,omitempty"`
	// Raw is the file with the tool's raw output, relative to the agent's folder.
	Raw string `json:"raw"`
	// ActiveNanos is how long the tool could run in a duet, Turns the number of its slices; 0 otherwise.
	ActiveNanos int64  `json:"activeNanos,omitempty"`
	Turns       int64  `json:"turns,omitempty"`
	Error       string `json:"error,omitempty"`
	// Late: the error is the generator's lateness. Nothing began, so it says nothing about the server.
	Late        bool         `json:"late,omitempty"`
	Measurement *Measurement `json:"measurement,omitempty"`
	// Audit is of the warm-up; nil without one, or with a script.
	Audit *Audit `json:"audit,omitempty"`
	// MeasuredAudit is of the measured time, about one answer a second; nil with a script, in a duet, and in older
	// records.
	MeasuredAudit *Audit `json:"measuredAudit,omitempty"`
	// LoadAudit is of answers to the tool itself, on the load's own connections; nil with a script, and where none was
	// seen: Measurement.Unknown says why. Its requests are part of the load.
	LoadAudit *Audit `json:"loadAudit,omitempty"`
	// CPUNanos is the CPU time of the generator's container (in a duet, of the tool alone); AgentCPUNanos is the
	// agent's part.
	CPUNanos      int64 `json:"cpuNanos"`
	AgentCPUNanos int64 `json:"agentCPUNanos"`
	// CPUsAllowed is the tool's Cpus_allowed_list, read while it ran.
	CPUsAllowed string `json:"cpusAllowed"`
	// BusyNanos, StealNanos and CoreNanos are the used, stolen and total time of those CPUs, by /proc/stat (10 ms
	// resolution); 0 if unknown, and in a duet.
	BusyNanos  int64 `json:"busyNanos,omitempty"`
	StealNanos int64 `json:"stealNanos,omitempty"`
	CoreNanos  int64 `json:"coreNanos,omitempty"`
	// Throttled is the generator's; nil if not read.
	Throttled *Throttling `json:"throttled,omitempty"`
	Network   Network     `json:"network"`
}

// LoadNanos returns how long the tool made load: by its clock, or as long as it could run in a duet; 0 without a
// measurement.
func (r CellRun) LoadNanos() int64 {
	switch {
	case r.Measurement == nil:
		return 0
	case r.ActiveNanos > 0:
		return r.ActiveNanos
	}
	return 1000 * r.Measurement.DurationMicros
}

// Throttling is a container's loss to a CPU quota during a cell.
type Throttling struct {
	Nanos   int64 `json:"nanos"`
	Periods int64 `json:"periods"`
}

// Network holds a network namespace's counts during a cell (/proc/net).
type Network struct {
	// ActiveOpens counts connections opened from the namespace, PassiveOpens those to it.
	ActiveOpens  int64 `json:"activeOpens"`
	PassiveOpens int64 `json:"passiveOpens"`
	// SegmentsOut counts TCP segments sent, Retransmits those resent.
	SegmentsOut int64 `json:"segmentsOut"`
	Retransmits int64 `json:"retransmits"`
	// TimeWait counts sockets in TIME_WAIT at the end.
	TimeWait int64 `json:"timeWait"`
	// Handshakes is nil if not read.
	Handshakes *Handshakes `json:"handshakes,omitempty"`
}

// Handshakes are a network namespace's troubles with opening connections during a cell (/proc/net/netstat).
type Handshakes struct {
	// ListenOverflows counts handshakes that found a full accept queue, ListenDrops all dropped ones. A connection
	// may count several times.
	ListenOverflows int64 `json:"listenOverflows"`
	ListenDrops     int64 `json:"listenDrops"`
	// SynRetransmits counts resent handshake segments; the first one costs a connection a second.
	SynRetransmits int64 `json:"synRetransmits"`
}

// Response is a generator's answer to one request before the trial measured.
type Response struct {
	// Server is its index in the trial.
	Server int    `json:"server,omitempty"`
	Path   string `json:"path"`
	// Request is the key from Request.Key; empty for a plain request, whose key is its path.
	Request string `json:"request,omitempty"`
	Status  int32  `json:"status"`
	// HeaderBytes is the size of status line and headers on the wire.
	BodyBytes   int64  `json:"bodyBytes"`
	BodySHA256  string `json:"bodySHA256"`
	HeaderBytes int64  `json:"headerBytes"`
}

// Key returns the request's key, unique in the run.
func (r Response) Key() string { return cmp.Or(r.Request, r.Path) }

// ScriptRun is a load's script as the generator had it after the last cell.
type ScriptRun struct {
	Load   string `json:"load"`
	SHA256 string `json:"sha256"`
}

// GeneratorResult is the record of a generator agent over a trial (result.json).
type GeneratorResult struct {
	Environment Environment `json:"environment"`
	// LocalPorts is the number of usable local ports; 0 if not read.
	LocalPorts int32 `json:"localPorts,omitempty"`
	// Responses are generator 0's, one per request.
	Responses []Response `json:"responses,omitempty"`
	// Encryption lists TLS agreements of generator 0 and its tools.
	Encryption []Encryption `json:"encryption,omitempty"`
	Scripts    []ScriptRun  `json:"scripts,omitempty"`
	Cells      []CellRun    `json:"cells"`
}

// Sockets describes the server's sockets shortly before the end of a cell's load.
type Sockets struct {
	// Established counts connections to the server's port. On those in Unanswered the server received bytes but never sent any.
	Established int64 `json:"established"`
	Unanswered  int64 `json:"unanswered"`
	// Hung counts connections that were answered at first, then got nothing for more than half of the measured time. Their last event was a request
	// (within the kernel's milliseconds). Nil if not read.
	Hung *int64 `json:"hung,omitempty"`
	// Jain is Jain's fairness index of the bytes sent per connection: 1 if all are equal, 1/n if one got everything;
	// 0 without bytes.
	Jain float64 `json:"jain"`
}

// Series is a cell over time: counts for each interval of the measured time.
type Series struct {
	EveryMillis int64 `json:"everyMillis"`
	// CPUNanos is the server's CPU time. SegmentsOut counts TCP segments of its namespace: about the answers, if they
	// have one segment each.
	CPUNanos    []int64 `json:"cpuNanos"`
	SegmentsOut []int64 `json:"segmentsOut"`
	// KHz is the mean frequency of the server's CPUs at the end of each interval; empty if the kernel does not show
	// it.
	KHz []int64 `json:"khz,omitempty"`
}

// Pauses are stretches of a cell's measured time in which less than a tenth of the usual TCP segments left the server's
// namespace, in order.
type Pauses struct {
	// LeastMillis is the shortest pause in the lists.
	LeastMillis int64 `json:"leastMillis"`
	// AtMillis is when each pause began, after the start of the measured time; Millis how long it took at least.
	AtMillis []int64 `json:"atMillis,omitempty"`
	Millis   []int64 `json:"millis,omitempty"`
}

// Work is a fixed amount of arithmetic that the observer did on the server's CPU without load. Its time depends on
// the CPU's frequency and on the other users of the core.
type Work struct {
	// CPUNanos is of the fastest round, WallNanos of all rounds.
	CPUNanos  int64 `json:"cpuNanos"`
	WallNanos int64 `json:"wallNanos"`
}

// CellObservation is the server during one cell, from the start of its measured time to the end of its tool.
type CellObservation struct {
	Point
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Error   string    `json:"error,omitempty"`
	// CPUNanos is the CPU time of the server in the window: of its cgroup, or else of its process tree with ended
	// children.
	CPUNanos int64 `json:"cpuNanos"`
	// CPUUncounted lists why CPUNanos or Dependencies may lack CPU time of the server's work. Then the CPU time per
	// request is unknown.
	CPUUncounted []string `json:"cpuUncounted,omitempty"`
	// CPUsAllowed is the server's Cpus_allowed_list, read in the window.
	CPUsAllowed string `json:"cpusAllowed"`
	// BusyNanos, StealNanos and CoreNanos are the used, stolen and total time of the CPUs in CPUsAllowed, summed, by
	// /proc/stat (10 ms resolution).
	BusyNanos  int64 `json:"busyNanos"`
	StealNanos int64 `json:"stealNanos"`
	CoreNanos  int64 `json:"coreNanos"`
	// ThrottledNanos and ThrottledPeriods are lost to the CFS quota.
	ThrottledNanos   int64 `json:"throttledNanos"`
	ThrottledPeriods int64 `json:"throttledPeriods"`
	// RunQueueNanos is how long ready threads of the server waited for a CPU, summed.
	RunQueueNanos int64 `json:"runQueueNanos"`
	// PressureMicros is how long a task of the machine (cgroup v2: of the container) waited for a CPU; nil if the
	// kernel does not account for it.
	PressureMicros *int64  `json:"pressureMicros,omitempty"`
	Network        Network `json:"network"`
	// Sockets is nil if they could not be read.
	Sockets *Sockets `json:"sockets,omitempty"`
	Series  *Series  `json:"series,omitempty"`
	// Pauses is nil if the traffic could not be read, and in older records.
	Pauses *Pauses `json:"pauses,omitempty"`
	// WorkBefore and WorkAfter are the same work around the cell; nil if the observer may not run on the server's
	// CPU, as usual for exclusive CPUs.
	WorkBefore       *Work `json:"workBefore,omitempty"`
	WorkAfter        *Work `json:"workAfter,omitempty"`
	ObserverCPUNanos int64 `json:"observerCPUNanos"`
	// RSSStartBytes, RSSMiddleBytes and RSSBytes are the resident memory of the server's processes at start, half-way
	// and end; PeakMemoryBytes is the largest sample.
	RSSStartBytes       int64 `json:"rssStartBytes"`
	RSSMiddleBytes      int64 `json:"rssMiddleBytes"`
	RSSBytes            int64 `json:"rssBytes"`
	PeakMemoryBytes     int64 `json:"peakMemoryBytes"`
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	// Threads and Descriptors are as of the end of the window.
	Threads      int64           `json:"threads"`
	Descriptors  int64           `json:"descriptors"`
	Dependencies []DependencyUse `json:"dependencies,omitempty"`
	// Unknown lists, in sentences, what could not be read.
	Unknown []string `json:"unknown,omitempty"`
}

// ObserverResult is the record of the observer over a trial (result.json).
type ObserverResult struct {
	Environment Environment `json:"environment"`
	// Binary is how the server was built, StartUp how long it took to start; nil if no port was awaited.
	Binary  *Binary  `json:"binary,omitempty"`
	StartUp *StartUp `json:"startUp,omitempty"`
	// IdleBytes is the server's resident memory before the first load, after one answer to each request; 0 if not
	// read.
	IdleBytes int64 `json:"idleBytes,omitempty"`
	// Replies are the answers that claims are about.
	Replies []Reply           `json:"replies,omitempty"`
	Cells   []CellObservation `json:"cells"`
	// Program is the output and cost of a program that measures itself; nil for a server.
	Program *ProgramRun `json:"program,omitempty"`
	// Profiled is nil if no profiler was used.
	Profiled *Profiled `json:"profiled,omitempty"`
}

// Unknown is the value of a fact that could not be read.
const Unknown = "unknown"

// Environment is the machine and the kernel of an agent.
type Environment struct {
	Node          string `json:"node"`
	Kernel        string `json:"kernel"`
	OS            string `json:"os"`
	CPUModel      string `json:"cpuModel"`
	OnlineCPUs    string `json:"onlineCPUs"`
	MemoryBytes   int64  `json:"memoryBytes"`
	CgroupVersion string `json:"cgroupVersion"`
	// Governor is the CPU frequency governor, or "unknown".
	Governor string `json:"governor"`
	// Microcode is the CPU's microcode revision, such as "0x2b000603", or "unknown"; empty in older records.
	Microcode string `json:"microcode,omitempty"`
	// SMTSiblings lists the hardware threads that share a core with the container's CPUs, such as "1,5"; empty if the
	// kernel does not say.
	SMTSiblings string `json:"smtSiblings"`
	// CPUsAllowed is the agent's own Cpus_allowed_list.
	CPUsAllowed string `json:"cpusAllowed"`
	// ToolVersion names the tools with their versions, such as "wrk 4.1.0, ab 2.3"; empty for an observer.
	AgentVersion string `json:"agentVersion"`
	ToolVersion  string `json:"toolVersion,omitempty"`
}

// CalibrationSchema is the schema of a Calibration.
const CalibrationSchema = "loadstone.dev/calibration/v1"

// Calibration is the noise floor of a machine, from an A/A run: one server measured under two names.
type Calibration struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	// Fingerprint is the digest of the machine's facts; equal ones mean machines that look the same.
	Fingerprint string    `json:"fingerprint"`
	Ended       time.Time `json:"ended"`
	// Implementations are the two names.
	Implementations [2]string `json:"implementations"`
	// Blocks is the number of blocks that Noise.Detectable applies to.
	Blocks  int     `json:"blocks"`
	Entries []Noise `json:"entries"`
}

// Noise is the noise of one metric's pairs, at one level or over all.
type Noise struct {
	// Metric is Throughput or ServerCPUPerRequest.
	Metric string `json:"metric"`
	// Point is the level; nil for a level of ordinary noise (root mean square over the levels).
	Point *Point `json:"point,omitempty"`
	// N is the number of pairs.
	N int `json:"n"`
	// LogStdDev is the standard deviation of the pairs' log ratios.
	LogStdDev float64 `json:"logStdDev"`
	// Detectable is the smallest relative difference that Blocks blocks show in 80 % of runs: 0.047 is 4.7 %.
	Detectable float64 `json:"detectable"`
}
