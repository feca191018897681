package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// cellLoad is the load of one cell, in the operator's clock. It begins with the start of a tool and ends after the duration that the tool reports.
// Writing its histogram is no load. A warm-up starts at its planned instant plus the delay of the measured tool, and ends when it is killed.
type cellLoad struct {
	from, to time.Time
	// gap is the time without load between warm-up and measurement.
	gap time.Duration
	// late is the delay of the measured tool's start.
	late time.Duration
}

func (c cellLoad) load() time.Duration { return c.to.Sub(c.from) - c.gap }

// trialLoads finds when load ran in each cell of a trial.
func trialLoads(t record.TrialData) ([]cellLoad, error) {
	m := t.Manifest
	if len(t.Generators) == 0 || len(t.Generators[0].Cells) != len(m.Cells) {
		return nil, fmt.Errorf("the generator's record of trial %s does not have its %d cells", m.Name, len(m.Cells))
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
			return nil, fmt.Errorf("cell %s of trial %s has no measurement: %s", timetable.CellName(slot.Cell), m.Name, run.Error)
		}
		c := cellLoad{from: run.Started.Add(-offset)}
		c.to = c.from.Add(time.Duration(run.Measurement.DurationMicros) * time.Microsecond)
		c.late = c.from.Sub(m.Start.Add(slot.Measure))
		if slot.Measure > slot.Warmup {
			c.gap = c.from.Sub(m.Start.Add(slot.Measure - timetable.WarmupGap))
			c.from = m.Start.Add(slot.Warmup + max(c.late, 0))
		}
		loads = append(loads, c)
	}
	return loads, nil
}

// trialOf is a trial of two cells of 1 s. The generator's clock is an hour ahead, and each cell starts 1 ms late.
func trialOf(begin time.Time, warmup int32) record.TrialData {
	cells := []record.Cell{{Load: "l", Tool: record.ToolWrk, Connections: 1, WarmupSeconds: warmup, DurationSeconds: 1}, {Load: "l", Tool: record.ToolWrk, Connections: 2, WarmupSeconds: warmup, DurationSeconds: 1}}
	t := record.TrialData{Manifest: record.TrialManifest{
		PlannedTrial: record.PlannedTrial{Name: "t"}, Cells: cells, Start: begin,
		Clocks: []record.AgentClock{{Member: record.MemberServer(0), OffsetNanos: 7}, {Member: record.MemberGenerator(0), OffsetNanos: int64(time.Hour)}},
	}}
	var runs []record.CellRun
	for _, s := range timetable.Of(cells) {
		runs = append(runs, record.CellRun{Started: begin.Add(time.Hour + s.Measure + time.Millisecond), Measurement: &record.Measurement{DurationMicros: 1_050_000}})
	}
	t.Generators = []record.GeneratorResult{{Cells: runs}}
	return t
}

func TestLoadsAreInTheOperatorsClock(t *testing.T) {
	const late, second = time.Millisecond, time.Second
	begin, next := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 2*second+timetable.WarmupGap+tool.LeastGap
	at := func(d time.Duration) time.Time { return begin.Add(d) }
	warm := second + timetable.WarmupGap
	for name, tc := range map[string]struct {
		warmup int32
		want   []cellLoad
		load   time.Duration
	}{
		"with a warm-up": {1, []cellLoad{
			{from: at(late), to: at(warm + late + 1050*time.Millisecond), gap: timetable.WarmupGap + late, late: late},
			{from: at(next + late), to: at(next + warm + late + 1050*time.Millisecond), gap: timetable.WarmupGap + late, late: late},
		}, (1050 + 999) * time.Millisecond},
		"without": {0, []cellLoad{
			{from: at(late), to: at(late + 1050*time.Millisecond), late: late},
			{from: at(1250*time.Millisecond + late), to: at(2300*time.Millisecond + late), late: late},
		}, 1050 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := trialLoads(trialOf(begin, tc.warmup))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(cellLoad{})); diff != "" {
				t.Errorf("loads (-want +got):\n%s", diff)
			}
			if got[0].load() != tc.load {
				t.Errorf("%s under load, want %s", got[0].load(), tc.load)
			}
		})
	}
}
