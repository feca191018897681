package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/analysis/builds"
	"loadstone.dev/loadstone/internal/record"
)

func TestClaimsAreConfirmedRefutedOrUnchecked(t *testing.T) {
	d := withBuilds(func(_ string, _ int32, seen *record.ObserverResult) {
		seen.Binary.Allocator, seen.Binary.AllocatorBy = "glibc", "it imports malloc"
	})
	glibc, mimalloc := record.Claim{Subject: record.ClaimAllocator, Value: "glibc"}, record.Claim{Subject: record.ClaimAllocator, Value: "mimalloc"}
	noGlibc, noMimalloc := glibc, mimalloc
	noGlibc.Absent, noMimalloc.Absent = true, true
	symbol := record.Claim{Subject: record.ClaimSymbol, Value: "main", Absent: true}
	own := &d.Manifest.Plan.Implementations[1]
	own.Claims = []record.Claim{glibc, mimalloc, noGlibc, noMimalloc, symbol}
	const by = "the allocator is glibc: it imports malloc"
	want := []builds.Claim{
		{Implementation: own.Name, Claim: glibc, Answer: builds.Confirmed, By: by},
		{Implementation: own.Name, Claim: mimalloc, Answer: builds.Refuted, By: by},
		{Implementation: own.Name, Claim: noGlibc, Answer: builds.Refuted, By: by},
		{Implementation: own.Name, Claim: noMimalloc, Answer: builds.Confirmed, By: by},
		{Implementation: own.Name, Claim: symbol, Answer: builds.Unchecked, By: "the symbol was not looked up"},
	}
	if diff := cmp.Diff(want, analysed(t, d).Claims); diff != "" {
		t.Error(diff)
	}
}
