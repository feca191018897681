package massif_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/profiler/lines"
	"loadstone.dev/loadstone/internal/profiler/massif"
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

func parse(t *testing.T, name string) massif.Result {
	t.Helper()
	r, err := massif.Parse(strings.NewReader(sample(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAPlantedLeakGrowsTheHeap(t *testing.T) {
	r := parse(t, "planted.out")
	if r.Command != "./planted 100" || r.TimeUnit != "i" || len(r.Snapshots) < 20 {
		t.Errorf("command %q, unit %q, %d snapshots", r.Command, r.TimeUnit, len(r.Snapshots))
	}
	peak := r.Peak()
	if peak == nil || !peak.Peak || peak.Tree == nil || !r.HeapSeen() {
		t.Fatalf("the peak is %+v", peak)
	}
	// A hundred bodies of 256 bytes, and perhaps the scratch buffer of the last request.
	if peak.HeapBytes < 25600 || peak.HeapBytes > 25700 || peak.StackBytes == 0 || peak.Bytes() <= peak.HeapBytes {
		t.Errorf("the peak is %+v", peak)
	}
	caller := peak.Tree.Callers[0]
	if caller.Function != "answer" || caller.File != "planted.c" || caller.Line == 0 || caller.Bytes != 25600 {
		t.Errorf("the peak was allocated by %+v", caller)
	}
}

func TestTheCleanTwinHoldsALittle(t *testing.T) {
	// Sixteen bodies of 256 bytes, the next one, and a scratch buffer.
	if peak := parse(t, "clean.out").PeakHeap(); peak < 16*256 || peak > 17*256+32 {
		t.Errorf("the peak is %d", peak)
	}
}

func TestOfAStaticProgramMassifSeesNoHeap(t *testing.T) {
	if r := parse(t, "static.out"); r.HeapSeen() || len(r.Snapshots) == 0 {
		t.Errorf("%d snapshots, heap seen is %v", len(r.Snapshots), r.HeapSeen())
	}
}

func TestWithoutAChoiceOfMassifThePeakIsTheLargest(t *testing.T) {
	r := massif.Result{Snapshots: []massif.Snapshot{{HeapBytes: 1}, {HeapBytes: 5, StackBytes: 2}, {HeapBytes: 6}}}
	if got := r.Peak(); got != &r.Snapshots[1] {
		t.Errorf("the peak is %+v", got)
	}
	if (massif.Result{}).Peak() != nil {
		t.Error("there is a peak of nothing")
	}
}

const head = "desc: \ncmd: x\ntime_unit: i\n"

func snapshot(number int, tree string) string {
	return fmt.Sprintf("#-----------\nsnapshot=%d\n#-----------\ntime=1\nmem_heap_B=2\nmem_heap_extra_B=3\nmem_stacks_B=4\nheap_tree=%s\n", number, tree)
}

func TestPlacesOfATree(t *testing.T) {
	text := head + snapshot(0, "peak\nn4: 9 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"+
		" n0: 4 0x10: f(int, char) (a b.cc:12)\n n0: 3 0x11: g (in /lib/x.so)\n n0: 2 0x12: ??? (in /srv/x)\n n0: 0 in 3 places, all below massif's threshold (1.00%)")
	r, err := massif.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []massif.Node{
		{Bytes: 4, Function: "f(int, char)", File: "a b.cc", Line: 12},
		{Bytes: 3, Function: "g", File: "/lib/x.so"},
		{Bytes: 2, File: "/srv/x"},
		{Function: "in 3 places, all below massif's threshold (1.00%)"},
	}
	if diff := cmp.Diff(want, r.Snapshots[0].Tree.Callers); diff != "" {
		t.Errorf("callers (-want +got):\n%s", diff)
	}
}

func TestHalfAFileKeepsItsSnapshots(t *testing.T) {
	r, err := massif.Parse(strings.NewReader(head + snapshot(0, "empty") + snapshot(1, "detailed\nn1: 2 all")))
	if !errors.Is(err, lines.ErrCut) || len(r.Snapshots) != 1 {
		t.Errorf("error %v, %d snapshots", err, len(r.Snapshots))
	}
}

func TestBadFilesOfMassif(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"an empty file":               {"", lines.ErrEmpty},
		"a line of the head":          {"desc: \n", lines.ErrCut},
		"no snapshot":                 {head, lines.ErrCut},
		"half a line":                 {head + "#-----------\nsnap", lines.ErrCut},
		"half a snapshot":             {head + "#-----------\nsnapshot=0\n", lines.ErrCut},
		"another file":                {"hello\n", lines.ErrForeign},
		"a snapshot out of order":     {head + snapshot(1, "empty"), lines.ErrForeign},
		"a tree of another kind":      {head + snapshot(0, "none"), lines.ErrForeign},
		"a node that is none":         {head + snapshot(0, "peak\nhello"), lines.ErrForeign},
		"a node without a size":       {head + snapshot(0, "peak\nn0: x y"), lines.ErrForeign},
		"a node of a million callers": {head + snapshot(0, "peak\nn1000000: 1 y"), lines.ErrForeign},
		"a size that is none":         {head + strings.Replace(snapshot(0, "empty"), "heap_B=2", "heap_B=-2", 1), lines.ErrForeign},
		"a size beyond all memory":    {head + strings.Replace(snapshot(0, "empty"), "heap_B=2", "heap_B=9000000000000000000", 1), lines.ErrForeign},
		"a tree without a bottom":     {head + snapshot(0, "peak\n"+strings.Repeat("n1: 1 y\n", massif.MaxDepth+2)), lines.ErrLarge},
		"too many snapshots":          {head + many(massif.MaxSnapshots+1), lines.ErrLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := massif.Parse(strings.NewReader(tc.text)); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
		})
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(snapshot(i, "empty"))
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte(head + snapshot(0, "peak\nn1: 2 (heap)\n n0: 2 0x1: f (a.c:3)")))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		r, err := massif.Parse(bytes.NewReader(text))
		if err == nil && r.Peak() == nil {
			t.Error("a result without a peak is no error")
		}
		for _, s := range r.Snapshots {
			if s.Bytes() < 0 {
				t.Errorf("%d bytes", s.Bytes())
			}
		}
	})
}
