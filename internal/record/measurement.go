package record

import (
	"cmp"
	"strconv"
	"time"
)

// LatencyKind is the kind of latency in a distribution. Two kinds are never merged or compared.
type LatencyKind string

const (
	// Observed latencies are those of requests that were sent and answered, one sample a request.
	Observed LatencyKind = "Observed"
	// Corrected latencies hold samples that the tool inserted for requests which it did not send while it waited.
	Corrected LatencyKind = "Corrected"
	// WithConnection latencies begin with the opening of the connection, of which each request has one.
	WithConnection LatencyKind = "WithConnection"
	// FromIntended latencies begin at the instant at which the arrival rate wanted the request to be sent.
	FromIntended LatencyKind = "FromIntended"
)

// MissedShare and MissedStarts: an arrival rate is sustained if it misses no more than one start in a hundred, or two, which is what the beginning and
// the end of a cell cost.
const MissedShare, MissedStarts = 0.01, 2

// Latency is a whole distribution: an HdrHistogram of microseconds, 1 µs to 1 hour, 3 significant digits, in HdrHistogram's
// V2 compressed encoding (base64), which package histogram reads and writes.
//
// Of a tool that gives quantiles only, it is known between which two values each sample lies: then HDR holds every sample at its
// lower end and HDRHigh at its upper end, and every quantile of the distribution lies between those of the two.
type Latency struct {
	Kind LatencyKind `json:"kind"`
	// Samples is the number of values in each histogram.
	Samples int64 `json:"samples"`
	// HDR is the encoded histogram.
	HDR string `json:"hdr"`
	// HDRHigh is the encoded histogram of upper ends; empty where HDR is exact.
	HDRHigh string `json:"hdrHigh,omitempty"`
}

// Errors counts failed requests by kind, as the tool tells them.
type Errors struct {
	Connect int64 `json:"connect"`
	Read    int64 `json:"read"`
	Write   int64 `json:"write"`
	Timeout int64 `json:"timeout"`
	Status  int64 `json:"status"`
	// Body counts answers whose body was not what it should be, where the tool looks.
	Body int64 `json:"body"`
}

// Sum is the number of all errors, of whatever kind.
func (e Errors) Sum() int64 { return e.Connect + e.Read + e.Write + e.Timeout + e.Status + e.Body }

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
	// ByRequest is how many requests of each kind of a mix the tool has made, in the order of the cell; those that were not answered are among them.
	// It is empty of a cell with one request.
	ByRequest []int64 `json:"byRequest,omitempty"`
	// HTTP2 is how many of the requests were answered in HTTP/2, of a cell that asks for it.
	HTTP2 int64 `json:"http2,omitempty"`
	// Asked is the number of requests that the arrival rate wanted to be started, and Dropped how many of them were not, because
	// no virtual user was free. Both are 0 in the closed model.
	Asked   int64 `json:"asked,omitempty"`
	Dropped int64 `json:"dropped,omitempty"`
	// Bytes is the number of bytes read, headers included.
	Bytes   int64     `json:"bytes"`
	Errors  Errors    `json:"errors"`
	Latency []Latency `json:"latency"`
	// Unknown lists, in sentences, what the tool could not tell.
	Unknown []string `json:"unknown,omitempty"`
}

// Point identifies a cell within its trial: what is measured, at which level.
type Point struct {
	Load        string `json:"load"`
	Connections int32  `json:"connections"`
	// RequestsPerSecond is the arrival rate; 0 in the closed model.
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`
	// Step is the step of a search; 0 outside one.
	Step int32 `json:"step,omitempty"`
}

// PointOf is the point of a planned cell.
func PointOf(c Cell) Point {
	return Point{Load: c.Load, Connections: c.Connections, RequestsPerSecond: c.RequestsPerSecond, Step: c.Step}
}

// Name names a cell in file names, artifacts and tables, such as "sweep-100" or "open-50-r2000".
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

// Audit is what the agent itself saw of a cell's answers: it reads answers while the tool runs and compares each with what is expected.
type Audit struct {
	// Requests are those that were answered or failed.
	Requests    int64 `json:"requests"`
	WrongStatus int64 `json:"wrongStatus"`
	WrongBody   int64 `json:"wrongBody"`
	Failed      int64 `json:"failed"`
	// Example says in a sentence what was wrong with the first wrong answer: untrusted.
	Example string `json:"example,omitempty"`
	// Connections are those that the agent opened for it.
	Connections int64 `json:"connections,omitempty"`
}

// CellRun is one cell as one generator lived it. Times are of the generator's own clock.
type CellRun struct {
	Point
	// Server is the place of the server among those of the trial, from 0: a generator of a duet has a run against each.
	Server  int       `json:"server,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Rate is the arrival rate of a search's step, over all generators, which was decided just before it; 0 outside a search, where
	// the point holds the rate.
	Rate int32 `json:"rate,omitempty"`
	// FirstConnection is when the tool was seen to have opened its first connection, right to a millisecond, or to three if that took
	// the tool more than a second; nil if it was not seen.
	FirstConnection *time.Time `json:"firstConnection,omitempty"`
	// Raw is the name of the file with the tool's raw output, relative to the agent's folder.
	Raw string `json:"raw"`
	// ActiveNanos is for how long the tool was let run, in nanoseconds, where it was frozen in between (a duet); 0 otherwise. Turns
	// counts the slices that it got.
	ActiveNanos int64 `json:"activeNanos,omitempty"`
	Turns       int64 `json:"turns,omitempty"`
	// Error says why there is no measurement, or is empty.
	Error string `json:"error,omitempty"`
	// Late says that the error is the generator's own lateness: nothing was begun, and nothing is known of the server.
	Late        bool         `json:"late,omitempty"`
	Measurement *Measurement `json:"measurement,omitempty"`
	// Audit is of the warm-up; nil for a cell that had none, or whose requests a script makes.
	Audit *Audit `json:"audit,omitempty"`
	// MeasuredAudit is of the measured time: about one answer a second. It is nil where nobody looked: beside a script, in a duet, and
	// in records of older agents.
	MeasuredAudit *Audit `json:"measuredAudit,omitempty"`
	// CPUNanos is the CPU time of the generator's container during the cell, in nanoseconds; AgentCPUNanos is the part of it that
	// the agent itself used. In a duet CPUNanos is that of the tool alone.
	CPUNanos      int64 `json:"cpuNanos"`
	AgentCPUNanos int64 `json:"agentCPUNanos"`
	// CPUsAllowed is Cpus_allowed_list of the tool's process, read while it ran.
	CPUsAllowed string `json:"cpusAllowed"`
	// BusyNanos, StealNanos and CoreNanos are the time of those CPUs that went to anybody, that the hypervisor took, and that passed at
	// all, by /proc/stat (10 ms resolution); 0 if unknown, and in a duet.
	BusyNanos  int64 `json:"busyNanos,omitempty"`
	StealNanos int64 `json:"stealNanos,omitempty"`
	CoreNanos  int64 `json:"coreNanos,omitempty"`
	// Throttled is what a CPU quota took from the generator's container; nil where it was not read.
	Throttled *Throttling `json:"throttled,omitempty"`
	// Network is what the generator's network namespace counted during the cell.
	Network Network `json:"network"`
}

// LoadNanos is for how long the tool made load, in nanoseconds: by its own clock, or for as long as it was let run where it was frozen in between.
// It is 0 without a measurement.
func (r CellRun) LoadNanos() int64 {
	switch {
	case r.Measurement == nil:
		return 0
	case r.ActiveNanos > 0:
		return r.ActiveNanos
	}
	return 1000 * r.Measurement.DurationMicros
}

// Throttling is what a CPU quota took from a container during a cell.
type Throttling struct {
	Nanos   int64 `json:"nanos"`
	Periods int64 `json:"periods"`
}

// Network is what a network namespace counted during a cell, by /proc/net.
type Network struct {
	// ActiveOpens and PassiveOpens are the connections that were opened from and to the namespace.
	ActiveOpens  int64 `json:"activeOpens"`
	PassiveOpens int64 `json:"passiveOpens"`
	// SegmentsOut are TCP segments sent, Retransmits those sent again.
	SegmentsOut int64 `json:"segmentsOut"`
	Retransmits int64 `json:"retransmits"`
	// TimeWait is the number of sockets in TIME_WAIT at the end.
	TimeWait int64 `json:"timeWait"`
	// Handshakes is nil where they were not read.
	Handshakes *Handshakes `json:"handshakes,omitempty"`
}

// Handshakes are the troubles of opening connections that a network namespace counted during a cell, by /proc/net/netstat.
type Handshakes struct {
	// ListenOverflows are the handshakes that found a full queue of a listening socket, ListenDrops all that one dropped, for this
	// reason or another. One connection may count several times.
	ListenOverflows int64 `json:"listenOverflows"`
	ListenDrops     int64 `json:"listenDrops"`
	// SynRetransmits are the segments of handshakes that were sent again, of which the first costs a connection a second.
	SynRetransmits int64 `json:"synRetransmits"`
}

// Response is the answer to one kind of request, as a generator got it before the trial measured.
type Response struct {
	// Server is the place of the server that answered among those of the trial, from 0.
	Server int    `json:"server,omitempty"`
	Path   string `json:"path"`
	// Request is the key of what was asked, as Request.Key has it; empty of a plain request, whose key is its path.
	Request string `json:"request,omitempty"`
	Status  int32  `json:"status"`
	// BodyBytes and BodySHA256 are of the body; HeaderBytes is the size of status line and headers on the wire, as sent.
	BodyBytes   int64  `json:"bodyBytes"`
	BodySHA256  string `json:"bodySHA256"`
	HeaderBytes int64  `json:"headerBytes"`
}

// Key tells what was asked apart from what else the run asks.
func (r Response) Key() string { return cmp.Or(r.Request, r.Path) }

// ScriptRun is the script of a load as a generator had it when the last cell had ended.
type ScriptRun struct {
	Load   string `json:"load"`
	SHA256 string `json:"sha256"`
}

// GeneratorResult is the record of one generator agent over a trial: its file "result.json".
type GeneratorResult struct {
	Environment Environment `json:"environment"`
	// LocalPorts is the number of ports from which the generator's pod may open connections; 0 where it was not read.
	LocalPorts int32 `json:"localPorts,omitempty"`
	// Responses are those of generator 0, one a kind of request.
	Responses []Response `json:"responses,omitempty"`
	// Encryption is what generator 0 and its tools have agreed on with servers that speak TLS, by server and client.
	Encryption []Encryption `json:"encryption,omitempty"`
	// Scripts are the users' scripts that were run, one a load.
	Scripts []ScriptRun `json:"scripts,omitempty"`
	Cells   []CellRun   `json:"cells"`
}

// Sockets is what the server's sockets said shortly before the end of a cell's load.
type Sockets struct {
	// Established is the number of established connections to the server's port, and Unanswered that of those on which the server
	// has received bytes and never sent any.
	Established int64 `json:"established"`
	Unanswered  int64 `json:"unanswered"`
	// Hung is the number of connections that the server has answered at first and has sent nothing on for more than half of the measured
	// time, on which the last thing seen is a request and not an answer, as far as the kernel's milliseconds tell. It is nil where it
	// was not read.
	Hung *int64 `json:"hung,omitempty"`
	// Jain is Jain's fairness index of the bytes that arrived over them: 1 if all got the same, 1/n if one got everything; 0 if
	// nothing arrived at all.
	Jain float64 `json:"jain"`
}

// Series is a cell over time: what was counted in each interval, from the beginning of the measured time on.
type Series struct {
	EveryMillis int64 `json:"everyMillis"`
	// CPUNanos is the server's CPU time, SegmentsOut the TCP segments that its network namespace sent: with answers of one segment
	// about the number of answers.
	CPUNanos    []int64 `json:"cpuNanos"`
	SegmentsOut []int64 `json:"segmentsOut"`
	// KHz is the mean frequency of the server's CPUs at the end of each interval; empty where the kernel does not show it.
	KHz []int64 `json:"khz,omitempty"`
}

// Work is a fixed amount of arithmetic, the same in every cell, that the observer has done on the server's CPU while no load ran. How
// long it takes depends on the CPU's frequency and on who shares its core.
type Work struct {
	// CPUNanos is the CPU time of the fastest of several rounds, WallNanos the time of all of them.
	CPUNanos  int64 `json:"cpuNanos"`
	WallNanos int64 `json:"wallNanos"`
}

// CellObservation is the server during one cell, from the start of its measured time until its tool had ended.
type CellObservation struct {
	Point
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Error says why the observation is incomplete, or is empty.
	Error string `json:"error,omitempty"`
	// CPUNanos is the CPU time of the server's container in the window, in nanoseconds, by its cgroup.
	CPUNanos int64 `json:"cpuNanos"`
	// CPUsAllowed is Cpus_allowed_list of the server's process, read in the window.
	CPUsAllowed string `json:"cpusAllowed"`
	// BusyNanos, StealNanos and CoreNanos are the time of the CPUs in CPUsAllowed that went to anybody, that was taken by the
	// hypervisor, and that passed at all, summed over those CPUs, by /proc/stat (10 ms resolution).
	BusyNanos  int64 `json:"busyNanos"`
	StealNanos int64 `json:"stealNanos"`
	CoreNanos  int64 `json:"coreNanos"`
	// ThrottledNanos and ThrottledPeriods are what the CFS quota took from the container.
	ThrottledNanos   int64 `json:"throttledNanos"`
	ThrottledPeriods int64 `json:"throttledPeriods"`
	// RunQueueNanos is how long threads of the server were ready and waited for a CPU, summed over them.
	RunQueueNanos int64 `json:"runQueueNanos"`
	// PressureMicros is how long some task of the machine, or with cgroup v2 of the container, waited for a CPU; nil where the kernel
	// does not account for it.
	PressureMicros *int64 `json:"pressureMicros,omitempty"`
	// Network is what the server's network namespace counted.
	Network Network `json:"network"`
	// Sockets is nil where the server's sockets could not be read.
	Sockets *Sockets `json:"sockets,omitempty"`
	// Series is nil where nothing was sampled.
	Series *Series `json:"series,omitempty"`
	// WorkBefore and WorkAfter are the same work just before the cell and just after it; nil where the observer may not run on the
	// server's CPU, which is the rule where that is the server's alone.
	WorkBefore *Work `json:"workBefore,omitempty"`
	WorkAfter  *Work `json:"workAfter,omitempty"`
	// ObserverCPUNanos is the observer's own CPU time.
	ObserverCPUNanos int64 `json:"observerCPUNanos"`
	// RSSStartBytes and RSSMiddleBytes are the resident memory of the server's processes at the start and half-way; RSSBytes and
	// PeakMemoryBytes at the end, and the largest of the samples.
	RSSStartBytes   int64 `json:"rssStartBytes"`
	RSSMiddleBytes  int64 `json:"rssMiddleBytes"`
	RSSBytes        int64 `json:"rssBytes"`
	PeakMemoryBytes int64 `json:"peakMemoryBytes"`
	// VoluntarySwitches and InvoluntarySwitches are the context switches of all threads of the server in the window.
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	// Threads and Descriptors are the server's at the end of the window.
	Threads     int64 `json:"threads"`
	Descriptors int64 `json:"descriptors"`
	// Dependencies is what the dependencies of the server cost that could be read.
	Dependencies []DependencyUse `json:"dependencies,omitempty"`
	// Unknown lists, in sentences, what could not be read, such as the descriptors of a server that is not dumpable.
	Unknown []string `json:"unknown,omitempty"`
}

// ObserverResult is the record of the observer over a trial: its file "result.json".
type ObserverResult struct {
	Environment Environment `json:"environment"`
	// Binary is how the server was built, and StartUp how long it took to start; nil where no port of it was awaited.
	Binary  *Binary  `json:"binary,omitempty"`
	StartUp *StartUp `json:"startUp,omitempty"`
	// IdleBytes is the resident memory of the server's processes before the first load, when each kind of request had been answered once; 0 if
	// it was not read.
	IdleBytes int64 `json:"idleBytes,omitempty"`
	// Replies are the answers that claims are about.
	Replies []Reply           `json:"replies,omitempty"`
	Cells   []CellObservation `json:"cells"`
	// Program is what a program that measures itself has printed, and what it cost; nil of a server.
	Program *ProgramRun `json:"program,omitempty"`
	// Profiled is what a profiler has found; nil where none was used.
	Profiled *Profiled `json:"profiled,omitempty"`
}

// Unknown is the value of a fact that could not be read.
const Unknown = "unknown"

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
	// Microcode is the revision of the CPU's microcode, such as "0x2b000603"; "unknown" where the kernel shows none, and empty in records
	// from before it was read.
	Microcode string `json:"microcode,omitempty"`
	// SMTSiblings lists the hardware threads that share a core with the container's CPUs, such as "1,5"; empty where the
	// kernel does not say.
	SMTSiblings string `json:"smtSiblings"`
	// CPUsAllowed is Cpus_allowed_list of the agent itself.
	CPUsAllowed string `json:"cpusAllowed"`
	// AgentVersion is the agent's own version; ToolVersion names the tools that were used with their versions, such as
	// "wrk 4.1.0, ab 2.3", and is empty for an observer.
	AgentVersion string `json:"agentVersion"`
	ToolVersion  string `json:"toolVersion,omitempty"`
}

// CalibrationSchema names the shape of a Calibration.
const CalibrationSchema = "loadstone.dev/calibration/v1"

// Calibration is the noise floor of a machine: what an A/A run, which measured one thing under two names, saw of differences that are
// none.
type Calibration struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	// Fingerprint is the digest of the machine's facts. Runs of the same fingerprint were measured on machines that look the same.
	Fingerprint string    `json:"fingerprint"`
	Ended       time.Time `json:"ended"`
	// Implementations are the two names.
	Implementations [2]string `json:"implementations"`
	// Blocks is the number of blocks to which DetectableRatio applies.
	Blocks  int     `json:"blocks"`
	Entries []Noise `json:"entries"`
}

// Noise is the noise of the pairs of one metric, at one level or over all.
type Noise struct {
	// Metric is Throughput or ServerCPUPerRequest.
	Metric string `json:"metric"`
	// Point is the level; nil for one level of ordinary noise: the root mean square over the levels.
	Point *Point `json:"point,omitempty"`
	// N is the number of pairs in it.
	N int `json:"n"`
	// LogStdDev is the standard deviation of the logs of the pairs' ratios.
	LogStdDev float64 `json:"logStdDev"`
	// Detectable is the smallest relative difference that Blocks blocks of this noise show in 80 % of runs: 0.047 is 4.7 %.
	Detectable float64 `json:"detectable"`
}
