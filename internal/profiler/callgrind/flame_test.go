package callgrind_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/profiler/callgrind"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

var update = flag.Bool("update", false, "write the golden files")

func read(t *testing.T, name string) callgrind.Profile {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := callgrind.Parse(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestAProfileAsAPicture(t *testing.T) {
	for _, twin := range []string{"planted", "clean"} {
		g := callgrind.OfCalls(read(t, "testdata/"+twin+".out"), 0)
		var picture strings.Builder
		if err := g.SVG(&picture, "Instructions of "+twin); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/"+twin+".svg", picture.String())
		checkXML(t, picture.String())
	}
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestThePlantedSlowFunctionIsTheWidestBox(t *testing.T) {
	g := callgrind.OfCalls(read(t, "testdata/planted.out"), 0)
	f := g.Root
	var names []string
	for len(f.Callees) > 0 {
		f = f.Callees[0]
		names = append(names, f.Name)
	}
	if stack := strings.Join(names, ";"); !strings.HasSuffix(stack, "main;answer;checksum") || f.Cost*100 < g.Root.Cost*99 {
		t.Errorf("the most costly stack is %s, with %d of %d", stack, f.Cost, g.Root.Cost)
	}
	if g.Unit != "Ir" || g.Note == "" {
		t.Errorf("unit %q, note %q", g.Unit, g.Note)
	}
}

func parseFolded(t *testing.T, text string) callgrind.Profile {
	t.Helper()
	p, err := callgrind.Parse(strings.NewReader("events: Ir\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fold writes one stack per line: names from the outermost function inwards, and the innermost one's cost.
func fold(w *strings.Builder, above string, f callgrind.Frame) {
	stack := above + f.Name
	if self := f.Self(); self > 0 {
		fmt.Fprintf(w, "%s %d\n", stack, self)
	}
	for _, c := range f.Callees {
		fold(w, stack+";", c)
	}
}

func TestStacksOfACallGraph(t *testing.T) {
	for name, tc := range map[string]struct{ profile, want string }{
		"a function with two callers is divided between them": {
			"fn=main\n1 10\ncfn=a\ncalls=1 1\n1 40\ncfn=b\ncalls=1 1\n1 80\nfn=a\n1 10\ncfn=c\ncalls=1 1\n1 30\nfn=b\n1 20\ncfn=c\ncalls=2 1\n1 60\nfn=c\n1 90\ntotals: 130\n",
			"main 10\nmain;b 20\nmain;b;c 60\nmain;a 10\nmain;a;c 30\n",
		},
		"calls that lead back are left out": {
			"fn=main\n1 10\ncfn=a\ncalls=1 1\n1 90\nfn=a\n1 45\ncfn=b\ncalls=9 1\n1 45\nfn=b\n1 45\ncfn=a\ncalls=8 1\n1 70\ntotals: 100\n",
			"main 10\nmain;a 45\nmain;a;b 45\n",
		},
		"a function that calls itself is there once": {"fn=f\n1 100\ncfn=f\ncalls=9 1\n1 500\ntotals: 100\n", "f 100\n"},
		"what nothing calls stands side by side":     {"fn=f\n1 60\nfn=g\n1 40\ntotals: 100\n", "f 60\ng 40\n"},
		"nothing":                                    {"totals: 0\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, f := range callgrind.OfCalls(parseFolded(t, tc.profile), 0).Root.Callees {
				fold(&got, "", f)
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("stacks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesFromOutsideAreEscaped(t *testing.T) {
	var out strings.Builder
	if err := callgrind.OfCalls(parseFolded(t, "fn=<script>alert(\"1\")</script>\n1 9\ntotals: 9\n"), 0).SVG(&out, `"<b>"`); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "<script") || strings.Contains(out.String(), "<b>") {
		t.Errorf("a name became part of the picture:\n%s", out.String())
	}
	checkXML(t, out.String())
}

func FuzzOfCalls(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte("events: Ir\nfn=main\n1 10\ncfn=a\ncalls=1 1\n1 90\nfn=a\n1 45\ncfn=main\ncalls=9 1\n1 45\ntotals: 55\n"))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		p, _ := callgrind.Parse(bytes.NewReader(text))
		if err := callgrind.OfCalls(p, 0).SVG(io.Discard, ""); err != nil {
			t.Fatal(err)
		}
	})
}
