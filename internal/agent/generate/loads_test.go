package generate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

type toolOf struct {
	fakeTool
	args    func(record.Cell, tool.Purpose) []string
	files   func(record.Cell) []tool.File
	outputs []string
	parse   func(string) (record.Measurement, error)
}

func (f toolOf) Args(c record.Cell, _ tool.Target, p tool.Purpose) []string { return f.args(c, p) }
func (f toolOf) Waits() bool                                                { return false }
func (f toolOf) Outputs(record.Cell) []string                               { return f.outputs }

func (f toolOf) Files(c record.Cell, _ tool.Target) []tool.File {
	if f.files == nil {
		return nil
	}
	return f.files(c)
}

func (f toolOf) Parse(raw []byte) (record.Measurement, error) {
	if f.parse == nil {
		return record.Measurement{}, nil
	}
	return f.parse(string(raw))
}

func runs(args ...string) toolOf {
	return toolOf{args: func(record.Cell, tool.Purpose) []string { return args }}
}

func scripted(load string) record.Cell {
	c := cell(1, 0)
	c.Load, c.Script = load, &record.Script{ConfigMap: "mine", Key: "a.lua"}
	return c
}

func TestCheckOfLoads(t *testing.T) {
	shared := cell(100, 0)
	shared.Generators = 2
	search := scripted("hunt")
	search.Step, search.Search = 1, &record.Search{StartRequestsPerSecond: 70}
	complains := runs("cat", "script.out")
	complains.files = func(c record.Cell) []tool.File {
		return []tool.File{{Name: "script.out", Text: "rate " + string(rune('0'+c.RequestsPerSecond/10)) + " of " + c.Load}}
	}
	complains.parse = func(raw string) (record.Measurement, error) {
		return record.Measurement{}, errors.New("the tool said: " + raw)
	}
	tests := map[string]struct {
		tool        tool.Tool
		cells       []record.Cell
		index       int32
		descriptors uint64
		ports       string
		want        string
		fault       protocol.Fault
	}{
		"loads that fit": {cells: []record.Cell{cell(100, 0), shared}, descriptors: 164, ports: "1000\t1099\n"},
		"too few descriptors": {
			cells: []record.Cell{cell(1, 0), cell(101, 0)}, descriptors: 164, fault: protocol.FaultLoad,
			want: "loads[sweep].levels: 101 connections in a generator need 165 descriptors, but its container may open only 164: lower connections, or raise generators.pods",
		},
		"too few ports": {
			cells: []record.Cell{cell(101, 0)}, ports: "1000\t1099\n", fault: protocol.FaultLoad,
			want: "loads[sweep].levels: 101 connections in a generator need as many local ports, but its pod has only 100: lower connections, or raise generators.pods",
		},
		"enough for a share":                {cells: []record.Cell{shared}, descriptors: 114, index: 1},
		"a cell of others only":             {cells: []record.Cell{cell(100, 0)}, descriptors: 10, index: 1},
		"a range of ports that is not one":  {ports: "none", fault: protocol.FaultLoad, want: `reading the range of local ports "none": it has not two numbers`},
		"a script that works":               {tool: runs("true"), cells: []record.Cell{scripted("web")}},
		"a script that only others run":     {tool: runs("false"), cells: []record.Cell{scripted("web")}, index: 1},
		"a script that is not there":        {cells: []record.Cell{scripted("other")}, fault: protocol.FaultLoad, want: "loads[other].script: the operator did not send it: use operator and agent of the same version"},
		"a script that ends badly":          {tool: runs("cat", "missing"), cells: []record.Cell{scripted("web")}, fault: protocol.FaultLoad, want: "loads[web].script: exit status 1: cat: missing: No such file or directory"},
		"a script that the parser objects":  {tool: complains, cells: []record.Cell{scripted("web")}, fault: protocol.FaultLoad, want: "loads[web].script: the tool said: rate 0 of web"},
		"a script of a search has its rate": {tool: complains, cells: []record.Cell{search}, fault: protocol.FaultLoad, want: "loads[hunt].script: the tool said: rate 7 of hunt"},
		"a program that is not there":       {tool: runs("no-such-tool"), cells: []record.Cell{scripted("web")}, fault: protocol.FaultLoad, want: `loads[web].script: starting no-such-tool: exec: "no-such-tool": executable file not found in $PATH`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			scripts := t.TempDir()
			for _, load := range []string{"web", "hunt"} {
				if err := os.Mkdir(filepath.Join(scripts, load), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(scripts, load, "a.lua"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b := newBench(t, func(c Config) *Generator {
				c.Index = tc.index
				g := New(c, map[record.Tool]tool.Tool{record.ToolWrk: tc.tool}, nil)
				g.scripts = scripts
				if tc.descriptors > 0 {
					g.machine.descriptors = func() (uint64, error) { return tc.descriptors, nil }
				}
				if tc.ports != "" {
					g.machine.ports = kernel.Proc(kerneltest.Proc(t, map[string]string{"sys/net/ipv4/ip_local_port_range": tc.ports})).LocalPorts
				}
				return g
			})
			checked := b.generator.Check(t.Context(), protocol.Check{Targets: []string{newTarget(t, hello)}, Cells: tc.cells})
			if checked.Message != tc.want || checked.Fault != tc.fault {
				t.Errorf("Checked = %q (%s)\nwant      %q (%s)", checked.Message, checked.Fault, tc.want, tc.fault)
			}
			if left, err := filepath.Glob(filepath.Join(b.dir, "probe*")); err != nil || len(left) > 0 {
				t.Errorf("the try left %q, error %v", left, err)
			}
		})
	}
}

func TestEachScriptIsTriedOnce(t *testing.T) {
	var tried []string
	counting := toolOf{args: func(c record.Cell, p tool.Purpose) []string {
		tried = append(tried, c.Load+" "+string(p))
		return []string{"true"}
	}}
	g := New(Config{Dir: t.TempDir()}, map[record.Tool]tool.Tool{record.ToolWrk: counting}, nil)
	other := scripted("web")
	other.Connections = 2
	if err := g.tryScripts(t.Context(), protocol.Check{Targets: []string{"127.0.0.1:1"}, Cells: []record.Cell{scripted("web"), other, cell(1, 0), scripted("api")}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"web Probe", "api Probe"}, tried); diff != "" {
		t.Errorf("tries (-want +got):\n%s", diff)
	}
}
