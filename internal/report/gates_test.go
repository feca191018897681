package report_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/analysis/scaling"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/report"
	"loadstone.dev/loadstone/internal/stats/inference"
)

func TestTheNoiseFloorStandsBesideEveryGate(t *testing.T) {
	for name, tc := range map[string]struct {
		run  func() record.RunData
		want []string
	}{
		"a run with a noise floor":      {gated, []string{"Noise floor of this machine (A/A of 2026-03-14, n = 21): ", "objectives met", "Where throughput stops scaling"}},
		"a run without one":             {quick, []string{"The noise floor of this machine is unknown"}},
		"a run that finds one":          {sameTwice, []string{"This is an A/A run", "Noise floor of this machine"}},
		"the anchor's measure of drift": {gated, []string{"ratio to earlier runs of server CPU time per request", "an earlier run could not be read: no such object: "}},
	} {
		t.Run(name, func(t *testing.T) {
			out := string(html(t, tc.run()))
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q", want)
				}
			}
		})
	}
}

func TestTheLineOfObjectivesNamesWhatKeepsARunFromSucceeding(t *testing.T) {
	d := gated()
	table := analyse(t, d)
	line := report.ObjectivesLine(table)
	if !strings.Contains(line, "objectives missed; ") || !strings.Contains(line, "p99 latency in a closed loop of go at sweep-100 is ") || len(line) > 512 || strings.ContainsFunc(line, func(r rune) bool { return r > 127 }) {
		t.Errorf("%d bytes: %s", len(line), line)
	}
	d.Manifest.Plan.Objectives = []record.Objective{
		{Name: "fast", Metric: v1alpha1.ObjectiveThroughput, Load: "sweep", Connections: 10, Min: "50000", Implementations: []string{"go"}},
		{Metric: v1alpha1.ObjectiveRegression, Of: v1alpha1.ComparedThroughput, Load: "sweep", Connections: 10, Min: "0.5", Against: &record.Reference{Runs: []v1alpha1.PastRun{{UID: "b"}}, Anchor: "epoll"}, Implementations: []string{"go"}},
	}
	line = report.ObjectivesLine(analyse(t, d))
	for _, want := range []string{"2 of 2 objectives undecided; fast of go at sweep-10 is ", "(ImplementationFailures)", "is not known (NoEarlierRun: no such object: ", "), min -50.0 %"} {
		if !strings.Contains(line, want) {
			t.Errorf("no %q in %s", want, line)
		}
	}
}

func TestTheLineOfAnAARun(t *testing.T) {
	if line := report.NoiseLine(analyse(t, sameTwice())); !strings.HasPrefix(line, "noise floor (A/A of 2026-03-14, n = ") || !strings.HasSuffix(line, ", for runs of 10 blocks") || !strings.Contains(line, " % in throughput, ") {
		t.Error(line)
	}
	d := sameTwice()
	for i := range d.Trials {
		d.Trials[i].Generators[0].Cells[0].CPUsAllowed = "0-1"
	}
	d.Manifest.Plan.Placement.Pinning, d.Manifest.Plan.Placement.GeneratorPinning = record.Preferred, record.Preferred
	if line := report.NoiseLine(analyse(t, d)); !strings.HasPrefix(line, "no noise floor: in ") || !strings.Contains(line, " cells a server or generator did not own its CPUs") {
		t.Error(line)
	}
	if line := report.NoiseLine(analyse(t, quick())); line != "no noise floor: fewer than 7 pairs of usable cells" {
		t.Error(line)
	}
}

func TestEveryOutcomeOfScalingHasItsWords(t *testing.T) {
	summary := &inference.Summary{N: 10, Mean: 1000}
	for outcome, want := range map[scaling.Outcome]string{
		scaling.Knee:                    "throughput peaks at about 21.8 connections (99 % interval 20.0 to 24.0, from 10 blocks)",
		scaling.SaturatesBetween:        "saturates between 8 and 16 connections",
		scaling.SaturatedAtOrBelowFirst: "saturated at or below the first level, 16 connections",
		scaling.NotReached:              "throughput still rises at 8 connections",
		scaling.GeneratorLimited:        "generator-bound from 64 connections on",
		scaling.Unclear:                 "noise hides whether throughput still rises",
	} {
		t.Run(string(outcome), func(t *testing.T) {
			table := analyse(t, quick())
			table.Scaling = []scaling.Result{{
				Implementation: "go", Load: "sweep", Outcome: outcome, Reason: verdict.NoiseTooHigh, From: 8, To: 16, GeneratorLimitFrom: 64,
				Points: []scaling.Point{{Connections: 8, Throughput: summary, IsBound: true}, {Connections: 16}},
				Knee:   &scaling.Estimate{Value: 21.8, Low: 20, High: 24, N: 10}, Fit: &inference.USL{Lambda: 20_000, Sigma: 0.05, Kappa: 0.002, R2: 0.99},
			}}
			out, err := report.HTML(table)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(out), want) || strings.Contains(string(out), "!(") {
				t.Errorf("no %q", want)
			}
		})
	}
}
