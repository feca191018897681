package generate

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// inPod marks the process that TestAPodSeesWrongAnswersToTheLoadAlone starts.
const inPod = "LOADSTONE_TEST_IN_POD"

// The measured pods of a cluster have no capabilities, and the default profile of their runtime.
func TestAPodSeesWrongAnswersToTheLoadAlone(t *testing.T) {
	honest := map[record.Tool]int64{record.ToolWrk: 2000, record.ToolAb: 200, record.ToolH2load: 200, record.ToolK6: 20, record.ToolVegeta: 20}
	if os.Getenv(inPod) == "" {
		testbed.Programs(t, "wrk", "ab", "h2load", "k6", "vegeta")
		out, err := inRestrictedProcess(t)
		if seen := len(regexp.MustCompile("(?m)^ +--- PASS").FindAll(out, -1)); err != nil || seen != len(honest) {
			t.Fatalf("%d tools were tested, %v:\n%s", seen, err, out)
		}
		return
	}
	status, err := os.ReadFile("/proc/self/status")
	for _, want := range []string{"CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		if err != nil || !strings.Contains(string(status), want) {
			t.Fatalf("the process has no %q, %v:\n%s", want, err, status)
		}
	}
	if kernel.MayDuplicate() {
		t.Fatal("the profile allows pidfd_getfd")
	}
	for name, first := range honest {
		t.Run(string(name), func(t *testing.T) {
			b := newBench(t, withTools)
			c := sampledCell(name)
			c.WarmupSeconds = 1
			c.RequestsPerSecond *= 10
			b.generator.openingShare = 0 // On a busy machine, everything costs more.
			target, _ := cheating(t, first)
			if checked := b.generator.Check(t.Context(), protocol.Check{Targets: []string{target}, Requests: []record.Request{c.Request}, Cells: []record.Cell{c}}); !checked.OK() {
				t.Fatalf("the check says %q", checked.Message)
			}
			result := b.again(protocol.Start{Targets: []string{target}, Slots: timetable.Of([]record.Cell{c})}, func(o outcome) bool {
				a, m := o.Cells[0].LoadAudit, o.Cells[0].Measurement
				refused := m != nil && strings.Contains(strings.Join(m.Unknown, " "), "pidfd_getfd")
				return refused || o.Cells[0].Error == "" && a != nil && a.WrongBody > 0
			})
			got := result.Cells[0]
			if got.Error != "" || got.Measurement == nil {
				t.Fatalf("the cell was not measured: %q", got.Error)
			}
			if a := got.LoadAudit; a == nil || a.WrongBody == 0 || a.WrongStatus+a.Failed > 0 {
				t.Fatalf("%d requests, and the answers sampled are %+v, unknown %q", got.Measurement.Requests, a, got.Measurement.Unknown)
			}
			t.Logf("%d requests, %+v", got.Measurement.Requests, got.LoadAudit)
		})
	}
}

func inRestrictedProcess(t *testing.T) (out []byte, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), inPod+"=1")
	wait := inBackground(func() error {
		if err := restrict(); err != nil {
			return err
		}
		var err error
		out, err = cmd.CombinedOutput()
		return err
	})
	err = wait()
	return out, err
}
