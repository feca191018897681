package kernel

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestAProcessHasACPUClock(t *testing.T) {
	own, err := OwnCPUNanos()
	if err != nil {
		t.Fatal(err)
	}
	seen, err := ProcessCPUNanos(os.Getpid())
	if err != nil || seen < own || seen > own+time.Minute.Nanoseconds() {
		t.Errorf("the clock of this process shows %d ns with %v, after %d ns of its own", seen, err, own)
	}
	if _, err := ProcessCPUNanos(1 << 22); err == nil {
		t.Error("a process that does not exist has CPU time")
	}
}

func TestAFamilyHoldsChildrenThatHaveEnded(t *testing.T) {
	before, err := FamilyCPUNanos()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
	if err := child.Run(); err != nil {
		t.Skipf("there is no shell: %v", err)
	}
	after, err := FamilyCPUNanos()
	if used := child.ProcessState.UserTime().Nanoseconds(); err != nil || after-before < used {
		t.Errorf("the family used %d ns with %v, and its child alone %d", after-before, err, used)
	}
}
