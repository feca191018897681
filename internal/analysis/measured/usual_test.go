package measured_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/measured"
	"loadstone.dev/loadstone/internal/record"
)

func run(changes ...func(*record.TrialData)) record.RunData {
	var d record.RunData
	d.Manifest.Plan.Implementations = []record.Implementation{{Name: "go"}}
	d.Manifest.Scripts = []record.FrozenScript{{Load: "sweep", Artifact: record.Artifact{SHA256: "frozen"}}}
	for i, change := range changes {
		t := trial(1)
		t.Manifest.Block = int32(i + 1)
		change(t)
		d.Trials = append(d.Trials, *t)
	}
	return d
}

func TestTheUsualMachineIsThatOfMostTrials(t *testing.T) {
	machine := func(node, kernel string) func(*record.TrialData) {
		return func(d *record.TrialData) {
			d.Servers[0].Environment.Node, d.Servers[0].Environment.Kernel = node, kernel
		}
	}
	other := func(fact, own, usual string) []measured.Difference {
		return []measured.Difference{{Role: measured.SubjectServer, Fact: fact, Own: own, Usual: usual}}
	}
	for name, tc := range map[string]struct {
		trials []func(*record.TrialData)
		// want are the differences of the last trial.
		want []measured.Difference
	}{
		"one machine": {
			trials: []func(*record.TrialData){machine("a", "6.1"), machine("a", "6.1")},
		},
		"two of three are on another node": {
			trials: []func(*record.TrialData){machine("a", "6.1"), machine("a", "6.1"), machine("b", "6.1")},
			want:   other("node", "b", "a"),
		},
		"of two the first counts": {
			trials: []func(*record.TrialData){machine("a", "6.1"), machine("b", "6.1")},
			want:   other("node", "b", "a"),
		},
		"what a record does not know accuses nobody": {
			trials: []func(*record.TrialData){machine("a", "6.1"), machine("a", "6.1"), machine("", record.Unknown)},
		},
		"a kernel is settled among those on the usual node": {
			trials: []func(*record.TrialData){machine("a", "6.1"), machine("a", "6.1"), machine("a", "6.2"), machine("b", "6.2"), machine("a", "6.2")},
			want:   other("kernel", "6.2", "6.1"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := run(tc.trials...)
			last := &d.Trials[len(d.Trials)-1]
			if diff := cmp.Diff(tc.want, measured.NewUsual(d).OtherMachine(read(t, last))); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheUsualImageIsThatOfMostTrials(t *testing.T) {
	image := func(id string) func(*record.TrialData) {
		return func(d *record.TrialData) {
			d.Manifest.Pods = []record.PodRecord{{Member: record.MemberServer(0), ImageID: id}}
		}
	}
	for name, tc := range map[string]struct {
		trials []func(*record.TrialData)
		want   bool
	}{
		"one image under two names": {[]func(*record.TrialData){image("one@sha256:a"), image("one@sha256:a"), image("two@sha256:a")}, false},
		"another image":             {[]func(*record.TrialData){image("one@sha256:a"), image("one@sha256:a"), image("one@sha256:b")}, true},
		"an image that is unknown":  {[]func(*record.TrialData){image("one@sha256:a"), image("one@sha256:a"), image("")}, false},
		"a pod that is unknown":     {[]func(*record.TrialData){image("one@sha256:a"), func(*record.TrialData) {}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := run(tc.trials...)
			last := &d.Trials[len(d.Trials)-1]
			if own, want, other := measured.NewUsual(d).OtherImage(read(t, last)); other != tc.want {
				t.Errorf("OtherImage() = %q, %q, %v; want %v", own, want, other, tc.want)
			}
		})
	}
}

func TestTheUsualScriptIsTheOneThatTheRunFroze(t *testing.T) {
	u := measured.NewUsual(run(func(*record.TrialData) {}))
	if got := u.Script("sweep"); got != "frozen" {
		t.Errorf("Script() = %q", got)
	}
	if got := u.Script("other"); got != "" {
		t.Errorf("Script() = %q of a load without one", got)
	}
}
