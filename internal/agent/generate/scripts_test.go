package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// A generator records each load's script once, even if a script changes itself.
func TestTheScriptThatCameWithTheCheckIsRunAndRecorded(t *testing.T) {
	var path string
	changes := toolOf{args: func(c record.Cell, p tool.Purpose) []string {
		file := tool.ScriptPath(path, c)
		if c.Load == "odd" && p == tool.Measure {
			return []string{"sh", "-c", "echo changed > " + file}
		}
		return []string{"grep", "-q", "good", file}
	}}
	b := newBench(t, func(c Config) *Generator {
		path = ScriptsDir(c.Dir)
		return New(c, map[record.Tool]tool.Tool{record.ToolWrk: changes}, nil)
	})
	cells := []record.Cell{scripted("web"), scripted("odd")}
	for i := range cells {
		cells[i].WarmupSeconds = 0
	}
	checked := b.generator.Check(t.Context(), protocol.Check{
		Targets: []string{newTarget(t, hello)}, Cells: cells,
		Scripts: []protocol.Script{{Load: "web", Text: []byte("good \xff")}, {Load: "odd", Text: []byte("good too")}},
	})
	if !checked.OK() {
		t.Fatalf("the check found %q", checked.Message)
	}
	result := b.measure(protocol.Start{At: time.Now().Add(500 * time.Millisecond), Targets: []string{"127.0.0.1:1"}, Slots: timetable.Of(cells)})
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	want := []record.ScriptRun{{Load: "web", SHA256: digest("good \xff")}, {Load: "odd", SHA256: digest("changed\n")}}
	if diff := cmp.Diff(want, result.Scripts); diff != "" {
		t.Errorf("scripts (-want +got):\n%s", diff)
	}
}

func TestRealWrkFindsTheScriptThatCameWithTheCheck(t *testing.T) {
	testbed.Programs(t, "wrk")
	for text, want := range map[string]string{
		"function request() return wrk.format('GET', '/scripted') end": "/scripted",
		"function request( return":                                     "the script does not load",
	} {
		var asked atomic.Pointer[string]
		b := newBench(t, func(c Config) *Generator {
			return New(c, map[record.Tool]tool.Tool{record.ToolWrk: wrk.Tool{Scripts: ScriptsDir(c.Dir)}}, nil)
		})
		target := newTarget(t, func(w http.ResponseWriter, r *http.Request) {
			asked.Store(&r.URL.Path)
			hello(w, r)
		})
		checked := b.generator.Check(t.Context(), protocol.Check{
			Targets: []string{target}, Cells: []record.Cell{scripted("web")}, Scripts: []protocol.Script{{Load: "web", Text: []byte(text)}},
		})
		said := checked.Message
		if path := asked.Load(); path != nil && checked.OK() {
			said = *path
		}
		if !strings.Contains(said, want) {
			t.Errorf("with %s the check said %q, want %q", text, said, want)
		}
	}
}

func TestAScriptThatLeadsOutOfItsFolderIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ load, key string }{
		"by its load": {"..", "a.lua"}, "by its key": {"web", "../../x"}, "of no cell": {"other", "a.lua"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c Config) *Generator {
				return New(c, map[record.Tool]tool.Tool{record.ToolWrk: runs("true")}, nil)
			})
			c := scripted(tc.load)
			c.Script.Key = tc.key
			if name == "of no cell" {
				c.Load = "web"
			}
			checked := b.generator.Check(t.Context(), protocol.Check{Targets: []string{"127.0.0.1:1"}, Cells: []record.Cell{c}, Scripts: []protocol.Script{{Load: tc.load}}})
			if checked.Fault != protocol.FaultLoad || !strings.Contains(checked.Message, "no cell of this trial has such a script") {
				t.Errorf("the check found %q (%s)", checked.Message, checked.Fault)
			}
			if entries, err := os.ReadDir(b.dir); err != nil || len(entries) > 0 {
				t.Errorf("there is %v, %v", entries, err)
			}
		})
	}
}
