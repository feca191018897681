package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/render"
	"loadstone.dev/loadstone/internal/timetable"
)

// span is a time in which load ran, in the operator's clock. A zero span is none.
type span struct{ from, to time.Time }

func (s span) length() time.Duration { return s.to.Sub(s.from) }

// cellLoad is the load of one cell.
type cellLoad struct {
	warmup, measured span
	// late is how much later than planned the measured tool was started.
	late time.Duration
}

// first is when the cell's load began.
func (c cellLoad) first() time.Time {
	if c.warmup.from.IsZero() {
		return c.measured.from
	}
	return c.warmup.from
}

// gap is the time without load between warm-up and measured time.
func (c cellLoad) gap() time.Duration {
	if c.warmup.from.IsZero() {
		return 0
	}
	return c.measured.from.Sub(c.warmup.to)
}

// trialLoads finds when load ran in a trial, cell by cell.
func trialLoads(t record.TrialData) ([]cellLoad, error) {
	m := t.Manifest
	if len(t.Generators) == 0 || len(t.Generators[0].Cells) != len(m.Cells) {
		return nil, fmt.Errorf("reading the loads of trial %s: its generator's record does not have its %d cells", m.Name, len(m.Cells))
	}
	var offset time.Duration
	for _, c := range m.Clocks {
		if c.Member == record.MemberGenerator(0) {
			offset = time.Duration(c.OffsetNanos)
		}
	}
	loads := make([]cellLoad, 0, len(m.Cells))
	for i, slot := range timetable.Of(m.Cells) {
		run := t.Generators[0].Cells[i]
		if run.Measurement == nil {
			return nil, fmt.Errorf("reading the loads of trial %s: cell %s has no measurement: %s", m.Name, timetable.CellName(slot.Cell), run.Error)
		}
		c := cellLoad{}
		c.measured.from = run.Started.Add(-offset)
		c.measured.to = c.measured.from.Add(time.Duration(run.Measurement.DurationMicros) * time.Microsecond)
		c.late = c.measured.from.Sub(m.Start.Add(slot.Measure))
		if slot.Measure > slot.Warmup {
			c.warmup = span{m.Start.Add(slot.Warmup + max(c.late, 0)), m.Start.Add(slot.Measure - timetable.WarmupGap)}
		}
		loads = append(loads, c)
	}
	return loads, nil
}

// betweenCells are the times without load from each cell's end to the next one's measured time.
func betweenCells(loads []cellLoad) []time.Duration {
	var dead []time.Duration
	for i := 1; i < len(loads); i++ {
		dead = append(dead, loads[i].first().Sub(loads[i-1].measured.to)+loads[i].gap())
	}
	return dead
}

// underLoad is the time in which load ran.
func underLoad(loads []cellLoad) time.Duration {
	var sum time.Duration
	for _, c := range loads {
		sum += c.warmup.length() + c.measured.length()
	}
	return sum
}

// begin and end are when a trial's load began and ended.
func begin(loads []cellLoad) time.Time { return loads[0].first() }
func end(loads []cellLoad) time.Time   { return loads[len(loads)-1].measured.to }

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

func tellBreakdown(log *figures.Log, title string, rows []row) {
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
