package local

import (
	"fmt"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/kind"
)

// seats are the CPUs of a run's members. They are chosen once, so that every trial runs on the same.
type seats struct {
	// server are the CPUs of the servers, of which each trial takes as many as it needs, from the first on.
	server []int
	// generators are those of each generator; one that owns none has those that are left over.
	generators [][]int
	// rest are for everything else: observers, and this program.
	rest []int
	// owned is false if members share CPUs, since there are too few.
	owned bool
}

// needs are the CPUs that the members of a trial want to own. A generator that shares its CPUs with others wants none.
type needs struct {
	server     int
	generators []int
}

// all is the number of CPUs that are to be owned.
func (n needs) all() int {
	sum := n.server
	for _, g := range n.generators {
		sum += g
	}
	return sum
}

// needsOf are the needs of one trial. Members that must run together share the CPUs of the first of them.
func needsOf(w kind.Work) needs {
	var n needs
	for _, m := range w.Members() {
		first := m.Processes[0]
		switch {
		case m.Role == v1alpha1.RoleServer:
			if m.With == "" {
				n.server = max(n.server, whole(first.MilliCPU))
			}
		case first.CPU == kind.Unlimited:
			n.generators = append(n.generators, 0)
		default:
			n.generators = append(n.generators, whole(first.MilliCPU))
		}
	}
	return n
}

// most are the needs of several trials together.
func (n needs) most(other needs) needs {
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

// whole is how many CPUs hold so many thousandths of one.
func whole(milliCPU int64) int { return int((milliCPU + 999) / 1000) }

// way is how CPUs are taken from cores: how many hardware threads of each core, 0 for all, and how many cores are left over.
type way struct{ server, generator, spare int }

// ways are tried one after the other. Two threads of a core slow each other down, so the first of them use one thread of each core.
var ways = []way{{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {1, 0, 0}, {0, 0, 1}, {0, 0, 0}}

// take chooses CPUs, the highest first, since the first CPU does the housekeeping of most machines. cores are the CPUs that may be used, by
// core, in ascending order. It is false if there are too few for every member to own what it needs.
func take(cores [][]int, n needs) (seats, bool) {
	for _, w := range ways {
		if s, ok := w.take(cores, n); ok {
			return s, true
		}
	}
	// Members that own their CPUs and share cores are marked; those that share CPUs could not be told apart at all.
	var threads [][]int
	for _, cpu := range slices.Concat(cores...) {
		threads = append(threads, []int{cpu})
	}
	slices.SortFunc(threads, func(a, b []int) int { return a[0] - b[0] })
	return way{1, 1, 0}.take(threads, n)
}

func (w way) take(cores [][]int, n needs) (seats, bool) {
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
	pool := pick(n.all()-n.server, w.generator)
	if len(server) < n.server || len(pool) < n.all()-n.server || len(left) < w.spare {
		return seats{}, false
	}
	pool = pool[:n.all()-n.server]
	s := seats{server: server[:n.server], owned: true}
	all := slices.Concat(cores...)
	for _, rest := range [][]int{slices.Concat(left...), without(all, slices.Concat(onServer, pool)), without(all, onServer)} {
		if s.rest = rest; len(rest) > 0 {
			break
		}
	}
	if len(s.rest) == 0 {
		return seats{}, false
	}
	for _, g := range n.generators {
		own := s.rest
		if g > 0 {
			own, pool = pool[:g], pool[g:]
		}
		s.generators = append(s.generators, own)
	}
	return s, true
}

// share seats members where there are too few CPUs: the servers on up to half of them, everybody else on the others.
func share(cores [][]int, n needs) seats {
	all := slices.Sorted(slices.Values(slices.Concat(cores...)))
	first := max(len(all)-min(n.server, max(len(all)/2, 1)), 0)
	s := seats{server: slices.Clone(all[first:]), rest: all[:first]}
	slices.Reverse(s.server)
	if len(s.rest) == 0 {
		s.rest = all
	}
	for range n.generators {
		s.generators = append(s.generators, s.rest)
	}
	return s
}

// without are the elements of one list that are not in the other.
func without(list, others []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(cpu int) bool { return slices.Contains(others, cpu) })
}

// sentence returns in a sentence which CPUs the members have.
func (s seats) sentence() string {
	text := fmt.Sprintf("servers were set on CPUs %v", s.server)
	for i, g := range s.generators {
		text += fmt.Sprintf(", generator %d on %v", i, g)
	}
	return text + fmt.Sprintf(", Loadstone itself on %v", s.rest)
}
