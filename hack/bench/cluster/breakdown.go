package cluster

import (
	"cmp"
	"slices"
	"time"

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/hack/bench/progress"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/render"
)

// stage is something that has to happen; it has happened when all its facts have been seen.
type stage struct {
	name  string
	facts []string
}

// stretch is a time that one would like to be shorter, with the stages that it is made of.
type stretch struct {
	from, to time.Time
	stages   []stage
}

// row is one line of a breakdown.
type row struct {
	name string
	n    int
	// at is the median of the instants, reckoned from the stretch's begin; step is the time since the row before.
	at, step time.Duration
}

// breakdown says where the time of stretches goes: their stages, by the median of their instants. A stage that was not seen in a
// stretch does not count there.
func breakdown(stretches []stretch, seen map[string]time.Time) []row {
	at := map[string][]time.Duration{}
	for _, s := range stretches {
		for _, g := range s.stages {
			if t, ok := last(g.facts, seen); ok {
				at[g.name] = append(at[g.name], t.Sub(s.from))
			}
		}
		at["first load"] = append(at["first load"], s.to.Sub(s.from))
	}
	var rows []row
	for name, values := range at {
		rows = append(rows, row{name: name, n: len(values), at: figures.Median(values)})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name)) })
	before := time.Duration(0)
	for i := range rows {
		rows[i].step, before = rows[i].at-before, rows[i].at
	}
	return rows
}

func last(facts []string, seen map[string]time.Time) (time.Time, bool) {
	var latest time.Time
	for _, f := range facts {
		t, ok := seen[f]
		if !ok {
			return latest, false
		}
		if t.After(latest) {
			latest = t
		}
	}
	return latest, true
}

func tellBreakdown(log *progress.Log, title string, rows []row) {
	log.Say("%s\n%9s %9s  %s", title, "at ms", "step ms", "stage (median)")
	for _, r := range rows {
		log.Say("%9.0f %9.0f  %s (n=%d)", float64(r.at.Microseconds())/1000, float64(r.step.Microseconds())/1000, r.name, r.n)
	}
}

// preparing are the stages from a trial's turn to its first load.
func preparing(trial string, attempt int32) []stage {
	s, g := render.PodName(trial, attempt, record.MemberServer(0)), render.PodName(trial, attempt, record.MemberGenerator(0))
	return []stage{
		{"pods created", []string{podFact(s, created), podFact(g, created)}},
		{"pods scheduled", []string{podFact(s, scheduled), podFact(g, scheduled)}},
		{"server pod running", []string{podFact(s, running)}},
		{"generator pod running", []string{podFact(g, running)}},
		{"trial prepared", []string{trialFact(trial, prepared)}},
		{"trial released by its step", []string{trialFact(trial, released)}},
		{"start instant written", []string{trialFact(trial, started)}},
	}
}

// ending are the stages from a trial's last load until nothing of it holds a CPU.
func ending(trial string, attempt int32) []stage {
	s, g := render.PodName(trial, attempt, record.MemberServer(0)), render.PodName(trial, attempt, record.MemberGenerator(0))
	return []stage{
		{"previous trial measured", []string{trialFact(trial, finished)}},
		{"previous trial stored", []string{trialFact(trial, stored)}},
		{"previous pods told to end", []string{podFact(s, deleting), podFact(g, deleting)}},
		{"previous server pod gone", []string{podFact(s, gone)}},
		{"previous generator pod gone", []string{podFact(g, gone)}},
	}
}
