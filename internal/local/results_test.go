package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/progress"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func printed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "tool", "wrk", "testdata", "good.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestACellIsToldWhenItHasFinished(t *testing.T) {
	spec := quick()
	warm := int32(1)
	spec.Loads[0].WarmupSeconds = &warm
	for name, tc := range map[string]struct {
		after int
		plus  time.Duration
		rest  []int
		files int
		want  []string
	}{
		"before the first has ended":                   {0, -time.Millisecond, nil, 1, nil},
		"while the next one warms up":                  {0, time.Millisecond, nil, 1, []string{"sweep-10"}},
		"when the next one is about to be measured":    {0, 700 * time.Millisecond, nil, 1, nil},
		"when it is measured, and there is a CPU free": {0, 2 * time.Second, []int{0}, 1, []string{"sweep-10"}},
		"when nothing was printed yet":                 {0, time.Millisecond, nil, 0, nil},
		"after the last":                               {1, 0, nil, 2, []string{"sweep-10", "sweep-100"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := led(t, spec)
			// This program has the generator's CPU, unless the test says otherwise.
			if r.seats.Rest = r.seats.Generators[0]; tc.rest != nil {
				r.seats.Rest = tc.rest
			}
			var told []string
			r.options.Tell = func(e progress.Event) {
				for _, found := range e.Results {
					told = append(told, found.Name)
					if e.Kind != progress.EventFinished || found.Value <= 0 || found.P99Micros == nil || *found.P99Micros <= 0 {
						t.Errorf("it tells %+v", found)
					}
				}
			}
			a := tried(r)
			slots := a.Slots()
			a.Started = noon
			a.Now = noon.Add(slots[tc.after].End + tc.plus)
			for _, m := range a.team.members {
				m.dir = t.TempDir()
				for _, s := range slots[:tc.files] {
					reexectest.Write(t, filepath.Join(m.dir, timetable.RawFile(s.Cell, 0)), printed(t), 0o600)
				}
			}
			a.tellFinished()
			a.tellFinished() // Nothing is told twice.
			if len(told) != len(tc.want) || len(told) > 0 && told[0] != tc.want[0] {
				t.Errorf("it tells of %v, want %v", told, tc.want)
			}
		})
	}
}

func TestALatencyIsShownIfEveryGeneratorKnowsIt(t *testing.T) {
	a := tried(led(t, quick()))
	a.team.generators()[0].dir = t.TempDir()
	cell := a.Slots()[0].Cell
	reexectest.Write(t, filepath.Join(a.team.generators()[0].dir, timetable.RawFile(cell, 0)), printed(t), 0o600)
	one, ok := a.readCell(cell)
	if !ok || one.P99Micros == nil {
		t.Fatalf("it reads %+v", one)
	}
	without := record.CellRun{Measurement: &record.Measurement{Requests: 1, DurationMicros: 1_000_000}}
	if got := progress.ResultOf("sweep-10", []record.CellRun{without, without}); got.P99Micros != nil || got.Value != 2 {
		t.Errorf("without latencies it shows %+v", got)
	}
}
