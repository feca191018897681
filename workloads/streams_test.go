package workloads_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"loadstone.dev/loadstone/workloads/conformance"
)

func TestThePeerOnLibuvsStreamsAnswers(t *testing.T) {
	if exec.CommandContext(t.Context(), "pkg-config", "--exists", "libuv").Run() != nil {
		lacks(t, "libuv is not there, as far as pkg-config knows: its peer is not tested")
		t.Skip("it cannot be built")
	}
	program := filepath.Join(t.TempDir(), "uvhttp-streams-asan")
	if out, err := exec.CommandContext(t.Context(), "make", "-s", "-C", "uvhttp", program, "OUT="+filepath.Dir(program)).CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	server := start(t, program)
	conformance.Ask(t, server.address, asked)
	server.stop(t)
}
