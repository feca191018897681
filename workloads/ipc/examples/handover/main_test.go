package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTheSuccessorListensOnTheSameAddress(t *testing.T) {
	program := filepath.Join(t.TempDir(), "handover")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program).CombinedOutput()
	if err != nil || string(out) != "the successor listens on the same address\n" {
		t.Errorf("got %v: %s", err, out)
	}
}
