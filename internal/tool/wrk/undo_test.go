package wrk_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/wrk"
)

func correct(data []int64, e int64) {
	for n := 2 * e; n < int64(len(data)); n++ {
		count := data[n]
		for m := n - e; count > 0 && m > e; m -= e {
			data[m] += count
		}
	}
}

func bins(data []int64) []tool.Bin {
	found := []tool.Bin{}
	for micros, count := range data {
		if count > 0 {
			found = append(found, tool.Bin{Micros: int64(micros), Count: count})
		}
	}
	return found
}

func TestUndoTakesOutWhatWrkPutIn(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for range 500 {
		size := 1 + random.IntN(3000)
		data := make([]int64, size)
		for range random.IntN(400) {
			data[random.IntN(size)] += 1 + random.Int64N(50)
		}
		e := 1 + random.Int64N(int64(size))
		want := bins(data)
		correct(data, e)
		corrected := bins(data)
		if !cmp.Equal(corrected, want) {
			changed++
		}
		random.Shuffle(len(corrected), func(i, j int) { corrected[i], corrected[j] = corrected[j], corrected[i] })
		got, err := wrk.Undo(corrected, e)
		if err != nil {
			t.Fatalf("Undo() of %d bins with an interval of %d µs: %v", len(corrected), e, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("interval %d µs (-want +got):\n%s", e, diff)
		}
	}
	if changed < 100 {
		t.Errorf("only %d of 500 histograms were changed by the correction: the test tests little", changed)
	}
}

func TestUndoRefuses(t *testing.T) {
	tests := map[string][]tool.Bin{
		"a bin with fewer samples than the correction put there": {{Micros: 250, Count: 1}, {Micros: 350, Count: 2}},
		"a hole where the correction put samples":                {{Micros: 350, Count: 2}},
	}
	for name, in := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := wrk.Undo(in, 100); err == nil {
				t.Errorf("Undo() = %v, want an error", got)
			}
		})
	}
}
