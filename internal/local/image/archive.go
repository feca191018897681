package image

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

var errNoImage = errors.New("it holds no image for this machine: name an archive as docker save or podman save makes it, or an OCI layout")

// openArchive reads the only image of a docker save archive or an archived layout.
func openArchive(path, scratch string) (*Image, error) {
	source, err := tarball.ImageFromPath(path, nil)
	if err == nil {
		return suited(source, "")
	}
	dir := filepath.Join(scratch, "layout")
	if failed := extractLayout(path, dir); failed != nil {
		return nil, errors.Join(err, failed)
	}
	if _, missing := os.Stat(filepath.Join(dir, "index.json")); missing != nil {
		return nil, errors.Join(errNoImage, err)
	}
	return openLayout(dir)
}

func extractLayout(path, dir string) (err error) {
	archive, err := os.Open(path)
	if err != nil {
		return err
	}
	defer archive.Close() //nolint:errcheck // It is only read.
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	left := most
	for entries := tar.NewReader(archive); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		left.entries--
		if left.bytes -= h.Size; left.bytes < 0 || left.entries < 0 {
			return errTooLarge
		}
		if err := errors.Join(root.MkdirAll(filepath.Dir(h.Name), 0o700), writeFile(root, h.Name, entries, 0o600)); err != nil {
			return err
		}
	}
}

func openLayout(dir string) (*Image, error) {
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, errors.Join(errNoImage, err)
	}
	found, err := imageOf(index, maxIndexes)
	if err != nil {
		return nil, err
	}
	return described(found)
}

const maxIndexes = 4

// imageOf returns an index's first image for this machine, or its only one.
func imageOf(index v1.ImageIndex, deep int) (v1.Image, error) {
	if deep == 0 {
		return nil, errNoImage
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, m := range manifest.Manifests {
		p := m.Platform
		if p != nil && (p.OS != linux || p.Architecture != runtime.GOARCH) && len(manifest.Manifests) > 1 {
			continue
		}
		switch {
		case m.MediaType.IsImage():
			return index.Image(m.Digest)
		case m.MediaType.IsIndex():
			below, err := index.ImageIndex(m.Digest)
			if err != nil {
				return nil, err
			}
			return imageOf(below, deep-1)
		}
	}
	return nil, errNoImage
}
