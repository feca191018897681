package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/test/structure"
)

// The end-to-end tests compare a run on a cluster with the same file.
func TestARunHereAndARunOnAClusterHaveOneStructure(t *testing.T) {
	dir := servers(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// The levels are those of the sample, and answers are expected as there.
	file := comparison(t, dir, "connections: 2}, {connections: 8}]", "connections: 10}, {connections: 100}], request: {path: /, expect: {status: 200, body: helloworld}}")
	if out, err := loadstone(ctx, "run", file, "--out", filepath.Join(dir, "results")).CombinedOutput(); statusAfter(err) != statusInconclusive {
		t.Fatalf("it ends with %v: %s", err, out)
	}
	folder, err := artifact.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := publish.Read(ctx, folder, "results")
	if err != nil {
		t.Fatal(err)
	}
	o, err := publish.Make(ctx, folder, "results")
	if err != nil {
		t.Fatal(err)
	}
	got, err := structure.Of(data, o.Files[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "test", "structure", "testdata", "quick.txt"), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(structure.Quick, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
