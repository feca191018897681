package main

import "testing"

func TestBurnDependsOnEveryIteration(t *testing.T) {
	seen := map[uint64]bool{}
	for n := range uint64(1000) {
		x := burn(n)
		if x == 0 || seen[x] {
			t.Fatalf("burn(%d) = %d, which is 0 or was there before: the loop could be left out", n, x)
		}
		seen[x] = true
	}
}

func BenchmarkBurn(b *testing.B) {
	const iterations = 1000
	for b.Loop() {
		if burn(iterations) == 0 {
			b.Fatal("the loop was left out")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/iterations, "ns/iteration")
}
