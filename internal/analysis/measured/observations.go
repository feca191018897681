package measured

import (
	"math"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// ObservationName names a fact about a cell, with its unit. Observations are never compared.
type ObservationName string

const (
	// RunQueue is how long the server's ready threads waited for a CPU.
	RunQueue ObservationName = "runQueueMicrosPerRequest"
	// DependencyCPU is the CPU time of all dependencies.
	DependencyCPU ObservationName = "dependencyCPUMicrosPerRequest"
	// Pressure is the share of time with a task waiting for a CPU, by the kernel's PSI.
	Pressure ObservationName = "cpuPressureShare"
	// NeighbourShare is the share of the server's CPUs that others used.
	NeighbourShare ObservationName = "neighbourShare"
	// AgentShare is the largest of the agents.
	AgentShare ObservationName = "agentShareOfOneCPU"
	// RetransmittedShare covers server and generators.
	RetransmittedShare ObservationName = "retransmittedShareOfSegments"
	// ConnectionsOpened counts those that the server accepted.
	ConnectionsOpened ObservationName = "connectionsOpened"
	// TimeWait is the largest number in a generator at the end.
	TimeWait ObservationName = "timeWaitSockets"
	// Fairness is Jain's index of the bytes sent per server connection.
	Fairness ObservationName = "jainFairness"
	// MemoryGrowth is of the server's resident memory; it may be negative.
	MemoryGrowth ObservationName = "memoryGrowthBytesPerRequest"
	// StartSkew is between the generators' first connections, StartSkewError its possible error.
	StartSkew      ObservationName = "startSkewMicros"
	StartSkewError ObservationName = "startSkewErrorMicros"
	// Trend is how much faster the last third was than the first.
	Trend ObservationName = "trendShare"
	// ListenOverflows counts connections that found the accept queue full, SynRetransmits resent handshakes.
	ListenOverflows ObservationName = "listenOverflows"
	SynRetransmits  ObservationName = "synRetransmits"
	// HungConnections were answered at first and then no more.
	HungConnections ObservationName = "hungConnections"
	// AuditedAnswers were read by agents during the measured load.
	AuditedAnswers ObservationName = "auditedAnswers"
	// SampledAnswers were read by agents on the load's own connections.
	SampledAnswers ObservationName = "sampledAnswers"
	// ServerMHz is the mean frequency of the server's CPUs under load.
	ServerMHz ObservationName = "serverMHz"
	// WorkChange is how much longer the same work took after the cell.
	WorkChange ObservationName = "workChangeShare"
	// LargestDip is the slowest interval's distance below the mean.
	LargestDip ObservationName = "largestDipShare"
	// StillShare is the share of standstills: at least 40 ms (older records: 0.2 s) with hardly an answer.
	StillShare ObservationName = "standstillShare"
)

// ObservationNames are in the order of tables.
var ObservationNames = []ObservationName{
	DependencyCPU, RunQueue, Pressure, NeighbourShare, AgentShare, RetransmittedShare, ConnectionsOpened, TimeWait, Fairness, MemoryGrowth,
	StartSkew, StartSkewError, Trend, LargestDip, StillShare,
	ListenOverflows, SynRetransmits, HungConnections, AuditedAnswers, SampledAnswers, ServerMHz, WorkChange,
}

// Observation summarizes one observed quantity over the cells of a group.
type Observation struct {
	Name    ObservationName   `json:"name"`
	Summary inference.Summary `json:"summary"`
}

func (f *Facts) observe() {
	f.Observations = map[ObservationName]float64{}
	f.observeNetwork()
	f.observeAgents()
	f.observeSkew()
	f.observeKernel()
	if f.Seen == nil {
		return
	}
	f.observeServer()
	if f.series = newSeries(f.Seen.Series, f.LoadSeconds, f.Trial.Manifest.Block); f.series != nil {
		f.note(Trend, f.series.trend())
		dip, _ := f.series.dip()
		f.note(LargestDip, dip)
		f.observeStills()
	}
}

// note ignores NaN and infinite values.
func (f *Facts) note(name ObservationName, value float64) {
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		f.Observations[name] = value
	}
}

// Observed returns an observation, if known.
func (f Values) Observed(name ObservationName) (float64, bool) {
	v, ok := f.Observations[name]
	return v, ok
}

// UncountedShare is the share of the server's CPUs in use beyond its counted CPU time. Requires an observation with CoreNanos.
func (f *Facts) UncountedShare() float64 {
	return max(float64(f.Seen.BusyNanos-f.Seen.CPUNanos-f.peerNanos())/float64(f.Seen.CoreNanos), 0)
}

func (f *Facts) observeServer() {
	requests := float64(f.Requests)
	if f.Seen.RunQueueNanos > 0 {
		f.note(RunQueue, float64(f.Seen.RunQueueNanos)/1e3/requests)
	}
	if len(f.Seen.Dependencies) > 0 {
		f.note(DependencyCPU, float64(f.dependencyNanos())/1e3/requests)
	}
	if f.Seen.PressureMicros != nil {
		f.note(Pressure, float64(*f.Seen.PressureMicros)/float64(f.Seen.Ended.Sub(f.Seen.Started).Microseconds()))
	}
	// Uncounted CPU time may be the server's.
	if f.Seen.CoreNanos > 0 && f.Pinning.ServerPinned && len(f.Seen.CPUUncounted) == 0 {
		f.note(NeighbourShare, f.UncountedShare())
	}
	if f.Seen.Sockets != nil && f.Seen.Sockets.Established > 0 {
		f.note(Fairness, f.Seen.Sockets.Jain)
	}
	if f.Seen.RSSStartBytes > 0 {
		f.note(MemoryGrowth, float64(f.Seen.RSSBytes-f.Seen.RSSStartBytes)/requests)
	}
}

// observeNetwork: a namespace that sent no segment was not read.
func (f *Facts) observeNetwork() {
	var all record.Network
	read := false
	for _, r := range f.Runs {
		if r == nil || r.Network.SegmentsOut <= 0 {
			continue
		}
		read = true
		all.SegmentsOut += r.Network.SegmentsOut
		all.Retransmits += r.Network.Retransmits
		all.TimeWait = max(all.TimeWait, r.Network.TimeWait)
	}
	if read {
		f.note(TimeWait, float64(all.TimeWait))
	}
	if f.ServerNetwork() {
		all.SegmentsOut += f.Seen.Network.SegmentsOut
		all.Retransmits += f.Seen.Network.Retransmits
		if f.Seen.Network.PassiveOpens > 0 { // A namespace that other programs use too gives no count.
			f.note(ConnectionsOpened, float64(f.Seen.Network.PassiveOpens))
		}
	}
	f.note(RetransmittedShare, float64(all.Retransmits)/float64(all.SegmentsOut))
}

// observeAgents: an agent without CPU time was not read.
func (f *Facts) observeAgents() {
	for _, r := range f.Runs {
		if r == nil || r.AgentCPUNanos <= 0 {
			continue
		}
		if took := r.Ended.Sub(r.Started); took > 0 {
			f.note(AgentShare, max(f.Observations[AgentShare], float64(r.AgentCPUNanos)/float64(took)))
		}
	}
}

// observeSkew compares first connections in the operator's clock. Each is accurate to half its round trip; the error
// adds these halves.
func (f *Facts) observeSkew() {
	if len(f.Runs) < 2 {
		return
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	earliest, latest := first, last
	for i, r := range f.Runs {
		clock := util.First(f.Trial.Manifest.Clocks, func(c *record.AgentClock) bool { return c.Member == record.MemberGenerator(i) })
		if r == nil || r.FirstConnection == nil || clock == nil {
			return
		}
		at, within := r.FirstConnection.UnixNano()-clock.OffsetNanos, clock.RoundTripNanos/2
		first, last = min(first, at), max(last, at)
		earliest, latest = min(earliest, at-within), max(latest, at+within)
	}
	f.note(StartSkew, float64(last-first)/1e3)
	f.note(StartSkewError, float64(latest-earliest-(last-first))/1e3)
}

func (f *Facts) observeKernel() {
	if h := f.Handshakes(); h != nil {
		f.note(ListenOverflows, float64(h.ListenOverflows))
	}
	if n, known := f.SynRetransmits(); known {
		f.note(SynRetransmits, n)
	}
	if f.Seen != nil && f.Seen.Sockets != nil && f.Seen.Sockets.Hung != nil {
		f.note(HungConnections, float64(*f.Seen.Sockets.Hung))
	}
	if n := f.MeasuredAudit().Requests; n > 0 {
		f.note(AuditedAnswers, float64(n))
	}
	if n := f.LoadAudit().Requests; n > 0 {
		f.note(SampledAnswers, float64(n))
	}
	if before, after, ok := f.Worked(); ok {
		f.note(WorkChange, after/before-1)
	}
	if mean, _ := inference.Moments(f.kHz()); mean > 0 {
		f.note(ServerMHz, mean/1e3)
	}
}

// Describe summarizes the observations of cells.
func Describe(cells []Values) []Observation {
	out := []Observation{}
	for _, name := range ObservationNames {
		var values []float64
		for _, c := range cells {
			if v, ok := c.Observed(name); ok {
				values = append(values, v)
			}
		}
		if s := inference.Summarise(values); s != nil {
			out = append(out, Observation{Name: name, Summary: *s})
		}
	}
	return out
}
