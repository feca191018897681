package analysis_test

import (
	"math"
	"testing"

	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func sameTwice(blocks int32) record.RunData {
	o := recordtest.Duel(blocks)
	o.Levels, o.Seconds = []int32{10, 100}, 1
	o.Servers = []recordtest.Server{o.Servers[0], o.Servers[0]}
	o.Servers[1].Name = "again"
	d := recordtest.Run(o)
	d.Manifest.Plan.Implementations[1].Image = d.Manifest.Plan.Implementations[0].Image
	return d
}

func TestAnAARunFindsTheNoiseFloor(t *testing.T) {
	table := analyse(t, sameTwice(30))
	c := table.NoiseFloor
	if !table.Calibrates() || c.Fingerprint != table.Fingerprint || c.Implementations != [2]string{"go", "again"} || len(c.Entries) != 6 {
		t.Fatalf("noise floor %+v", c)
	}
	// Pairs have √2 times the cells' noise of 3 %. Ten blocks see 4.61 / √10 of it in 8 of 10 runs, at the 0.57 % for
	// the deciding metric of a single load.
	sd := 0.03 * math.Sqrt2
	got := table.FloorOf(verdict.CPUPerRequest)
	if got.N != 60 || math.Abs(got.LogStdDev/sd-1) > 0.25 || math.Abs(got.Detectable/math.Expm1(got.LogStdDev*4.61/math.Sqrt(10))-1) > 0.02 {
		t.Errorf("noise %+v, want a standard deviation of about %v", *got, sd)
	}
}

func TestARunThatIsNoAARunTakesTheNoiseFloorThatItIsGiven(t *testing.T) {
	o := recordtest.Duel(3)
	o.Levels, o.Seconds = []int32{10}, 1
	d := recordtest.Run(o)
	if table := analyse(t, d); table.NoiseFloor != nil || table.FloorOf(verdict.Throughput) != nil {
		t.Errorf("noise floor %+v out of nothing", table.NoiseFloor)
	}
	fits := record.Calibration{Schema: record.CalibrationSchema, Fingerprint: environment.Fingerprint(d), Entries: []record.Noise{{Metric: "Throughput", Detectable: 0.047}}}
	d.Calibration = &fits
	if table := analyse(t, d); table.Calibrates() || table.FloorOf(verdict.Throughput).Detectable != 0.047 {
		t.Errorf("noise floor %+v, want the one given", table.NoiseFloor)
	}
	for name, other := range map[string]record.Calibration{"another machine": {Schema: fits.Schema, Fingerprint: "other"}, "another shape": {Schema: "v9", Fingerprint: fits.Fingerprint}} {
		d.Calibration = &other
		if table := analyse(t, d); table.NoiseFloor != nil {
			t.Errorf("a noise floor of %s is taken", name)
		}
	}
}

func TestWhatIsNoAARun(t *testing.T) {
	for name, change := range map[string]func(*record.RunData){
		"another command":        func(d *record.RunData) { d.Manifest.Plan.Implementations[1].Command = []string{"/go", "-burn"} },
		"another image":          func(d *record.RunData) { d.Manifest.Plan.Implementations[1].Image = "other" },
		"more CPUs":              func(d *record.RunData) { d.Manifest.Plan.Implementations[1].CPUs = 2 },
		"a limit":                func(d *record.RunData) { d.Manifest.Plan.Implementations[1].Role = record.RoleReference },
		"too few blocks":         func(d *record.RunData) { d.Manifest.Blocks, d.Trials = 6, d.Trials[:12] },
		"machines that are dark": func(d *record.RunData) { dark(d) },
	} {
		t.Run(name, func(t *testing.T) {
			d := sameTwice(7)
			if !analyse(t, d).Calibrates() {
				t.Fatal("seven blocks of the same are no A/A run")
			}
			change(&d)
			if table := analyse(t, d); table.NoiseFloor != nil {
				t.Errorf("noise floor %+v", table.NoiseFloor)
			}
		})
	}
}

// Shared CPUs may be more or less noisy than owned ones, so their floor must not apply to runs that own theirs.
func TestCPUsThatAreSharedLeaveNoNoiseFloor(t *testing.T) {
	for name, tc := range map[string]struct {
		pinning record.Strictness
		change  func(*record.RunData)
		want    int
	}{
		"a generator on the server's CPUs": {record.Preferred, func(d *record.RunData) {
			for i := range d.Trials {
				d.Trials[i].Generators[0].Environment.Node = d.Trials[i].Servers[0].Environment.Node
				d.Trials[i].Generators[0].Cells[0].CPUsAllowed = d.Trials[i].Servers[0].Cells[0].CPUsAllowed
			}
		}, 14},
		"a server on two CPUs in one cell": {record.Preferred, func(d *record.RunData) { d.Trials[0].Servers[0].Cells[0].CPUsAllowed = "0-1" }, 1},
		"a cell that is void for it":       {record.Required, func(d *record.RunData) { d.Trials[0].Servers[0].Cells[0].CPUsAllowed = "0-1" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := sameTwice(7)
			d.Manifest.Plan.Placement.Pinning, d.Manifest.Plan.Placement.GeneratorPinning = tc.pinning, tc.pinning
			tc.change(&d)
			if table := analyse(t, d); table.NoiseFloorUnpinned != tc.want || table.Calibrates() != (tc.want == 0) {
				t.Errorf("%d cells keep it from a noise floor, want %d; it has %+v", table.NoiseFloorUnpinned, tc.want, table.NoiseFloor)
			}
		})
	}
}

func dark(d *record.RunData) {
	for i := range d.Trials {
		d.Trials[i].Servers[0].Environment, d.Trials[i].Generators[0].Environment = record.Environment{}, record.Environment{}
	}
}

func TestAFingerprintIsOfTheMachineAlone(t *testing.T) {
	base := sameTwice(1)
	want := environment.Fingerprint(base)
	if len(want) != 16 {
		t.Fatalf("fingerprint %q", want)
	}
	for name, tc := range map[string]struct {
		change func(*record.RunData)
		same   bool
	}{
		"another choice of CPUs":  {func(d *record.RunData) { d.Trials[0].Servers[0].Environment.CPUsAllowed = "3" }, true},
		"another tool":            {func(d *record.RunData) { d.Trials[0].Generators[0].Environment.ToolVersion = "k6" }, true},
		"another image":           {func(d *record.RunData) { d.Trials[0].Manifest.Pods[0].ImageID = "x" }, true},
		"another order of trials": {func(d *record.RunData) { d.Trials[0], d.Trials[1] = d.Trials[1], d.Trials[0] }, true},
		"a duet": {func(d *record.RunData) {
			t := &d.Trials[0]
			t.Manifest.Servers, t.Servers = append(t.Manifest.Servers, "again"), append(t.Servers, t.Servers[0])
		}, false},
		"another kernel": {func(d *record.RunData) { d.Trials[0].Servers[0].Environment.Kernel = "6.12" }, false},
		"another CPU":    {func(d *record.RunData) { d.Trials[0].Generators[0].Environment.CPUModel = "Other" }, false},
		"the roles of nodes swapped": {func(d *record.RunData) {
			for i := range d.Trials {
				t := &d.Trials[i]
				t.Servers[0].Environment, t.Generators[0].Environment = t.Generators[0].Environment, t.Servers[0].Environment
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := sameTwice(1)
			tc.change(&d)
			if got := environment.Fingerprint(d); (got == want) != tc.same {
				t.Errorf("fingerprint %s, was %s", got, want)
			}
		})
	}
}
