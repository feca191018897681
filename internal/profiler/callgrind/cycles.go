package callgrind

// share computes inclusive costs: a function's own and its callees'. A cycle counts as one function: its own costs, and those of calls that
// leave it.
func (p *Profile) share() {
	group := circles(len(p.Functions), p.Calls)
	size := make([]int, len(p.Functions))
	sums := make([]Cost, len(p.Functions))
	for i, f := range p.Functions {
		size[group[i]]++
		add(&sums[group[i]], p.padded(f.Self))
	}
	for i, c := range p.Calls {
		if group[c.From] != group[c.To] {
			add(&sums[group[c.From]], p.padded(c.Inclusive))
		}
		if c.From == c.To {
			p.Functions[p.Calls[i].From].Recursive = true
		}
	}
	for i := range p.Functions {
		f := &p.Functions[i]
		f.Self, f.Inclusive = p.padded(f.Self), sums[group[i]]
		f.Recursive = f.Recursive || size[group[i]] > 1
	}
}

func (p *Profile) padded(c Cost) Cost {
	if len(c) == len(p.Events) {
		return c
	}
	return append(c, make(Cost, len(p.Events)-len(c))...)
}

// circles numbers functions by call cycle, with Tarjan's algorithm. It is not recursive, because a file may hold a chain of any length.
func circles(n int, calls []Call) []int {
	next := make([][]int, n)
	for _, c := range calls {
		next[c.From] = append(next[c.From], c.To)
	}
	t := tarjan{next: next, index: make([]int, n), low: make([]int, n), group: make([]int, n), done: make([]int, n)}
	for v := range n {
		t.group[v] = -1
	}
	for v := range n {
		if t.index[v] == 0 {
			t.visit(v)
		}
	}
	return t.group
}

// tarjan is the search state. A node's index is 0 until visited; done counts its followed edges.
type tarjan struct {
	next              [][]int
	index, low, group []int
	done              []int
	open              []int
	met, groups       int
}

func (t *tarjan) visit(root int) {
	path := []int{root}
	t.meet(root)
	for len(path) > 0 {
		v := path[len(path)-1]
		if t.done[v] < len(t.next[v]) {
			w := t.next[v][t.done[v]]
			t.done[v]++
			switch {
			case t.index[w] == 0:
				t.meet(w)
				path = append(path, w)
			case t.group[w] < 0:
				t.low[v] = min(t.low[v], t.index[w])
			}
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			above := path[len(path)-1]
			t.low[above] = min(t.low[above], t.low[v])
		}
		if t.low[v] == t.index[v] {
			t.close(v)
		}
	}
}

func (t *tarjan) meet(v int) {
	t.met++
	t.index[v], t.low[v] = t.met, t.met
	t.open = append(t.open, v)
}

func (t *tarjan) close(v int) {
	for {
		w := t.open[len(t.open)-1]
		t.open = t.open[:len(t.open)-1]
		t.group[w] = t.groups
		if w == v {
			t.groups++
			return
		}
	}
}
