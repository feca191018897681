package server

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"loadstone.dev/loadstone/internal/testbed"
)

// The page's clock follows the server's answers, whatever becomes of a stream. Without Node this is not tested.
func TestTheClockOfAPageIsTrue(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node, in which the script of the pages could run")
	}
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, node, filepath.Join("testdata", "live.js"), filepath.Join("..", "live.js")).CombinedOutput()
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
