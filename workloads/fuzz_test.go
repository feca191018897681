package workloads_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestEpollAnswersAlikeHoweverItsInputIsCut(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	program := filepath.Join(t.TempDir(), "fuzz")
	if out, err := exec.CommandContext(t.Context(), "make", "-s", "-C", "epoll", "fuzz", "OUT="+program).CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
