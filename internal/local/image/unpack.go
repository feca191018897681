package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var most = limits{bytes: 16 << 30, entries: 1 << 20}

// Paths in a root file system over which this machine's are mounted.
const (
	// HostsFile holds this machine's names.
	HostsFile = "etc/hosts"
	// ExchangeFolder is shared by a program's parent and its collector.
	ExchangeFolder = ".loadstone"
)

// MountFolders are the mount points.
func MountFolders() []string { return []string{"proc", "dev", "sys", "tmp", ExchangeFolder} }

// Unpack unpacks the image into a cache folder, unless it is there, and returns its path.
func (i *Image) Unpack(ctx context.Context, cache string) (string, error) {
	return i.unpack(ctx, cache, most)
}

func (i *Image) unpack(ctx context.Context, cache string, bound limits) (string, error) {
	dir := filepath.Join(cache, i.id.Algorithm+"-"+i.id.Hex)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", fmt.Errorf("making a cache for images: %w", err)
	}
	part, err := os.MkdirTemp(cache, "part-*")
	if err != nil {
		return "", fmt.Errorf("making a cache for images: %w", err)
	}
	defer os.RemoveAll(part) //nolint:errcheck // It has its place by then, or is worth nothing.
	if err := i.fill(ctx, part, bound); err != nil {
		return "", err
	}
	// Another run may have unpacked the same image.
	if err := os.Rename(part, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("keeping an unpacked image: %w", err)
	}
	return dir, nil
}

func (i *Image) fill(ctx context.Context, dir string, left limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // It was only held.
	t := tree{root}
	layers, err := i.source.Layers()
	if err != nil {
		return err
	}
	config, err := i.source.ConfigFile()
	if err != nil {
		return err
	}
	// Layers are checked against their own digests; this checks the list against the image's configuration.
	if len(layers) != len(config.RootFS.DiffIDs) {
		return fmt.Errorf("the image lists %d layers and its configuration %d: pull or save it again", len(layers), len(config.RootFS.DiffIDs))
	}
	for n, l := range layers {
		if own, err := l.DiffID(); err != nil || own != config.RootFS.DiffIDs[n] {
			return errors.Join(err, fmt.Errorf("layer %d of the image is %s, and its configuration names %s: pull or save it again", n, own, config.RootFS.DiffIDs[n]))
		}
		if err := unpackLayer(ctx, t, l, &left); err != nil {
			return err
		}
	}
	if err := root.Chmod(".", everybodyReads); err != nil {
		return err
	}
	return t.makePlaces()
}

// makePlaces makes real folders as mount points, so that no link of the image leads elsewhere.
func (t tree) makePlaces() error {
	for _, name := range MountFolders() {
		if info, err := t.Lstat(name); err == nil && info.IsDir() {
			continue
		}
		if err := errors.Join(t.RemoveAll(name), t.Mkdir(name, everybodyReads)); err != nil {
			return err
		}
	}
	folder := filepath.Dir(HostsFile)
	if info, err := t.Lstat(folder); err == nil && !info.IsDir() {
		return nil // A program that looks there finds the image's file.
	}
	if err := t.MkdirAll(folder, everybodyReads); err != nil {
		return err
	}
	if info, err := t.Lstat(HostsFile); err == nil && info.Mode().IsRegular() {
		return nil
	}
	return errors.Join(t.RemoveAll(HostsFile), writeFile(t.Root, HostsFile, strings.NewReader(""), 0o644))
}
