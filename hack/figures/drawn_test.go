package figures

import "testing"

func TestASimulationDrawsFewRunsUnlessMoreAreAskedFor(t *testing.T) {
	for text, want := range map[string]int{"": 7, "10000": 10_000, "0": 0, "many": 0} {
		t.Setenv("LOADSTONE_TEST_DRAWN_RUNS", text)
		if got, err := Drawn(7); got != want || (err != nil) != (want == 0) {
			t.Errorf("of %q it draws %d, %v; want %d", text, got, err, want)
		}
	}
}
