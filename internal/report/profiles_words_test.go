package report_test

import (
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record/recordtest"
)

func TestCountsThatDoNotOverlapAreNotCalledOverlapping(t *testing.T) {
	d := recordtest.Run(recordtest.Duel(3))
	few := map[string]string{"callgrind.7.out": "callgrind/testdata/clean.out"}
	profile(&d, "i", profiler.Callgrind, repeated(profiler.Callgrind, few, 50_000), repeated(profiler.Callgrind, few, 70_000, 70_300, 70_100), nil)
	if s := profilesSection(t, d); strings.Contains(s, "counts overlap") {
		t.Error("counts overlap")
	}
}

func TestZeroOfZero(t *testing.T) {
	if s := profilesSection(t, profiledRun()); strings.Contains(s, "0 of 0 requests") {
		t.Error("0 of 0 requests")
	}
}
