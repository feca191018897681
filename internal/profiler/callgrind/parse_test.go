package callgrind_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/profiler/lines"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func sample(tb testing.TB, name string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func parse(t *testing.T, text string) callgrind.Profile {
	t.Helper()
	p, err := callgrind.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func named(t *testing.T, p callgrind.Profile, name string) (callgrind.Function, int) {
	t.Helper()
	i := slices.IndexFunc(p.Functions, func(f callgrind.Function) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("there is no function %s", name)
	}
	return p.Functions[i], i
}

func TestThePlantedSlowFunctionIsOnTop(t *testing.T) {
	p := parse(t, sample(t, "planted.out"))
	ir, found := p.Event("Ir")
	if !found || p.Command != "./planted 100" {
		t.Fatalf("events %q of %q", p.Events, p.Command)
	}
	slowest := p.TopSelf(ir, 1)[0]
	if slowest.Name != "checksum" || slowest.File != "/srv/planted.c" || slowest.Object != "/srv/planted" {
		t.Errorf("the slowest function is %+v", slowest)
	}
	if share := float64(slowest.Self[ir]) / float64(p.Total[ir]); share < 0.99 {
		t.Errorf("its share is %.3f", share)
	}
	source := strings.Split(sample(t, "../../../../hack/profile/planted.c"), "\n")
	line := p.TopLines(ir, 1)[0]
	if line.File != "/srv/planted.c" || p.Functions[line.Function].Name != "checksum" || !strings.Contains(source[line.Line-1], "body[i]") {
		t.Errorf("the slowest line is %+v", line)
	}
	clean := parse(t, sample(t, "clean.out"))
	if quick, _ := named(t, clean, "checksum"); quick.Self[ir]*100 > slowest.Self[ir] {
		t.Errorf("the clean twin's function costs %d", quick.Self[ir])
	}
}

func TestTheGraphSaysWhoCallsWhom(t *testing.T) {
	p := parse(t, sample(t, "planted.out"))
	_, answer := named(t, p, "answer")
	_, checksum := named(t, p, "checksum")
	nested, _ := named(t, p, "nested")
	i := slices.IndexFunc(p.Calls, func(c callgrind.Call) bool { return c.From == answer && c.To == checksum })
	if i < 0 || p.Calls[i].Count != 100 || p.Calls[i].Inclusive[0] != p.Functions[checksum].Inclusive[0] {
		t.Errorf("calls of the checksum: index %d of %+v", i, p.Calls)
	}
	if !nested.Recursive || p.Functions[answer].Recursive {
		t.Error("the function that calls itself is not recursive, or another is")
	}
	for _, f := range p.Functions {
		if f.Inclusive[0] < f.Self[0] || f.Inclusive[0] > p.Total[0] {
			t.Errorf("%s costs %d itself and %d in all, of %d", f.Name, f.Self[0], f.Inclusive[0], p.Total[0])
		}
	}
	if top := p.TopInclusive(0, 3); len(top) != 3 || top[0].Inclusive[0] != p.Total[0] {
		t.Errorf("what costs most in all is %+v", top)
	}
}

func TestCachesAndBranchesAreCountedWhereAskedFor(t *testing.T) {
	p := parse(t, sample(t, "events.out"))
	for _, event := range []string{"Ir", "Dr", "D1mr", "Bc", "Bcm"} {
		i, found := p.Event(event)
		if !found || p.Total.At(i) == 0 {
			t.Errorf("%s: index %d, total %d", event, i, p.Total.At(i))
		}
	}
	if _, found := p.Event("Nothing"); found || p.Total.At(99) != 0 {
		t.Error("an event that was not counted was found")
	}
}

func TestCachegrindCountsWithoutCalls(t *testing.T) {
	p := parse(t, sample(t, "cachegrind.out"))
	main, _ := named(t, p, "main.main")
	if p.Command != "./go" || len(p.Calls) != 0 || p.Total[0] < 100_000 || main.Inclusive[0] != main.Self[0] || main.Self[0] == 0 {
		t.Errorf("command %q, %d calls, total %d, main %+v", p.Command, len(p.Calls), p.Total[0], main)
	}
}

const head = "positions: line\nevents: Ir Dr\n"

func TestNamesNumbersAndDistances(t *testing.T) {
	p := parse(t, head+`
ob=(1) /srv/x
fl=(1) a.c
fn=(1) main
10 5 1
+2 3
* 1
fi=(2) inlined.h
-4 7
fe=(1)
cob=(2) /lib/y.so
cfi=(3) ???
cfn=(2) helper
calls=2 0x40
+1 20 2
cfn=(1)
calls=1 10
* 100
fl=(2)
fn=plain name
0x10 4

totals: 20 1
`)
	want := callgrind.Profile{
		Events: []string{"Ir", "Dr"}, Total: callgrind.Cost{20, 1},
		Functions: []callgrind.Function{
			{Name: "main", File: "a.c", Object: "/srv/x", Self: callgrind.Cost{16, 1}, Inclusive: callgrind.Cost{36, 3}, Recursive: true},
			{Name: "helper", Object: "/lib/y.so", Self: callgrind.Cost{0, 0}, Inclusive: callgrind.Cost{0, 0}},
			{Name: "plain name", File: "inlined.h", Object: "/srv/x", Self: callgrind.Cost{4, 0}, Inclusive: callgrind.Cost{4, 0}},
		},
		Calls: []callgrind.Call{{From: 0, To: 1, Count: 2, Inclusive: callgrind.Cost{20, 2}}, {From: 0, To: 0, Count: 1, Inclusive: callgrind.Cost{100, 0}}},
		Lines: []callgrind.Line{
			{Function: 0, File: "a.c", Line: 10, Self: callgrind.Cost{5, 1}},
			{Function: 0, File: "a.c", Line: 12, Self: callgrind.Cost{4, 0}},
			{Function: 0, File: "inlined.h", Line: 8, Self: callgrind.Cost{7, 0}},
			{Function: 2, File: "inlined.h", Line: 16, Self: callgrind.Cost{4, 0}},
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
}

func TestFunctionsThatCallEachOtherShareTheirCost(t *testing.T) {
	p := parse(t, head+"fn=a\n1 10\ncfn=b\ncalls=1 2\n1 500\nfn=b\n2 20\ncfn=a\ncalls=1 1\n2 400\ncfn=c\ncalls=1 3\n2 7\nfn=c\n3 7\njump=3 4\n3\ntotals: 37\n")
	for name, want := range map[string]int64{"a": 37, "b": 37, "c": 7} {
		f, _ := named(t, p, name)
		if f.Inclusive[0] != want || f.Recursive != (name != "c") {
			t.Errorf("%s costs %d in all, want %d; recursive is %v", name, f.Inclusive[0], want, f.Recursive)
		}
	}
}

func TestHalfAProfileKeepsWhatItHolds(t *testing.T) {
	text := sample(t, "clean.out")
	p, err := callgrind.Parse(strings.NewReader(text[:len(text)/2]))
	if !errors.Is(err, lines.ErrCut) || len(p.Functions) < 10 || len(p.Functions[0].Inclusive) != 1 {
		t.Errorf("error %v, %d functions", err, len(p.Functions))
	}
}

func TestBadFilesOfCallgrind(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"an empty file":                    {"", lines.ErrEmpty},
		"no totals":                        {head + "fn=a\n1 2\n", lines.ErrCut},
		"half a line":                      {head + "fn=a\n1 x", lines.ErrCut},
		"another file":                     {"hello\n", lines.ErrForeign},
		"headers of nothing":               {"version: 1\n", lines.ErrForeign},
		"costs of no function":             {head + "1 2\n", lines.ErrForeign},
		"costs before events":              {"fn=a\n1 2\n", lines.ErrForeign},
		"half a profile of cachegrind":     {"events: Ir\nfn=a\n1 2\n", lines.ErrCut},
		"costs without a position":         {"positions: instr line\nevents: Ir\nfn=a\n1\n", lines.ErrForeign},
		"more costs than events":           {head + "fn=a\n1 2 3 4\n", lines.ErrForeign},
		"a cost that is none":              {head + "fn=a\n1 -2\n", lines.ErrForeign},
		"a cost beyond all bounds":         {head + "fn=a\n1 9000000000000000000\n", lines.ErrForeign},
		"a distance that is none":          {head + "fn=a\n+x 2\n", lines.ErrForeign},
		"positions by instruction alone":   {"positions: instr\n", lines.ErrForeign},
		"two lists of events":              {head + "events: Dr\n", lines.ErrForeign},
		"a number that stands for nothing": {head + "fn=(7)\n", lines.ErrForeign},
		"a call of nothing":                {head + "fn=a\ncalls=1 2\n1 2\n", lines.ErrForeign},
		"a call that costs nothing known":  {head + "fn=a\ncfn=b\ncalls=1 2\nx\n", lines.ErrForeign},
		"a total that is not the sum":      {head + "fn=a\n1 2\ntotals: 3\n", lines.ErrForeign},
		"a line without an end":            {strings.Repeat("x", lines.MaxLine+1), lines.ErrLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := callgrind.Parse(strings.NewReader(tc.text)); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestTheCallsThatCostMostComeFirst(t *testing.T) {
	p := callgrind.Profile{
		Functions: []callgrind.Function{{Name: "main"}, {Name: "serve"}, {Name: "log"}},
		Calls: []callgrind.Call{
			{From: 0, To: 2, Count: 9, Inclusive: callgrind.Cost{10}},
			{From: 0, To: 1, Count: 1, Inclusive: callgrind.Cost{500}},
			{From: 1, To: 1, Count: 3, Inclusive: callgrind.Cost{400}},
			{From: 1, To: 2, Count: 4, Inclusive: callgrind.Cost{20}},
		},
	}
	want := []callgrind.Edge{{From: "main", To: "serve", Count: 1, Inclusive: callgrind.Cost{500}}, {From: "serve", To: "log", Count: 4, Inclusive: callgrind.Cost{20}}}
	if diff := cmp.Diff(want, p.TopCalls(0, 2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte(head + "ob=(1) x\nfl=(1) a.c\nfn=(1) a\n1 10\ncfn=(2) b\ncalls=1 2\n+1 500\nfn=(2)\n* 20\ncfn=(1)\ncalls=1 1\n2 400\ntotals: 30\n"))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		p, _ := callgrind.Parse(bytes.NewReader(text))
		for _, c := range p.Calls {
			if c.From >= len(p.Functions) || c.To >= len(p.Functions) || c.From < 0 || c.To < 0 {
				t.Fatalf("a call from %d to %d", c.From, c.To)
			}
		}
		for _, fn := range p.Functions {
			if len(fn.Self) != len(p.Events) || len(fn.Inclusive) != len(p.Events) || len(p.Events) > 0 && fn.Inclusive[0] < fn.Self[0] {
				t.Fatalf("function %+v", fn)
			}
		}
		p.TopLines(0, 3)
	})
}
