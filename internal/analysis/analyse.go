package analysis

import (
	"cmp"
	"slices"
	"sync"

	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/analysis/capacity"
	"loadstone.dev/loadstone/internal/analysis/environment"
	"loadstone.dev/loadstone/internal/analysis/objectives"
	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/analysis/scaling"
	"loadstone.dev/loadstone/internal/analysis/trend"
	"loadstone.dev/loadstone/internal/analysis/validity"
	"loadstone.dev/loadstone/internal/analysis/verdict"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/inference"
)

// Analyse makes the table of a run. It fails only on contradictory or unreadable records; what a run lacks is in the
// table.
func Analyse(data record.RunData) (Table, error) { return analyse(data, false) }

// Spend is Analyse for records that nothing else reads: it drops their histograms and samples over time one after the other.
func Spend(data record.RunData) (Table, error) { return analyse(data, true) }

func analyse(data record.RunData, spend bool) (Table, error) {
	t, asked, err := measure(data, spend)
	if err != nil {
		return Table{}, err
	}
	t.Objectives, err = objectives.Judge(asked, func(earlier record.RunData) (objectives.Run, error) {
		_, asked, err := measure(earlier, spend)
		return asked, err
	})
	return t, err
}

func measure(data record.RunData, spend bool) (Table, objectives.Run, error) {
	if err := misplaced(data.Trials); err != nil {
		return Table{}, objectives.Run{}, err
	}
	objects := artifacts(data)
	data = split(data)
	p, err := planned.Of(data.Manifest)
	if err != nil {
		return Table{}, objectives.Run{}, err
	}
	programs, err := validity.Programs(data, p)
	if err != nil {
		return Table{}, objectives.Run{}, err
	}
	rows := rowsOf(data, programs)
	verdict.SeparateUnits(rows)
	r, err := validity.NewReader(celled(data), p)
	if err != nil {
		return Table{}, objectives.Run{}, err
	}
	r.Spends = spend
	printed := programsOf(data)
	t := Table{
		Run: runOf(data.Manifest, p, r.Pinning()), Rules: rulesOf(p), Implementations: p.Implementations, Levels: p.Levels, Requests: p.Requests, Artifacts: objects,
		Programs: programs, Cases: casesOf(printed, p, rows), CaseGaps: gapsOf(printed, p), Unread: unreadOf(printed, p), CaseNames: caseNamesOf(printed, data.Manifest.Plan),
	}
	if t.Groups, err = r.Groups(); err != nil {
		return Table{}, objectives.Run{}, err
	}
	t.Coverage = coverage(data, p, t.Groups)
	t.Coverage.addPrograms(p, programs)
	failures := t.Coverage.failures()
	if t.Capacities, err = capacity.Read(r, p, failures); err != nil {
		return Table{}, objectives.Run{}, err
	}
	t.Coverage.addSteps(t.Capacities)
	failedCases := failedCases(t.CaseGaps)
	var searches verdict.Searches
	t.Capacities, searches = capacity.Compare(p, t.Capacities)
	t.Rows, searches = verdict.CompareRows(p, rows, verdict.Failures{Trials: failures, Cases: failedCases}, searches)
	t.Comparisons = verdict.Compare(p, t.Groups, failures, searches)
	verdict.WeighCases(t.Rows)
	t.Scaling = scaling.Of(p, t.Groups, data.Manifest.Plan.Seed)
	t.Trends = trend.Of(data.Manifest.Plan, data.Trials, t.Groups)
	t.Environment, t.Encryption = environment.Of(data, p), environment.Encryption(data, p)
	t.Builds, t.Claims = builds.Of(data, p), builds.Claims(data, p)
	t.Run.Notes = append(t.Run.Notes, builds.Notes(t.Builds, p, data)...)
	t.Profiles, t.Followed = profiles(data, p), followed(data)
	t.Unknowns = environment.Unknowns(data, p)
	t.Fingerprint = environment.Fingerprint(data)
	if t.NoiseFloor, t.NoiseFloorUnpinned = noise(t, data); t.NoiseFloor == nil {
		t.NoiseFloor = fitting(data.Calibration, t.Fingerprint)
	}
	return t, objectives.Run{
		Data: data, Implementations: t.Implementations, Levels: t.Levels, Requests: t.Requests, Groups: t.Groups, Comparisons: t.Comparisons,
		Admitting:  sync.OnceValue(func() []verdict.Comparison { return verdict.Admitting(p, t.Groups, failures) }),
		Capacities: t.Capacities, ImplementationFailures: failures, Cases: rows, Rows: t.Rows, CaseFailures: failedCases,
	}, nil
}

func rulesOf(p planned.Run) Rules {
	return Rules{
		Alpha: verdict.AnalysisAlpha(p.Analyses), Confidence: inference.Confidence, Power: inference.Power, MinBlocks: verdict.MinBlocks,
		EquivalenceMargin: inference.EquivalenceMargin, LoadsShare: verdict.LoadsShare, DecidingShare: verdict.DecidingShare,
	}
}

// Group returns nil if there is none.
func (t Table) Group(at record.Point, implementation string) *validity.Group {
	return validity.GroupAt(t.Groups, at, implementation)
}

func runOf(m record.RunManifest, p planned.Run, pinning record.Strictness) Run {
	return Run{
		Run: m.Run, Baseline: p.Baseline, Blocks: p.Blocks, Seed: m.Plan.Seed, Started: m.Started, Ended: m.Ended,
		Operator: m.Operator, Pinning: pinning, WholeTrials: p.WholeTrials, Notes: slices.Concat([]string{}, m.Plan.Notes, m.Notes),
	}
}

func artifacts(data record.RunData) []Artifact {
	out := []Artifact{}
	for _, s := range data.Manifest.Scripts {
		out = append(out, Artifact{Artifact: s.Artifact})
	}
	for _, b := range data.Manifest.Bodies {
		out = append(out, Artifact{Artifact: b.Artifact})
	}
	for _, e := range slices.Concat(data.Manifest.Trials, data.Manifest.Following) {
		if e.Manifest != nil {
			out = append(out, Artifact{Trial: e.Name, Artifact: *e.Manifest})
		}
	}
	for _, t := range slices.Concat(data.Trials, data.Following) {
		for _, a := range t.Manifest.Artifacts {
			out = append(out, Artifact{Trial: t.Manifest.Name, Artifact: a})
		}
	}
	slices.SortStableFunc(out, func(a, b Artifact) int {
		return cmp.Or(cmp.Compare(a.Trial, b.Trial), cmp.Compare(a.Member, b.Member), cmp.Compare(a.Name, b.Name))
	})
	return out
}
