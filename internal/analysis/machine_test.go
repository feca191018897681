package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/report"
)

// each changes trials; an empty implementation means all, no blocks means all.
func each(d *record.RunData, implementation string, change func(*record.TrialData), blocks ...int32) {
	for i := range d.Trials {
		t := &d.Trials[i]
		named := len(blocks) == 0
		for _, b := range blocks {
			named = named || b == t.Manifest.Block
		}
		if named && (implementation == "" || t.Manifest.Servers[0] == implementation) {
			change(t)
		}
	}
}

// old moves a trial's server to another machine.
func old(t *record.TrialData) {
	t.Servers[0].Environment.Node, t.Servers[0].Environment.CPUModel, t.Servers[0].Environment.Kernel = "old", "Old CPU @ 1.8GHz", "4.19"
	for k := range t.Manifest.Pods {
		if t.Manifest.Pods[k].Member == record.MemberServer(0) {
			t.Manifest.Pods[k].Node = "old"
		}
	}
}

// Two implementations on two machines, one 1.3 times as slow, were once "1.30x slower" with every cell valid.
func TestTwoMachinesAreNotComparedAsIfTheyWereOne(t *testing.T) {
	o := recordtest.Duel(10)
	o.Servers = o.Servers[:2]
	o.Servers[1].CPUMicros = 1.3 * o.Servers[0].CPUMicros
	d := recordtest.Run(o)
	each(&d, o.Servers[1].Name, old)
	table, err := analysis.Analyse(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Comparisons {
		if c.Verdict != verdict.Inconclusive || c.Deciding().Blocks > 0 || c.Deciding().Ratio != nil {
			t.Errorf("%s against %s is %s by %d blocks, though no block has both on one machine", c.Implementation, c.Baseline, c.Verdict, c.Deciding().Blocks)
		}
	}
	if line := report.Line(table.Headline()); strings.Contains(line, "slower") || strings.Contains(line, "faster") {
		t.Errorf("the headline is %q", line)
	}
	if n := len(table.DisturbedBlocks()); n != 10 {
		t.Errorf("%d blocks are to be repeated, want all 10", n)
	}
}

// differences lists the cells that differences between trials void, as "block 2 rust: CODE subject detail".
func differences(table analysis.Table) []string {
	var out []string
	for _, g := range table.Groups {
		for _, c := range g.Cells {
			for _, r := range c.Reasons {
				if strings.HasPrefix(string(r.Code), "Different") {
					out = append(out, fmt.Sprintf("block %d %s: %s %s %s, %s", c.Block, g.Implementation, r.Code, r.Subject, r.Weight, r.Detail))
				}
			}
		}
	}
	return out
}

func image(id string) func(*record.TrialData) {
	return func(t *record.TrialData) {
		for k := range t.Manifest.Pods {
			if t.Manifest.Pods[k].Member == record.MemberServer(0) {
				t.Manifest.Pods[k].ImageID = id
			}
		}
	}
}

func TestTrialsOfARunShareTheirMachines(t *testing.T) {
	server := func(change func(*record.Environment)) func(*record.TrialData) {
		return func(t *record.TrialData) { change(&t.Servers[0].Environment) }
	}
	generator := func(k int, change func(*record.Environment)) func(*record.TrialData) {
		return func(t *record.TrialData) { change(&t.Generators[k].Environment) }
	}
	script := func(sum string) func(*record.TrialData) {
		return func(t *record.TrialData) { t.Generators[1].Scripts = []record.ScriptRun{{Load: "sweep", SHA256: sum}} }
	}
	forget := func(t *record.TrialData) {
		t.Servers[0].Environment, t.Manifest.Pods = record.Environment{}, nil
		for k := range t.Generators {
			t.Generators[k].Environment = record.Environment{}
		}
	}
	for name, tc := range map[string]struct {
		change func(*record.RunData)
		want   []string
	}{
		"equal trials":                    {change: func(*record.RunData) {}},
		"nothing is known of any trial":   {change: func(d *record.RunData) { each(d, "", forget) }},
		"nothing is known of some trials": {change: func(d *record.RunData) { each(d, "rust", forget, 2, 3) }},
		"the microcode of old trials": {change: func(d *record.RunData) {
			each(d, "rust", server(func(e *record.Environment) { e.Microcode = "0x2b" }), 3)
		}},
		"a governor that some could not read": {change: func(d *record.RunData) {
			each(d, "rust", server(func(e *record.Environment) { e.Governor = record.Unknown }))
		}},
		"a tool that did not tell its version once": {
			change: func(d *record.RunData) {
				each(d, "rust", generator(0, func(e *record.Environment) { e.ToolVersion = "wrk unknown" }), 2)
			},
		},
		"another machine for one server": {
			change: func(d *record.RunData) { each(d, "rust", old, 2) },
			want:   []string{"block 2 rust: DifferentMachine server Void, node old instead of server, CPU Old CPU @ 1.8GHz instead of Example CPU @ 2.60GHz, kernel 4.19 instead of 6.1.0-18-amd64"},
		},
		"another machine for a whole block": {
			change: func(d *record.RunData) {
				each(d, "", func(t *record.TrialData) { t.Servers[0].Environment.Kernel = "6.2" }, 1)
			},
			want: []string{
				"block 1 go: DifferentMachine server Void, kernel 6.2 instead of 6.1.0-18-amd64", "block 1 rust: DifferentMachine server Void, kernel 6.2 instead of 6.1.0-18-amd64",
			},
		},
		"another governor": {func(d *record.RunData) {
			each(d, "go", server(func(e *record.Environment) { e.Governor = "powersave" }), 3)
		}, []string{"block 3 go: DifferentMachine server Void, frequency governor powersave instead of performance"}},
		"another microcode": {
			change: func(d *record.RunData) {
				each(d, "", server(func(e *record.Environment) { e.Microcode = "0x2b" }))
				each(d, "go", server(func(e *record.Environment) { e.Microcode = "0x2c" }), 1)
			},
			want: []string{"block 1 go: DifferentMachine server Void, microcode 0x2c instead of 0x2b"},
		},
		"another tool": {
			change: func(d *record.RunData) {
				each(d, "go", generator(1, func(e *record.Environment) { e.ToolVersion = "wrk 4.2.0" }), 2)
			},
			want: []string{"block 2 go: DifferentMachine generator-1 Void, load generator wrk 4.2.0 instead of wrk 4.1.0"},
		},
		"generators that changed their places": {
			change: func(d *record.RunData) {
				each(d, "rust", func(t *record.TrialData) {
					for k := range t.Manifest.Pods {
						if p := &t.Manifest.Pods[k]; p.Member != record.MemberServer(0) {
							p.Node = map[string]string{"loadgen": "loadgen-1", "loadgen-1": "loadgen"}[p.Node]
						}
					}
				}, 3)
			},
			want: []string{
				"block 3 rust: DifferentMachine generator-0 Void, node loadgen-1 instead of loadgen", "block 3 rust: DifferentMachine generator-1 Void, node loadgen instead of loadgen-1",
			},
		},
		"an image that was replaced in mid-run": {
			change: func(d *record.RunData) { each(d, "rust", image("registry.example/rust@sha256:new"), 3) },
			want:   []string{"block 3 rust: DifferentImage server Void, sha256:new instead of IMAGE"},
		},
		"an image under two names": {change: func(d *record.RunData) {
			each(d, "rust", image("registry.example/rust@sha256:same"))
			each(d, "rust", image("sha256:same"), 3)
		}},
		"a script that ran as it was frozen": {change: func(d *record.RunData) {
			d.Manifest.Scripts = []record.FrozenScript{{Load: "sweep", Artifact: record.Artifact{SHA256: "a"}}}
			each(d, "", script("a"))
		}},
		"a script of a run that froze none": {change: func(d *record.RunData) { each(d, "go", script("b"), 1) }},
		"a script that was exchanged": {
			change: func(d *record.RunData) {
				d.Manifest.Scripts = []record.FrozenScript{{Load: "sweep", Artifact: record.Artifact{SHA256: "a"}}}
				each(d, "", script("a"))
				each(d, "go", script("b"), 2)
			},
			want: []string{"block 2 go: DifferentScript generator-1 Void, SHA-256 b instead of a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := recordtest.Run(recordtest.Options{
				Name: "pair", Seed: 3, Blocks: 3, Levels: []int32{100}, Seconds: 5, Noise: 0.01, Generators: 2,
				Servers: []recordtest.Server{{Name: "go", CPUMicros: 12, RSSBytes: 1 << 20}, {Name: "rust", CPUMicros: 12, RSSBytes: 1 << 20}},
			})
			for k := range tc.want {
				tc.want[k] = strings.ReplaceAll(tc.want[k], "IMAGE", imageIDOf(d, "rust"))
			}
			tc.change(&d)
			table := analyse(t, d)
			if diff := cmp.Diff(tc.want, differences(table)); diff != "" {
				t.Errorf("what differs (-want +got):\n%s", diff)
			}
			if disturbed := table.DisturbedBlocks(); (len(tc.want) > 0) != (len(disturbed) > 0) {
				t.Errorf("blocks %v are to be repeated", disturbed)
			}
		})
	}
}

func imageIDOf(d record.RunData, implementation string) string {
	for _, t := range d.Trials {
		for _, p := range t.Manifest.Pods {
			if t.Manifest.Servers[0] == implementation && p.Member == record.MemberServer(0) {
				return p.ImageID
			}
		}
	}
	return ""
}

// Majorities of single facts can belong to machines that exclude each other: four trials on a, and three each on b
// and c of one kernel.
func TestSomeMachineIsAlwaysTheUsualOne(t *testing.T) {
	d := recordtest.Run(recordtest.Options{
		Name: "one", Seed: 3, Blocks: 10, Levels: []int32{100}, Seconds: 5, Noise: 0.01, Servers: []recordtest.Server{{Name: "go", CPUMicros: 12, RSSBytes: 1 << 20}},
	})
	on := func(node, kernel string) func(*record.TrialData) {
		return func(t *record.TrialData) {
			t.Servers[0].Environment.Node, t.Servers[0].Environment.Kernel, t.Manifest.Pods = node, kernel, nil
		}
	}
	each(&d, "", on("a", "1"), 1, 4, 7, 10)
	each(&d, "", on("b", "2"), 2, 5, 8)
	each(&d, "", on("c", "2"), 3, 6, 9)
	if g := analyse(t, d).Groups[0]; g.Valid != 4 || g.Void != 6 {
		t.Errorf("%d cells are valid and %d void, want the 4 on node a to be valid", g.Valid, g.Void)
	}
}

func TestLatenciesOfAnotherMachineAreNotMerged(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(3))
	whole := analyse(t, d).Groups[0].Latency[0].Samples
	each(&d, "go", old, 3)
	table := analyse(t, d)
	if got := table.Groups[0].Latency[0].Samples; got >= whole || table.Groups[0].Void != 1 {
		t.Errorf("%d samples of %d are merged, %d cells are void", got, whole, table.Groups[0].Void)
	}
}

func TestASearchOnAnotherMachineGivesNoNumber(t *testing.T) {
	table := analyse(t, searched(7, func(d *record.RunData) { each(d, "epoll", old, 2) }))
	c := capacityOf(t, table, "epoll")
	if c.Rate == nil || c.Rate.N != 6 || c.Unusable != 1 || c.ImplementationFailures != 0 || c.ToBaseline.Blocks != 6 {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff([]int32{2}, table.DisturbedBlocks()); diff != "" {
		t.Errorf("blocks to be repeated (-want +got):\n%s", diff)
	}
}

func TestTheHalvesOfADuetShareTheirMachine(t *testing.T) {
	o := recordtest.Duel(3)
	o.Servers, o.Duet = o.Servers[:2], true
	d := recordtest.Run(o)
	if found := differences(analyse(t, d)); len(found) > 0 {
		t.Errorf("a good duet is accused: %s", found)
	}
	d.Trials[1].Servers[1].Environment.Kernel = "6.2"
	if found := differences(analyse(t, d)); len(found) != len(o.Levels) {
		t.Errorf("one half of one duet had another kernel: %s", found)
	}
}

// What follows from a slow machine is not the implementation's fault.
func TestAnotherMachineAccusesNobody(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(7))
	each(&d, "go-slow", func(t *record.TrialData) {
		old(t)
		for k := range t.Generators[0].Cells {
			t.Generators[0].Cells[k].Measurement.Errors.Timeout = 20
		}
	}, 1)
	table := analyse(t, d)
	if c := table.Comparisons[0]; c.ContenderFailures > 0 || c.Reason == verdict.ImplementationFailures {
		t.Errorf("%s is held to be at fault: %+v", c.Implementation, c)
	}
	if diff := cmp.Diff([]int32{1}, table.DisturbedBlocks()); diff != "" {
		t.Errorf("blocks to be repeated (-want +got):\n%s", diff)
	}
}
