package measured

import (
	"slices"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Pinning is where the processes of a cell were allowed to run, as read while they ran.
type Pinning struct {
	// Pinned: server and generators owned their CPUs. ServerPinned: the server did.
	Pinned        bool     `json:"pinned"`
	ServerPinned  bool     `json:"serverPinned"`
	ServerCPUs    string   `json:"serverCPUs"`
	GeneratorCPUs []string `json:"generatorCPUs"`
}

// Allowed is where one process was allowed to run, and how many CPUs it should have. An unread list has no CPU.
type Allowed struct {
	Role string
	List string
	CPUs []int
	Want int32
}

// Own reports whether the process was allowed on exactly the number of CPUs that it should own.
func (a Allowed) Own() bool { return len(a.CPUs) == int(a.Want) }

// Overlap is a generator that was allowed on a CPU of the server, or of an earlier generator.
type Overlap struct {
	Generator int
	OnServer  bool
	List      string
}

// Allowed returns the CPUs of the server and of each generator.
func (f *Facts) Allowed() []Allowed {
	list := ""
	if f.Seen != nil {
		list = f.Seen.CPUsAllowed
	}
	out := []Allowed{{Role: SubjectServer, List: list, CPUs: util.ParseCPUs(list), Want: f.Implementation.CPUs}}
	for i, r := range f.Runs {
		list := ""
		if r != nil {
			list = r.CPUsAllowed
		}
		out = append(out, Allowed{Role: record.MemberGenerator(i), List: list, CPUs: util.ParseCPUs(list), Want: f.Level.GeneratorCPUs()})
	}
	return out
}

// Overlaps finds generators on CPUs of the server or of another generator. CPU numbers are compared within one node
// only.
func (f *Facts) Overlaps() []Overlap {
	if f.Seen == nil {
		return nil
	}
	type owner struct {
		node string
		cpus []int
	}
	var owners []owner
	servers := 0
	if server := util.ParseCPUs(f.Seen.CPUsAllowed); len(server) > 0 {
		owners = append(owners, owner{f.Trial.Servers[0].Environment.Node, server})
		servers = 1
	}
	var out []Overlap
	for i, r := range f.Runs {
		if r == nil {
			continue
		}
		own := owner{f.Trial.Generators[i].Environment.Node, util.ParseCPUs(r.CPUsAllowed)}
		shared := func(o owner) bool { return o.node == own.node && overlap(o.cpus, own.cpus) }
		if slices.ContainsFunc(owners, shared) {
			out = append(out, Overlap{Generator: i, OnServer: slices.ContainsFunc(owners[:servers], shared), List: r.CPUsAllowed})
		}
		owners = append(owners, own)
	}
	return out
}

// Duet reports whether the cell is half of a duet, where the generator is frozen half of the time.
func (f *Facts) Duet() bool { return len(f.Trial.Manifest.Servers) > 1 }

// Together reports whether the two servers of a duet shared the same CPUs, and returns the other's list. True outside
// a duet and if the server was not observed.
func (f *Facts) Together() (list string, together bool) {
	if !f.Duet() || f.Seen == nil {
		return "", true
	}
	if f.Peer != nil {
		list = f.Peer.CPUsAllowed
	}
	own := util.ParseCPUs(f.Seen.CPUsAllowed)
	peer, _ := f.Trial.Server(1)
	node := f.Trial.Servers[0].Environment.Node == peer.Environment.Node
	return list, len(own) > 0 && node && slices.Equal(own, util.ParseCPUs(list))
}

func (f *Facts) pinning() Pinning {
	allowed, overlaps := f.Allowed(), f.Overlaps()
	p := Pinning{ServerCPUs: allowed[0].List, GeneratorCPUs: make([]string, 0, len(f.Runs))}
	for i, r := range f.Runs {
		if r != nil {
			p.GeneratorCPUs = append(p.GeneratorCPUs, allowed[1+i].List)
		}
	}
	_, together := f.Together()
	p.ServerPinned = allowed[0].Own() && together && !slices.ContainsFunc(overlaps, func(o Overlap) bool { return o.OnServer })
	p.Pinned = p.ServerPinned && len(overlaps) == 0 && !slices.ContainsFunc(allowed, func(a Allowed) bool { return !a.Own() })
	return p
}

// OnThreads returns the generators that were allowed on sibling hardware threads of the server's cores.
func (f *Facts) OnThreads() []Allowed {
	if f.Seen == nil {
		return nil
	}
	threads := Siblings(f.Trial.Servers[0], f.Seen)
	var out []Allowed
	for i, a := range f.Allowed()[1:] {
		if f.Runs[i] != nil && f.sharesNode(i) && overlap(threads, a.CPUs) {
			out = append(out, a)
		}
	}
	return out
}

func (f *Facts) sharesNode(i int) bool {
	return f.Trial.Servers[0].Environment.Node == f.Trial.Generators[i].Environment.Node
}

// Siblings returns the hardware threads that share a core with the server's CPUs and are not its own; none if the
// kernel does not tell. An observer reads them once per trial, for the CPUs of its last cell; for other CPUs they
// mean nothing.
func Siblings(server record.ObserverResult, seen *record.CellObservation) []int {
	own, threads := util.ParseCPUs(seen.CPUsAllowed), util.ParseCPUs(server.Environment.SMTSiblings)
	if len(own) == 0 {
		return nil
	}
	for _, cpu := range own {
		if !slices.Contains(threads, cpu) {
			return nil
		}
	}
	return slices.DeleteFunc(threads, func(cpu int) bool { return slices.Contains(own, cpu) })
}

// ObserverOnServer reports whether the observer was allowed on a CPU of its server.
func (f *Facts) ObserverOnServer() bool {
	return f.Seen != nil && overlap(util.ParseCPUs(f.Seen.CPUsAllowed), util.ParseCPUs(f.Trial.Servers[0].Environment.CPUsAllowed))
}

// Busiest returns the utilisation of the busiest generator, or of CPUs that several generators or other processes
// share: two generators with half a CPU each have no more to give than one with the whole.
func (f *Facts) Busiest() float64 {
	busiest := slices.Max(append([]float64{0}, f.GeneratorUtilisation...))
	for i, r := range f.Runs {
		if r == nil || r.Measurement == nil || r.Measurement.DurationMicros <= 0 {
			continue
		}
		cpus := util.ParseCPUs(r.CPUsAllowed)
		if len(cpus) == 0 {
			continue
		}
		var nanos int64
		for j, o := range f.Runs {
			if o == nil || f.Trial.Generators[i].Environment.Node != f.Trial.Generators[j].Environment.Node {
				continue
			}
			if overlap(cpus, util.ParseCPUs(o.CPUsAllowed)) {
				nanos += o.CPUNanos
			}
		}
		busiest = max(busiest, float64(nanos)/1e3/float64(r.Measurement.DurationMicros)/float64(len(cpus)), f.taken(i))
	}
	return busiest
}

// taken returns the used or stolen share of a generator's CPUs; 0 if unknown or if the server has some of them.
func (f *Facts) taken(i int) float64 {
	r := f.Runs[i]
	onServer := f.Seen != nil && f.sharesNode(i) && overlap(util.ParseCPUs(r.CPUsAllowed), util.ParseCPUs(f.Seen.CPUsAllowed))
	if r.CoreNanos <= 0 || onServer {
		return 0
	}
	return float64(r.BusyNanos+r.StealNanos) / float64(r.CoreNanos)
}

// ServerUtilisation returns the share of its own CPUs that the server used or lost to the hypervisor; 0 if unknown.
func (f *Facts) ServerUtilisation() float64 {
	if f.ServerCPUs == nil {
		return 0
	}
	return *f.ServerCPUs/float64(f.Implementation.CPUs) + f.Steal()
}

// Steal returns the share of the server's CPUs that the hypervisor took; 0 if unknown.
func (f *Facts) Steal() float64 {
	if f.Seen == nil || f.Seen.CoreNanos <= 0 {
		return 0
	}
	return float64(f.Seen.StealNanos) / float64(f.Seen.CoreNanos)
}

// Throttled returns the share of the load during which a quota held the server back; 0 if unknown.
func (f *Facts) Throttled() float64 {
	if f.Seen == nil || f.LoadSeconds <= 0 {
		return 0
	}
	return float64(f.Seen.ThrottledNanos) / 1e9 / f.LoadSeconds
}

// peerNanos returns the CPU time of a duet's other server, which is no noisy neighbour; 0 outside a duet.
func (f *Facts) peerNanos() int64 {
	if f.Peer == nil {
		return 0
	}
	return f.Peer.CPUNanos
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(c int) bool { return slices.Contains(b, c) })
}

// Worked returns the CPU time of the fixed work before and after the cell; false if either is missing. In a duet one
// observer does it for both servers.
func (f *Facts) Worked() (before, after float64, ok bool) {
	for _, o := range []*record.CellObservation{f.Seen, f.Peer} {
		if o != nil && o.WorkBefore != nil && o.WorkAfter != nil && o.WorkBefore.CPUNanos > 0 {
			return float64(o.WorkBefore.CPUNanos), float64(o.WorkAfter.CPUNanos), true
		}
	}
	return 0, 0, false
}

// Frequencies returns the mean kHz of the server's CPUs over the first and last third of the measured time; false if
// unknown.
func (f *Facts) Frequencies() (first, last float64, ok bool) {
	kHz := f.kHz()
	third := len(kHz) / 3
	if len(kHz) < minIntervals {
		return 0, 0, false
	}
	first, _ = inference.Moments(kHz[:third])
	last, _ = inference.Moments(kHz[len(kHz)-third:])
	return first, last, first > 0
}

// kHz returns the frequency in each interval of the measured time.
func (f *Facts) kHz() []float64 {
	if f.Seen == nil || f.Seen.Series == nil || f.Seen.Series.EveryMillis <= 0 {
		return nil
	}
	var out []float64
	whole := int(f.LoadSeconds * 1e3 / float64(f.Seen.Series.EveryMillis))
	for _, v := range f.Seen.Series.KHz[:min(whole, len(f.Seen.Series.KHz))] {
		out = append(out, float64(v))
	}
	return out
}
