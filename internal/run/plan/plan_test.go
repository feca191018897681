package plan

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/tool/k6"
	"loadstone.dev/loadstone/internal/tool/vegeta"
)

var update = flag.Bool("update", false, "rewrite golden files")

func spec(deltas ...func(*v1alpha1.BenchmarkRunSpec)) v1alpha1.BenchmarkRunSpec {
	s := v1alpha1.BenchmarkRunSpec{
		Baseline: "go",
		Implementations: []v1alpha1.Implementation{
			{Name: "go", Image: "go:1", Port: 8080},
			{Name: "epoll", Image: "epoll:1", Port: 8081, CPUs: 2, Role: v1alpha1.RoleReference},
		},
		Loads: []v1alpha1.Load{{
			Name: "sweep", Tool: v1alpha1.ToolWrk, DurationSeconds: 2,
			Levels: []v1alpha1.Level{{Connections: 10}, {Connections: 100}},
		}},
		Blocks: 3,
	}
	for _, d := range deltas {
		d(&s)
	}
	return s
}

func TestCompileMatchesTheGoldenPlan(t *testing.T) {
	golden(t, "plan.json", spec(), "quick")
}

func golden(t *testing.T, name string, s v1alpha1.BenchmarkRunSpec, run string) {
	t.Helper()
	p, err := Compile(s, Options{Name: run, UID: "0c9f"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("plan differs from %s (-want +got):\n%s", path, diff)
	}
}

func TestEveryBlockHoldsEveryImplementationOnce(t *testing.T) {
	p, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Blocks = 50 }), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]int{}
	for b := range 50 {
		pair := p.Trials[2*b : 2*b+2]
		if pair[0].Servers[0] == pair[1].Servers[0] || pair[0].Block != int32(b+1) || pair[1].Block != int32(b+1) {
			t.Fatalf("block %d holds %+v", b+1, pair)
		}
		first[pair[0].Servers[0]]++
	}
	// Of 50 fair coins, fewer than 10 heads or tails occur once in 100,000 tries; a fixed order gives 0.
	for name, n := range first {
		if n < 10 || len(first) != 2 {
			t.Errorf("%s goes first in %d of 50 blocks: the order is not random", name, n)
		}
	}
}

func TestThePlanDependsOnSpecNameAndUIDOnly(t *testing.T) {
	hash := func(s v1alpha1.BenchmarkRunSpec, o Options) string {
		p, err := Compile(s, o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash()
	}
	base := hash(spec(), Options{Name: "r", UID: "u"})
	if again := hash(spec(), Options{Name: "r", UID: "u"}); again != base {
		t.Errorf("compiled twice: %s and %s", base, again)
	}
	if other := hash(spec(), Options{Name: "r", UID: "v"}); other == base {
		t.Error("another UID gives the same plan: the seed has no effect")
	}
}

// A drawn seed in a spec gives the same order again.
func TestTwoRunsOfOneSeedMeasureInTheSameOrder(t *testing.T) {
	order := func(seed int64, uid string) (Plan, []string) {
		p, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Seed, s.Blocks = seed, 20 }), Options{Name: "r", UID: uid})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, trial := range append(p.Trials, p.Repeat("r", 1)...) {
			names = append(names, trial.Name)
		}
		return p, names
	}
	drawn, first := order(0, "u")
	if note := fmt.Sprintf("spec.seed defaults to %d, drawn from the run's UID", drawn.Seed); !strings.Contains(strings.Join(drawn.Notes, "\n"), note) {
		t.Errorf("no note says %q: %q", note, drawn.Notes)
	}
	if _, other := order(0, "v"); slices.Equal(first, other) {
		t.Error("another UID gives the same order")
	}
	given, again := order(int64(drawn.Seed), "v")
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the seed %d gives another order than the run for which it was drawn (-drawn +given):\n%s", drawn.Seed, diff)
	}
	if notes := strings.Join(given.Notes, "\n"); strings.Contains(notes, "spec.seed defaults to") || !strings.Contains(notes, fmt.Sprintf("the seed %d", drawn.Seed)) {
		t.Errorf("the notes do not name the given seed: %q", given.Notes)
	}
}

// A reported seed must be valid in a spec, and exact in a floating-point JSON reader.
func TestADrawnSeedFitsIntoASpec(t *testing.T) {
	for i := range 1000 {
		p, err := Compile(spec(), Options{Name: "r", UID: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		if p.Seed < 1 || p.Seed > 1<<53-1 {
			t.Errorf("the seed %d of UID %d is none that a spec may have", p.Seed, i)
		}
	}
}

func TestCompileRefusesWhatTheSchemaCannotSay(t *testing.T) {
	tests := map[string]struct {
		delta func(*v1alpha1.BenchmarkRunSpec)
		want  string
	}{
		"connections that threads cannot share": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Generators.CPUs = 3 },
			"spec.loads[0].levels[0].connections is 10, which 1 generator pods of 3 threads",
		},
		"memory too small for any container": {
			func(s *v1alpha1.BenchmarkRunSpec) { q := resource.MustParse("1Ki"); s.Implementations[1].Memory = &q },
			"spec.implementations[1].memory is 1Ki",
		},
		"a limit that would let more errors pass": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Validity.MaxErrorRate = "0.01" },
			`spec.validity.maxErrorRate is "0.01": give a decimal from 0 to 0.001`,
		},
		"a limit that is no number": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Validity.MaxSteal = "NaN" },
			"spec.validity.maxSteal",
		},
		"more trials than a workflow can hold": {
			func(s *v1alpha1.BenchmarkRunSpec) {
				s.Blocks = 100
				for i := range 14 {
					s.Implementations = append(s.Implementations, v1alpha1.Implementation{Name: fmt.Sprintf("i%d", i), Image: "x", Port: 1})
				}
			},
			"makes 1600 trials",
		},
		"a port that an agent needs": {
			func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Port = 7600 },
			"spec.implementations[1].port is 7600, on which the agent beside each server listens",
		},
		"trials that no object can hold": {
			func(s *v1alpha1.BenchmarkRunSpec) {
				body := strings.Repeat("x", 64_000)
				s.Loads[0].Request.Expect.Body = &body
				for c := range int32(20) {
					s.Loads[0].Levels = append(s.Loads[0].Levels, v1alpha1.Level{Connections: 200 + c})
				}
			},
			"shorten body and expect.body of the requests in spec.loads[], which each of its 22 cells repeats",
		},
		"no implementation": {func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations = nil }, "spec.implementations is empty"},
		"no load":           {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads = nil }, "spec.loads and spec.microbenchmark are empty"},
		"no level":          {func(s *v1alpha1.BenchmarkRunSpec) { s.Loads[0].Levels = nil }, "spec.loads[0].levels is empty"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(spec(tc.delta), Options{Name: "r", UID: "u"})
			var v *Violation
			if !errors.As(err, &v) || v.Reason != v1alpha1.ReasonInvalidSpec || !strings.Contains(v.Message, tc.want) {
				t.Errorf("got %v, want a violation that says %q", err, tc.want)
			}
		})
	}
}

// The highest allowed rate is the highest ever kept, on every generator CPU.
func TestARateThatNoGeneratorHasKeptIsRefused(t *testing.T) {
	most := int32(k6.MaxRatePerCPU)
	for name, tc := range map[string]struct {
		generators v1alpha1.Generators
		level      v1alpha1.Level
		start      int32
		want       string
	}{
		"the most of one CPU":       {level: v1alpha1.Level{RequestsPerSecond: most}},
		"one more":                  {level: v1alpha1.Level{RequestsPerSecond: most + 1}, want: "spec.loads[0].levels[0].requestsPerSecond is 25001, but of k6 no more than 25000 requests/s are asked for each CPU, and spec.loads[0].generators.pods times cpus is 1: lower it to at most 25000, or raise spec.loads[0].generators"},
		"as much on two CPUs":       {generators: v1alpha1.Generators{CPUs: 2}, level: v1alpha1.Level{RequestsPerSecond: most + 1}},
		"as much in two pods":       {generators: v1alpha1.Generators{Pods: 2}, level: v1alpha1.Level{RequestsPerSecond: 2 * most}},
		"too much for two of two":   {generators: v1alpha1.Generators{Pods: 2, CPUs: 2}, level: v1alpha1.Level{RequestsPerSecond: 4*most + 1}, want: "lower it to at most 100000"},
		"a ramp that ends too high": {level: v1alpha1.Level{RequestsPerSecond: 1, RampToRequestsPerSecond: most + 1}, want: "spec.loads[0].levels[0].rampToRequestsPerSecond is 25001"},
		"a ramp that is kept":       {level: v1alpha1.Level{RequestsPerSecond: 1, RampToRequestsPerSecond: most}},
		"a search that starts high": {start: most + 1, want: "spec.loads[0].search.startRequestsPerSecond is 25001"},
		"a search that can start":   {start: most},
		"no rate":                   {},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) {
				tc.level.Connections = 10
				s.Loads[0].Tool, s.Loads[0].Generators, s.Loads[0].Levels = v1alpha1.ToolK6, tc.generators, []v1alpha1.Level{tc.level}
				if tc.start > 0 {
					s.Loads[0].Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 100, StartRequestsPerSecond: tc.start}
				}
			}), Options{Name: "r", UID: "u"})
			var v *Violation
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (!errors.As(err, &v) || !strings.Contains(v.Message, tc.want)):
				t.Errorf("got %v, want a violation that says %q", err, tc.want)
			}
		})
	}
}

// A constant-rate tool gets only constant rates, and no more requests than it may record.
func TestWhatAToolOfConstantRatesIsRefused(t *testing.T) {
	most := int32(vegeta.MaxRatePerCPU)
	for name, tc := range map[string]struct {
		generators v1alpha1.Generators
		level      v1alpha1.Level
		seconds    int32
		search     bool
		want       string
	}{
		"a rate":                           {level: v1alpha1.Level{RequestsPerSecond: 10_000}},
		"the highest rate":                 {level: v1alpha1.Level{RequestsPerSecond: most}},
		"one more":                         {level: v1alpha1.Level{RequestsPerSecond: most + 1}, want: "but of vegeta no more than 25000 requests/s are asked for each CPU"},
		"a search":                         {search: true},
		"no rate":                          {want: "spec.loads[0].levels[0] has no constant rate, and vegeta sustains nothing else: set requestsPerSecond without rampToRequestsPerSecond, or use ab"},
		"a ramp":                           {level: v1alpha1.Level{RequestsPerSecond: 10, RampToRequestsPerSecond: 20}, want: "spec.loads[0].levels[0] has no constant rate"},
		"a million records":                {level: v1alpha1.Level{RequestsPerSecond: 10_000}, seconds: 100},
		"more":                             {level: v1alpha1.Level{RequestsPerSecond: 10_000}, seconds: 101, want: "spec.loads[0].durationSeconds is 101, in which a generator makes up to 1010000 requests of levels[0], and vegeta leaves a record of each, which must be no more than 1000000: make it 100 at most, or use k6"},
		"a remainder for the first of two": {generators: v1alpha1.Generators{Pods: 2}, level: v1alpha1.Level{RequestsPerSecond: 555}, seconds: 3600, want: "spec.loads[0].durationSeconds is 3600, in which a generator makes up to 1000800 requests of levels[0], and vegeta leaves a record of each, which must be no more than 1000000: make it 3597 at most, or use k6"},
		"more, shared by two":              {generators: v1alpha1.Generators{Pods: 2}, level: v1alpha1.Level{RequestsPerSecond: 10_000}, seconds: 101},
		"more, at the end of a search":     {search: true, seconds: 41, want: "spec.loads[0].durationSeconds is 41, in which a generator makes up to 1025000 requests"},
		"a million at the end of a search": {search: true, seconds: 40},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) {
				tc.level.Connections = 10
				s.Loads[0].Tool, s.Loads[0].Generators, s.Loads[0].Levels, s.Loads[0].DurationSeconds = v1alpha1.ToolVegeta, tc.generators, []v1alpha1.Level{tc.level}, tc.seconds
				if tc.search {
					s.Loads[0].Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: 10}
				}
			}), Options{Name: "r", UID: "u"})
			var v *Violation
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (!errors.As(err, &v) || !strings.Contains(v.Message, tc.want)):
				t.Errorf("got %v, want a violation that says %q", err, tc.want)
			}
		})
	}
}

func TestASearchBelowWhatItsGeneratorCanTellSaysSo(t *testing.T) {
	for at, want := range map[struct {
		tool  v1alpha1.Tool
		bound int32
	}]bool{
		{v1alpha1.ToolK6, 1}: true, {v1alpha1.ToolK6, 49}: true, {v1alpha1.ToolK6, 50}: false, {v1alpha1.ToolK6, 1000}: false,
		{v1alpha1.ToolVegeta, 9}: true, {v1alpha1.ToolVegeta, 10}: false, {v1alpha1.ToolVegeta, 49}: false,
	} {
		p, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) {
			s.Loads[0].Tool, s.Loads[0].Levels = at.tool, s.Loads[0].Levels[:1]
			s.Loads[0].Search = v1alpha1.Search{Percentile: 99, MaxMilliseconds: at.bound}
		}), Options{Name: "r", UID: "u"})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(strings.Join(p.Notes, "\n"), string(at.tool)+" may be the cause of a missed rate")
		if said != want {
			t.Errorf("a bound of %d ms by %s: said %v, want %v; notes %q", at.bound, at.tool, said, want, p.Notes)
		}
	}
}

func TestFits(t *testing.T) {
	tests := map[string]struct {
		nodes []Node
		want  string
	}{
		"a labelled node of each role": {nodes: []Node{{Name: "s", Role: "server", MilliCPU: 2200}, {Name: "g", Role: "generator", MilliCPU: 1000}, {Name: "x", Role: "", MilliCPU: 64000}}},
		"unlabelled nodes serve both":  {nodes: []Node{{Name: "a", Role: "", MilliCPU: 4000}}},
		"a large node of the wrong role does not help": {
			nodes: []Node{{Name: "s", Role: "server", MilliCPU: 2199}, {Name: "g", Role: "generator", MilliCPU: 64000}},
			want:  "spec.implementations[1].cpus is 2: its pod needs 2200m CPU on one node, and the largest node for a server, s, has 2199m",
		},
		"the generator is too large": {
			nodes: []Node{{Name: "s", Role: "server", MilliCPU: 8000}, {Name: "g", Role: "generator", MilliCPU: 900}},
			want:  "spec.loads[].generators.cpus is 1: its pod needs 1000m",
		},
		"no node at all": {want: "label one with loadstone.dev/role=server"},
		"the servers' nodes are gone": {
			nodes: []Node{{Name: "g", Role: "generator", MilliCPU: 1000}, {Name: "x", MilliCPU: 64000}},
			want:  "no node may run a server: label one with loadstone.dev/role=server",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(spec(), Options{Name: "r", UID: "u"})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if v := Fits(p, tc.nodes); v != nil {
				got = v.Message
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestGeneratorsFitWhereAllFindRoomAtOnce(t *testing.T) {
	two := func(pinning, separate v1alpha1.Strictness) func(*v1alpha1.BenchmarkRunSpec) {
		return func(s *v1alpha1.BenchmarkRunSpec) {
			s.Loads[0].Generators.Pods, s.Placement.GeneratorPinning, s.Placement.SeparateNodes = 2, pinning, separate
		}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.BenchmarkRunSpec)
		nodes  []Node
		want   string
	}{
		"one node with room for both": {two("", ""), []Node{{Name: "s", Role: "server", MilliCPU: 2200}, {Name: "g", Role: "generator", MilliCPU: 2000}}, ""},
		"a node for each":             {two("", ""), []Node{{Name: "s", Role: "server", MilliCPU: 2200}, {Name: "g", Role: "generator", MilliCPU: 1000}, {Name: "h", Role: "generator", MilliCPU: 1500}}, ""},
		"room for one": {
			two("", ""),
			[]Node{{Name: "s", Role: "server", MilliCPU: 2200}, {Name: "g", Role: "generator", MilliCPU: 1999}},
			"spec.loads[].generators.pods is 2: with 1000m CPU each, the nodes for generators have room for 1: ask for fewer, add nodes, or let them share CPUs with spec.placement.generatorPinning: Preferred",
		},
		"the same, shared":          {two(v1alpha1.Preferred, ""), []Node{{Name: "s", Role: "server", MilliCPU: 2200}, {Name: "g", Role: "generator", MilliCPU: 1999}}, ""},
		"beside the server":         {two("", ""), []Node{{Name: "a", Role: "", MilliCPU: 4000}}, ""},
		"beside it, which must not": {two("", v1alpha1.Required), []Node{{Name: "a", Role: "", MilliCPU: 4000}}, "no node may run a generator apart from the servers"},
		"on another":                {two("", v1alpha1.Required), []Node{{Name: "a", Role: "", MilliCPU: 4000}, {Name: "b", Role: "", MilliCPU: 2200}}, ""},
		"on another, too small":     {two("", v1alpha1.Required), []Node{{Name: "a", Role: "", MilliCPU: 2300}, {Name: "b", Role: "", MilliCPU: 900}}, "the largest node for a generator apart from the servers, b, has 900m"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(spec(tc.change), Options{Name: "r", UID: "u"})
			if err != nil {
				t.Fatal(err)
			}
			v := Fits(p, tc.nodes)
			if (v != nil) != (tc.want != "") || v != nil && !strings.Contains(v.Message, tc.want) {
				t.Errorf("got %v, want %q", v, tc.want)
			}
		})
	}
}

func TestPodsKeepToTheNodesOfTheirRoleWhereAnyNodeHasOne(t *testing.T) {
	server, generator, other := Node{Name: "s", Role: "server"}, Node{Name: "g", Role: "generator"}, Node{Name: "x"}
	away := server
	away.Away = true
	for name, tc := range map[string]struct {
		nodes []Node
		keeps bool
	}{
		"nodes of both roles":          {[]Node{server, generator, other}, true},
		"the server's is away":         {[]Node{away, generator, other}, true},
		"the server's is gone":         {[]Node{generator, other}, true},
		"nobody has a role":            {[]Node{other}, false},
		"there is no node, or no more": {nil, false},
	} {
		if got := Selector(tc.nodes, v1alpha1.RoleServer)[v1alpha1.LabelRole]; (got == v1alpha1.RoleServer) != tc.keeps {
			t.Errorf("%s: a server runs on nodes of the role %q", name, got)
		}
	}
}

func TestARunWaitsForNodesThatMayComeBack(t *testing.T) {
	p, err := Compile(spec(), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	server, generator := Node{Name: "s", Role: "server", MilliCPU: 2200}, Node{Name: "g", Role: "generator", MilliCPU: 1000}
	away := func(n Node) Node { n.Away = true; return n }
	other := Node{Name: "x", MilliCPU: 64000}
	for name, tc := range map[string]struct {
		nodes   []Node
		fits    bool
		awaited string
	}{
		"all are there":                  {[]Node{server, generator}, true, ""},
		"the server's is cordoned":       {[]Node{away(server), generator}, false, "s"},
		"both are, and another has room": {[]Node{away(server), away(generator), other}, false, "s, g"},
		"one too many is":                {[]Node{server, generator, away(other)}, true, ""},
		"even with it there is no room":  {[]Node{away(Node{Name: "s", Role: "server", MilliCPU: 100}), generator}, false, ""},
		"nobody carries a label, one is": {[]Node{away(Node{Name: "a", MilliCPU: 4000}), {Name: "b", MilliCPU: 100}}, false, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			if v := Fits(p, tc.nodes); (v == nil) != tc.fits {
				t.Errorf("it fits: %v", v)
			}
			want := ""
			if tc.awaited != "" {
				want = "waiting for nodes that are cordoned or not ready: " + tc.awaited
			}
			if got := Awaits(p, tc.nodes); !tc.fits && got != want {
				t.Errorf("it is %q, want %q", got, want)
			}
			if tc.nodes[0].Role == v1alpha1.RoleServer && Selector(tc.nodes, v1alpha1.RoleServer) == nil {
				t.Error("a server may run anywhere")
			}
		})
	}
}

func FuzzCompile(f *testing.F) {
	f.Add([]byte(`{"implementations":[{"name":"a","image":"x","port":1}],"loads":[{"name":"l","tool":"wrk","levels":[{"connections":1}]}]}`), "run", "uid")
	f.Add([]byte(`{"blocks":-1,"implementations":[{}],"loads":[{"levels":[{}],"generators":{"cpus":-1}}]}`), "", "")
	f.Fuzz(func(t *testing.T, raw []byte, name, uid string) {
		var s v1alpha1.BenchmarkRunSpec
		if json.Unmarshal(raw, &s) != nil {
			return
		}
		p, err := Compile(s, Options{Name: name, UID: uid})
		again, errAgain := Compile(s, Options{Name: name, UID: uid})
		if (err == nil) != (errAgain == nil) || err == nil && p.Hash() != again.Hash() {
			t.Errorf("compiled twice with two outcomes: %v, %v", err, errAgain)
		}
	})
}

func TestAsManyBlocksCanBeMeasuredAnewAsThereAreAndTwoAtLeast(t *testing.T) {
	for blocks, want := range map[int32]int32{1: 2, 2: 2, 3: 3, 7: 7, 40: 40} {
		if got := RepeatBlocks(blocks); got != want {
			t.Errorf("of %d blocks %d can be measured anew, want %d", blocks, got, want)
		}
	}
}

func TestAllThatIsWrongWithASpecIsSaidAtOnce(t *testing.T) {
	_, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) {
		s.Implementations[0].Port, s.Implementations[1].Port = 0, 0
		s.Implementations[1].Memory = new(resource.MustParse("1Mi"))
		s.Loads[0].Request.Method = "HEAD"
	}), Options{Name: "bad"})
	var first *Violation
	if !errors.As(err, &first) {
		t.Fatalf("got %v, want a violation", err)
	}
	var fields []string
	for _, v := range first.All() {
		field, _, _ := strings.Cut(v.Message, " ")
		fields = append(fields, field)
	}
	want := []string{"spec.implementations[1].memory", "spec.loads[0].request.method", "spec.implementations[0].port", "spec.implementations[1].port"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
