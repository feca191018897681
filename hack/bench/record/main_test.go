package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/hack/bench/aa"
	"loadstone.dev/loadstone/hack/bench/local"
)

func TestWhatTheProgramRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a flag that there is not": {[]string{"-levels", "3"}, "parsing flags"},
		"no block":                 {[]string{"-blocks", "0"}, "-blocks must be 1 or more"},
		"a number that is none":    {[]string{"-blocks", "many"}, "parsing flags"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := run(t.Context(), io.Discard, tc.args); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if files, err := filepath.Glob("*"); err != nil || len(files) > 0 {
				t.Errorf("it has written %v, %v", files, err)
			}
		})
	}
}

func TestWhatIsMeasuredAnew(t *testing.T) {
	failed := errors.New("wrk is not there")
	for name, tc := range map[string]struct {
		// comes is what comes of each try, in turn; the last comes again and again.
		comes []error
		// before is how much was measured anew before.
		before    int
		wantTries int
		want      error
	}{
		"a good one, once":                        {[]error{nil}, 0, 1, nil},
		"one in which wrk counted errors":         {[]error{fmt.Errorf("wrk: %w", local.ErrSpoiled), nil}, 0, 2, nil},
		"one that others disturbed, twice":        {[]error{errDisturbed, fmt.Errorf("a block: %w", errDisturbed), nil}, 0, 3, nil},
		"nothing that failed otherwise":           {[]error{failed, nil}, 0, 1, failed},
		"nothing after a failure of the kind":     {[]error{errDisturbed, failed}, 0, 2, failed},
		"what is always disturbed, for some time": {[]error{errDisturbed}, 0, spoiled + 1, errDisturbed},
		"less where some was before":              {[]error{errDisturbed}, spoiled - 2, 3, errDisturbed},
		"a good one after all tries are used":     {[]error{nil}, spoiled, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, tries := &recorder{log: io.Discard, spoiled: tc.before}, 0
			err := r.again(func(context.Context) error {
				tries++
				return tc.comes[min(tries, len(tc.comes))-1]
			})(t.Context())
			if !errors.Is(err, tc.want) || tries != tc.wantTries {
				t.Errorf("%d tries and %v, want %d and %v", tries, err, tc.wantTries, tc.want)
			}
		})
	}
}

// level is one at which both servers needed some CPU time per request, in nanoseconds, while they took turns.
func level(connections int32, first, second int64) aa.Level {
	cell := func(nanos int64) aa.Cell { return aa.Cell{Requests: 1000, LoadNanos: 1e9, CPUNanos: 1000 * nanos} }
	return aa.Level{Connections: connections, Sequential: aa.Pair{cell(1), cell(1)}, Sliced: aa.Pair{cell(first), cell(second)}}
}

func TestIterationsThatCostATwentiethOfARequest(t *testing.T) {
	for name, tc := range map[string]struct {
		blocks []aa.Block
		loop   []float64
		want   uint64
	}{
		"of one block": {
			[]aa.Block{{Levels: []aa.Level{level(plantedAt, 10_000, 10_000)}}}, []float64{2, 2, 2}, 250,
		},
		"at the level where it is planted": {
			[]aa.Block{{Levels: []aa.Level{level(10, 90_000, 90_000), level(plantedAt, 10_000, 10_000)}}}, []float64{2}, 250,
		},
		"by the middle of all costs": {
			[]aa.Block{{Levels: []aa.Level{level(plantedAt, 10_000, 900_000)}}, {Levels: []aa.Level{level(plantedAt, 1000, 20_000)}}}, []float64{2}, 500,
		},
		"by the middle of what an iteration costs": {
			[]aa.Block{{Levels: []aa.Level{level(plantedAt, 10_000, 10_000)}}}, []float64{50, 1, 2}, 250,
		},
		"rounded to whole ones": {
			[]aa.Block{{Levels: []aa.Level{level(plantedAt, 10_000, 10_000)}}}, []float64{3}, 167,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{Recording: aa.Recording{Blocks: tc.blocks}}
			if got := r.iterations(tc.loop); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

func TestTheFileIsReplacedAsAWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "blocks.json")
	r := &recorder{out: file, Recording: aa.Recording{CellMillis: 1000}}
	for blocks := 1; blocks <= 2; blocks++ {
		r.Blocks = append(r.Blocks, aa.Block{Levels: []aa.Level{level(10, 5, 5)}})
		if err := r.write(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := aa.Parse(text); err != nil || len(got.Blocks) != blocks || got.CellMillis != 1000 {
			t.Errorf("after %d blocks: %+v, %v", blocks, got, err)
		}
		if !strings.HasSuffix(string(text), "}\n") {
			t.Errorf("the file ends in %q", text[len(text)-2:])
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(left) != 1 {
		t.Errorf("beside the file lie %v, %v", left, err)
	}
}

func TestAFileThatCannotBeWrittenIsSaid(t *testing.T) {
	r := &recorder{out: filepath.Join(t.TempDir(), "nowhere", "blocks.json")}
	if err := r.write(); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "writing the recording") {
		t.Errorf("got %v", err)
	}
}

func TestProgressReckonsByThePaceSoFar(t *testing.T) {
	for name, tc := range map[string]struct {
		// ago is how long the whole has been going on when the first of two blocks is done, of 10 s each.
		ago   time.Duration
		steps int
		want  string
	}{
		"as fast as reckoned":           {10 * time.Second, 2, "1/2, about 10s left: block 1\n"},
		"half as fast":                  {20 * time.Second, 2, "1/2, about 20s left: block 1\n"},
		"more steps than were expected": {10 * time.Second, 0, "1/1, about 10s left: block 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			r := &recorder{log: &out, all: 20 * time.Second, left: 20 * time.Second, steps: tc.steps, began: time.Now().Add(-tc.ago)}
			r.progress(10*time.Second, "block %d", 1)
			if out.String() != tc.want {
				t.Errorf("got %q, want %q", out.String(), tc.want)
			}
		})
	}
}
