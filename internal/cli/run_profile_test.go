package cli

import (
	"context"
	"path/filepath"
	"testing"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
)

func TestLocalRunProfilesServers(t *testing.T) {
	testbed.Programs(t, "strace")
	dir := servers(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	file := comparison(t, dir, "warmupSeconds: 1", "warmupSeconds: 0", "blocks: 2\n", "blocks: 1\n  profiles:\n  - {name: calls, tool: strace, requests: 50, repeats: 1, implementations: [plain]}\n")
	results := filepath.Join(dir, "results")
	if out, err := loadstone(ctx, "run", file, "--out", results).CombinedOutput(); statusAfter(err) != statusInconclusive {
		t.Fatalf("it ends with %v: %s", err, out)
	}
	var m record.RunManifest
	read(t, filepath.Join(results, "manifest.json"), &m)
	if len(m.Following) != 1 || m.Following[0].Manifest == nil {
		t.Fatalf("what follows the blocks is %+v", m.Following)
	}
	var found record.ObserverResult
	read(t, filepath.Join(dir, filepath.Dir(m.Following[0].Manifest.Key), "server-0", "result.json"), &found)
	// What a request costs is the difference between two launches.
	if found.Profiled == nil || len(found.Profiled.Launches) != 2 || found.Profiled.Launches[0].Asked != 50 {
		t.Errorf("the profile holds %+v", found.Profiled)
	}
}
