package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/artifact"
	"loadstone.dev/loadstone/internal/publish"
	"loadstone.dev/loadstone/test/structure"
)

// asTheSample gives the comparison of tests the levels of the quick sample, whose answers are expected as there.
var asTheSample = []string{"connections: 2}, {connections: 8}]", "connections: 10}, {connections: 100}], request: {path: /, expect: {status: 200, body: helloworld}}"}

// checkStructure checks that the records and the report of such a run are built like those of a run on a cluster, which the end-to-end tests
// compare with the same file.
func checkStructure(t *testing.T, results string) {
	t.Helper()
	folder, err := artifact.OpenFolder(filepath.Dir(results))
	if err != nil {
		t.Fatal(err)
	}
	data, err := publish.Read(t.Context(), folder, filepath.Base(results))
	if err != nil {
		t.Fatal(err)
	}
	o, err := publish.Make(t.Context(), folder, filepath.Base(results))
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
		t.Errorf("the structure of the run: -want +got:\n%s", diff)
	}
}
