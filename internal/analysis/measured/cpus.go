package measured

import (
	"slices"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Pinning is where a cell's processes could run, read while they ran.
type Pinning struct {
	// Pinned also requires that generators owned their CPUs.
	Pinned        bool     `json:"pinned"`
	ServerPinned  bool     `json:"serverPinned"`
	ServerCPUs    string   `json:"serverCPUs"`
	GeneratorCPUs []string `json:"generatorCPUs"`
}

// Allowed is where one process could run. An unread list has no CPU.
type Allowed struct {
	Role string
	List string
	CPUs []int
	Want int32
}

// Own reports whether the process had exactly its number of CPUs.
func (a Allowed) Own() bool { return len(a.CPUs) == int(a.Want) }

// Overlap is a generator on a CPU of the server or an earlier generator.
type Overlap struct {
	Generator int
	OnServer  bool
	List      string
}

// Allowed returns the CPUs of the server, then those of each generator. Without an observation the server's list is
// empty.
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

// Overlaps finds generators on others' CPUs, within one node.
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

// Duet reports whether the cell is half of a duet.
func (f *Facts) Duet() bool { return len(f.Trial.Manifest.Servers) > 1 }

// Together reports whether a duet's servers shared their CPUs, and the other's list. True outside a duet and without
// an observation.
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

// OnThreads returns generators on sibling threads of the server's cores.
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

// Siblings returns the other hardware threads of the server's cores; none if unknown. An observer reads them once per
// trial, for the CPUs of its last cell.
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

// ObserverOnServer reports whether the observer could run on a CPU of the server.
func (f *Facts) ObserverOnServer() bool {
	return f.Seen != nil && overlap(util.ParseCPUs(f.Seen.CPUsAllowed), util.ParseCPUs(f.Trial.Servers[0].Environment.CPUsAllowed))
}

// Busiest returns the busiest generator's utilisation, or that of shared CPUs: two generators with half a CPU each
// have no more to give than one with the whole.
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

// taken returns the used or stolen share of a generator's CPUs; 0 if unknown or shared with the server.
func (f *Facts) taken(i int) float64 {
	r := f.Runs[i]
	onServer := f.Seen != nil && f.sharesNode(i) && overlap(util.ParseCPUs(r.CPUsAllowed), util.ParseCPUs(f.Seen.CPUsAllowed))
	if r.CoreNanos <= 0 || onServer {
		return 0
	}
	return float64(r.BusyNanos+r.StealNanos) / float64(r.CoreNanos)
}

// ServerUtilisation includes stolen time; 0 if unknown.
func (f *Facts) ServerUtilisation() float64 {
	if f.ServerCPUs == nil {
		return 0
	}
	return *f.ServerCPUs/float64(f.Implementation.CPUs) + f.Steal()
}

// Steal returns the stolen share of the server's CPUs; 0 if unknown.
func (f *Facts) Steal() float64 {
	if f.Seen == nil || f.Seen.CoreNanos <= 0 {
		return 0
	}
	return float64(f.Seen.StealNanos) / float64(f.Seen.CoreNanos)
}

// Throttled returns the throttled share of the load; 0 if unknown.
func (f *Facts) Throttled() float64 {
	if f.Seen == nil || f.LoadSeconds <= 0 {
		return 0
	}
	return float64(f.Seen.ThrottledNanos) / 1e9 / f.LoadSeconds
}

// peerNanos is the CPU time of a duet's other server, which is no noisy neighbour.
func (f *Facts) peerNanos() int64 {
	if f.Peer == nil {
		return 0
	}
	return f.Peer.CPUNanos
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(c int) bool { return slices.Contains(b, c) })
}

// Worked returns the CPU time of the fixed work before and after the cell. In a duet one observer does it for both
// servers.
func (f *Facts) Worked() (before, after float64, ok bool) {
	for _, o := range []*record.CellObservation{f.Seen, f.Peer} {
		if o != nil && o.WorkBefore != nil && o.WorkAfter != nil && o.WorkBefore.CPUNanos > 0 {
			return float64(o.WorkBefore.CPUNanos), float64(o.WorkAfter.CPUNanos), true
		}
	}
	return 0, 0, false
}

// Frequencies returns mean kHz in the first and last third of the measured time.
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
