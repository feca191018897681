package verdict_test

import (
	"testing"

	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/verdict"
)

func TestAPlanPromisesAVerdictFromAsManyBlocksAsItTakes(t *testing.T) {
	if plan.VerdictBlocks != verdict.MinBlocks {
		t.Errorf("plans say that a verdict needs %d blocks, and it needs %d", plan.VerdictBlocks, verdict.MinBlocks)
	}
}
