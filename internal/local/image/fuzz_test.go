package image

import (
	"archive/tar"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"loadstone.dev/loadstone/internal/testbed/mutated"
)

// FuzzUnpack unpacks archives that a stranger built. Nothing may be written outside the folder.
func FuzzUnpack(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	body, err := os.ReadFile(archive(f, imageOfLayers(f, "amd64", layerOf(f,
		entry{name: "bin/", kind: tar.TypeDir}, entry{name: "server", text: "program", kind: tar.TypeReg}, entry{name: "bin/link", link: "../server", kind: tar.TypeSymlink},
	))))
	if err != nil {
		f.Fatal(err)
	}
	corpus.Add(body)
	corpus.Fuzz(func(t testing.TB, archive []byte) {
		top := t.TempDir()
		path, cache := filepath.Join(top, "image.tar"), filepath.Join(top, "cache")
		if err := errors.Join(os.Mkdir(cache, 0o700), os.WriteFile(path, archive, 0o600)); err != nil {
			t.Fatal(err)
		}
		_ = OpenPath(path, func(i *Image) error { // An error is an answer.
			_, err := i.Unpack(t.Context(), cache)
			return err
		})
		found, err := os.ReadDir(top)
		if err != nil || len(found) != 2 {
			t.Errorf("the folder above holds %v, want the archive and the cache: %v", found, err)
		}
		if err := os.RemoveAll(top); err != nil {
			t.Error(err)
		}
	})
}
