package main

import (
	"os"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	busy, steal := parseStat("cpu  1 2 4 1000 2000 8 16 32 64 0\ncpu0 1 1 1 1\n")
	if busy != 31*tick || steal != 32*tick {
		t.Errorf("got %s busy and %s stolen, want %s and %s", busy, steal, 31*tick, 32*tick)
	}
}

func TestCPUTimeOfAProcess(t *testing.T) {
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	after := before
	for deadline := time.Now().Add(20 * time.Second); after-before < 20*time.Millisecond; {
		if after, err = cpuTime(os.Getpid()); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("a busy process used %s in 20 s", after-before)
		}
	}
	const nobody = 1 << 22
	if _, err := cpuTime(nobody); err == nil {
		t.Error("a process that there is not has a CPU time")
	}
}
