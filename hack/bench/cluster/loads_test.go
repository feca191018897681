package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/timetable"
	"loadstone.dev/loadstone/internal/tool"
)

var instant = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(d time.Duration) time.Time { return instant.Add(d) }

// trialOf is a trial of two cells of 1 s whose generator's clock is an hour ahead and which starts each cell 1 ms late.
func trialOf(warmup int32) record.TrialData {
	cells := []record.Cell{{Load: "l", Tool: record.ToolWrk, Connections: 1, WarmupSeconds: warmup, DurationSeconds: 1}, {Load: "l", Tool: record.ToolWrk, Connections: 2, WarmupSeconds: warmup, DurationSeconds: 1}}
	t := record.TrialData{Manifest: record.TrialManifest{
		PlannedTrial: record.PlannedTrial{Name: "t"}, Cells: cells, Start: instant,
		Clocks: []record.AgentClock{{Member: record.MemberServer(0), OffsetNanos: 7}, {Member: record.MemberGenerator(0), OffsetNanos: int64(time.Hour)}},
	}}
	var runs []record.CellRun
	for _, s := range timetable.Of(cells) {
		runs = append(runs, record.CellRun{
			Started: after(time.Hour + s.Measure + time.Millisecond), Measurement: &record.Measurement{DurationMicros: 1_050_000},
		})
	}
	t.Generators = []record.GeneratorResult{{Cells: runs}}
	return t
}

func TestLoadsAreInTheOperatorsClock(t *testing.T) {
	const late = time.Millisecond
	warm, second := time.Second+timetable.WarmupGap, time.Second
	next := warm + second + tool.LeastGap
	tests := map[string]struct {
		warmup   int32
		want     []cellLoad
		between  time.Duration
		underAll time.Duration
	}{
		"with a warm-up": {
			warmup: 1,
			want: []cellLoad{
				{warmup: span{after(late), after(second)}, measured: span{after(warm + late), after(warm + late + 1050*time.Millisecond)}, late: late},
				{warmup: span{after(next + late), after(next + second)}, measured: span{after(next + warm + late), after(next + warm + late + 1050*time.Millisecond)}, late: late},
			},
			// 250 ms less the 50 ms for which wrk ran on, and 40 ms, and 1 ms for the measured tool that came late.
			between:  241 * time.Millisecond,
			underAll: 2 * (1050 + 999) * time.Millisecond,
		},
		"without": {
			want: []cellLoad{
				{measured: span{after(late), after(late + 1050*time.Millisecond)}, late: late},
				{measured: span{after(1250*time.Millisecond + late), after(2300*time.Millisecond + late)}, late: late},
			},
			between:  200 * time.Millisecond,
			underAll: 2100 * time.Millisecond,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := trialLoads(trialOf(tc.warmup))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(cellLoad{}, span{})); diff != "" {
				t.Errorf("loads (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]time.Duration{tc.between}, betweenCells(got)); diff != "" {
				t.Errorf("between cells (-want +got):\n%s", diff)
			}
			if sum := underLoad(got); sum != tc.underAll {
				t.Errorf("under load %s, want %s", sum, tc.underAll)
			}
			if begin(got) != tc.want[0].first() || end(got) != tc.want[1].measured.to {
				t.Errorf("from %s to %s", begin(got), end(got))
			}
		})
	}
}

func TestACellWithoutAMeasurementHasNoLoads(t *testing.T) {
	tests := map[string]func(*record.TrialData){
		"no measurement": func(t *record.TrialData) { t.Generators[0].Cells[1].Measurement = nil },
		"a cell missing": func(t *record.TrialData) { t.Generators[0].Cells = t.Generators[0].Cells[:1] },
		"no generator":   func(t *record.TrialData) { t.Generators = nil },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			data := trialOf(1)
			spoil(&data)
			if got, err := trialLoads(data); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}
