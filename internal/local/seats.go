package local

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// Seats are the CPUs of a run's members, chosen once so that all trials use the same.
type Seats struct {
	// Server are the servers' CPUs; each trial takes as many as it needs from the start.
	Server []int
	// Generators are each generator's; one without its own gets the remaining ones.
	Generators [][]int
	// Rest are for everything else: observers and this program.
	Rest []int
	// Owned is false if members must share CPUs because there are too few.
	Owned bool
}

// Needs are the CPUs that a trial's members must own. A generator that shares CPUs needs none.
type Needs struct {
	server     int
	generators []int
}

// All returns the total number of owned CPUs.
func (n Needs) All() int {
	sum := n.server
	for _, g := range n.generators {
		sum += g
	}
	return sum
}

// NeedsOf returns one trial's needs. Members that must run together share the first one's CPUs.
func NeedsOf(w kind.Work) Needs {
	var n Needs
	for _, m := range w.Members() {
		first := m.Processes[0]
		switch {
		case m.Role == v1alpha1.RoleServer:
			if m.With == "" {
				n.server = max(n.server, Whole(first.MilliCPU))
			}
		case first.CPU == kind.Unlimited:
			n.generators = append(n.generators, 0)
		default:
			n.generators = append(n.generators, Whole(first.MilliCPU))
		}
	}
	return n
}

// Most returns the needs of several trials together.
func (n Needs) Most(other Needs) Needs {
	n.server = max(n.server, other.server)
	for i, g := range other.generators {
		if i < len(n.generators) {
			n.generators[i] = max(n.generators[i], g)
		} else {
			n.generators = append(n.generators, g)
		}
	}
	return n
}

// Whole rounds thousandths of a CPU up to CPUs.
func Whole(milliCPU int64) int { return int((milliCPU + 999) / 1000) }

// way is how CPUs are taken from cores: threads per core (0: all), and cores left over.
type way struct{ server, generator, spare int }

// ways are tried in order. Two threads of a core slow each other down, so the first ways use one per core.
var ways = []way{{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 0, 0}}

// Take chooses CPUs from the highest down, since CPU 0 does most machines' housekeeping. cores are the usable CPUs by core, ascending. It is
// false if there are too few to own.
func Take(cores [][]int, n Needs) (Seats, bool) {
	for _, w := range ways {
		if s, ok := w.take(cores, n); ok {
			return s, true
		}
	}
	// Sharing a core is only marked; members sharing a CPU could not be told apart.
	var threads [][]int
	for _, cpu := range slices.Concat(cores...) {
		threads = append(threads, []int{cpu})
	}
	slices.SortFunc(threads, func(a, b []int) int { return a[0] - b[0] })
	return way{1, 1, 0}.take(threads, n)
}

func (w way) take(cores [][]int, n Needs) (Seats, bool) {
	left := slices.Clone(cores)
	pick := func(cpus, threads int) []int {
		var taken []int
		for len(taken) < cpus && len(left) > 0 {
			core := left[len(left)-1]
			left = left[:len(left)-1]
			if threads > 0 {
				core = core[:min(threads, len(core))]
			}
			taken = append(taken, core...)
		}
		return taken
	}
	server := pick(n.server, w.server)
	onServer := slices.Concat(cores[len(left):]...)
	pool := pick(n.All()-n.server, w.generator)
	if len(server) < n.server || len(pool) < n.All()-n.server || len(left) < w.spare {
		return Seats{}, false
	}
	pool = pool[:n.All()-n.server]
	s := Seats{Server: server[:n.server], Owned: true}
	all := slices.Concat(cores...)
	for _, rest := range [][]int{slices.Concat(left...), without(all, slices.Concat(onServer, pool)), without(all, onServer)} {
		if s.Rest = rest; len(rest) > 0 {
			break
		}
	}
	if len(s.Rest) == 0 {
		return Seats{}, false
	}
	for _, g := range n.generators {
		own := s.Rest
		if g > 0 {
			own, pool = pool[:g], pool[g:]
		}
		s.Generators = append(s.Generators, own)
	}
	return s, true
}

// Share seats members if there are too few CPUs: servers on up to half of them, all others on the rest.
func Share(cores [][]int, n Needs) Seats {
	all := slices.Sorted(slices.Values(slices.Concat(cores...)))
	first := max(len(all)-min(n.server, max(len(all)/2, 1)), 0)
	s := Seats{Server: slices.Clone(all[first:]), Rest: all[:first]}
	slices.Reverse(s.Server)
	if len(s.Rest) == 0 {
		s.Rest = all
	}
	for range n.generators {
		s.Generators = append(s.Generators, s.Rest)
	}
	return s
}

func without(list, others []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(cpu int) bool { return slices.Contains(others, cpu) })
}

// Sentence says which CPUs the members have.
func (s Seats) Sentence() string {
	text := fmt.Sprintf("servers were set on CPUs %v", s.Server)
	for i, g := range s.Generators {
		text += fmt.Sprintf(", generator %d on %v", i, g)
	}
	return text + fmt.Sprintf(", Loadstone itself on %v", s.Rest)
}

// Alone reports whether servers and generators together have one CPU.
func (s Seats) Alone() bool {
	all := slices.Concat(s.Server, slices.Concat(s.Generators...))
	slices.Sort(all)
	return len(slices.Compact(all)) == 1 && len(s.Generators) > 0
}

// Apart reports whether watchers have CPUs without a generator.
func (s Seats) Apart() bool {
	return s.Owned && !slices.ContainsFunc(slices.Concat(s.Generators...), func(cpu int) bool { return slices.Contains(s.Rest, cpu) })
}
