package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/record/recordtest"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/run/publish"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/store/artifact/artifacttest"
)

// kept puts a simulated run of one level into a folder of results, and reports it as a run on one machine does. It returns the text of the report.
func kept(t *testing.T, folder *artifact.Folder, prefix string, o recordtest.Options, change func(*record.RunData)) string {
	t.Helper()
	o.Levels, o.Seconds = []int32{10}, 1
	d := recordtest.Run(o)
	d.Manifest.Run.UID = prefix
	for i := range d.Trials {
		d.Trials[i].Manifest.Run.UID = prefix
	}
	change(&d)
	if err := artifacttest.Keep(t.Context(), folder, prefix, d); err != nil {
		t.Fatal(err)
	}
	made, err := publish.Report(t.Context(), folder, prefix, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(folder.URI(made.Page.Key)), "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// equals is a run of one server under two names.
func equals(blocks int32) recordtest.Options {
	o := recordtest.Duel(blocks)
	o.Servers = []recordtest.Server{o.Servers[0], o.Servers[0]}
	o.Servers[1].Name = "again"
	return o
}

func sameImage(d *record.RunData) {
	d.Manifest.Plan.Implementations[1].Image = d.Manifest.Plan.Implementations[0].Image
}

// moved puts the servers of a run somewhere else.
func moved(change func(*record.Environment)) func(*record.RunData) {
	return func(d *record.RunData) {
		for i := range d.Trials {
			for k := range d.Trials[i].Servers {
				change(&d.Trials[i].Servers[k].Environment)
			}
		}
	}
}

func TestLaterRunsUseStoredNoiseFloor(t *testing.T) {
	const known, unknown = "Noise floor of this machine (A/A of ", "The noise floor of this machine is unknown."
	same := func(*record.Environment) {}
	folder, err := artifact.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if text := kept(t, folder, "early", recordtest.Duel(3), moved(same)); !strings.Contains(text, unknown) {
		t.Errorf("before the calibration the report says: %s", text)
	}
	kept(t, folder, "aa", equals(8), sameImage)
	found, err := readFound(t.Context(), folder, "aa", "", progress.Ending{Report: "report.html"})
	if err != nil || !found.Floor || !strings.HasPrefix(found.Line, "noise floor (A/A of 2026-03-14, n = 8): ") || found.Ending.Report != "report.html" {
		t.Errorf("the calibration has found %+v, %v", found, err)
	}
	for name, tc := range map[string]struct {
		change func(*record.Environment)
		want   string
	}{
		"the same machine": {same, known},
		"another host":     {func(e *record.Environment) { e.Node += "x" }, unknown},
		"another kernel":   {func(e *record.Environment) { e.Kernel += "x" }, unknown},
		"other CPUs":       {func(e *record.Environment) { e.CPUModel += "x" }, unknown},
		"more CPUs":        {func(e *record.Environment) { e.OnlineCPUs = "0-63" }, unknown},
		"another governor": {func(e *record.Environment) { e.Governor += "x" }, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if text := kept(t, folder, "of "+name, recordtest.Duel(3), moved(tc.change)); !strings.Contains(text, tc.want) {
				t.Errorf("want %q in: %s", tc.want, text)
			}
		})
	}
}

// shared lets the generators of a run of equals onto a second CPU, as on a machine that has too few.
func shared(d *record.RunData) {
	sameImage(d)
	d.Manifest.Plan.Placement.Pinning, d.Manifest.Plan.Placement.GeneratorPinning = record.Preferred, record.Preferred
	for i := range d.Trials {
		d.Trials[i].Generators[0].Cells[0].CPUsAllowed = "0-1"
	}
}

func TestCalibrationWithoutNoiseFloor(t *testing.T) {
	for name, tc := range map[string]struct {
		blocks int32
		change func(*record.RunData)
		want   string
	}{
		"too few blocks":       {6, sameImage, "no noise floor: fewer than 7 pairs of usable cells"},
		"CPUs that are shared": {8, shared, "no noise floor: in 16 cells a server or generator did not own its CPUs, so that the noise is not that of runs whose processes do"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, err := artifact.OpenFolder(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			kept(t, folder, "aa", equals(tc.blocks), tc.change)
			found, err := readFound(t.Context(), folder, "aa", "", progress.Ending{})
			if err != nil || found.Floor || found.Line != tc.want {
				t.Errorf("the calibration has found %+v, %v", found, err)
			}
			if _, err := os.Stat(folder.URI("calibrations")); err == nil {
				t.Error("a noise floor is stored")
			}
		})
	}
}

func TestMissingResultsAreAnError(t *testing.T) {
	folder, err := artifact.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readFound(t.Context(), folder, "none", "", progress.Ending{}); err == nil || !strings.Contains(err.Error(), "reading none") {
		t.Errorf("a run that is not there: %v", err)
	}
}
