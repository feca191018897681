package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	everybodyReads = 0o755
	// ownerEnters lets the unpacking user enter and remove a folder.
	ownerEnters = 0o700
	// whiteout prefixes an entry that removes one of the layers below; opaque removes all of its folder.
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

type limits struct{ bytes, entries int64 }

var errTooLarge = errors.New("it holds more than Loadstone unpacks: measure it by spec.implementations[].command")

type layer struct {
	tree
	left *limits
	// own are paths made by this layer; its own whiteouts spare them.
	own map[string]bool
}

// unpackLayer unpacks a layer over those below, and verifies its digest.
func unpackLayer(ctx context.Context, t tree, source v1.Layer, left *limits) (err error) {
	want, err := source.DiffID()
	if err != nil {
		return err
	}
	body, err := source.Uncompressed()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	sum := sha256.New()
	whole := io.TeeReader(body, sum)
	l := layer{tree: t, left: left, own: map[string]bool{}}
	if err := l.unpack(ctx, tar.NewReader(whole)); err != nil {
		return err
	}
	// Data after the archive's end is also part of the layer.
	read, err := io.Copy(io.Discard, io.LimitReader(whole, left.bytes+1))
	if err != nil {
		return fmt.Errorf("its layer is damaged: %w", err)
	}
	if left.bytes -= read; left.bytes < 0 {
		return errTooLarge
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.Hex {
		return fmt.Errorf("its layer %s is damaged: its content has the digest sha256:%s", want, got)
	}
	return nil
}

func (l *layer) unpack(ctx context.Context, entries *tar.Reader) error {
	for {
		h, err := entries.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("its layer is damaged: %w", err)
		}
		l.left.entries--
		l.left.bytes -= h.Size
		if l.left.entries < 0 || l.left.bytes < 0 {
			return errTooLarge
		}
		if err := l.add(h, entries); err != nil {
			return fmt.Errorf("unpacking %s: %w", h.Name, err)
		}
	}
}

// add unpacks one entry. It skips devices and pipes: programs get this machine's devices.
func (l *layer) add(h *tar.Header, body io.Reader) error {
	at, err := l.resolve(h.Name)
	if err != nil {
		return err
	}
	if removed, found := strings.CutPrefix(path.Base(h.Name), whiteout); found {
		return l.remove(path.Dir(at), removed, path.Base(h.Name) == opaque)
	}
	if at == "." {
		return nil
	}
	if err := errors.Join(l.makeFolders(at), l.clear(at, h.Typeflag)); err != nil {
		return err
	}
	l.own[at] = true
	mode := h.FileInfo().Mode().Perm()
	switch h.Typeflag {
	case tar.TypeReg:
		if err := writeFile(l.Root, at, body, ownerEnters); err != nil {
			return err
		}
		return errors.Join(l.chown(at, h), l.Chmod(at, mode), l.Chtimes(at, h.ModTime, h.ModTime))
	case tar.TypeDir:
		return errors.Join(l.MkdirAll(at, everybodyReads), l.chown(at, h), l.Chmod(at, mode|ownerEnters))
	case tar.TypeSymlink:
		return errors.Join(l.Symlink(h.Linkname, at), l.chown(at, h))
	case tar.TypeLink:
		target, err := l.resolve(h.Linkname)
		if err != nil {
			return err
		}
		return l.Link(target, at)
	}
	return nil
}

// clear makes room for an entry. An existing folder stays for a folder.
func (l *layer) clear(at string, kind byte) error {
	info, err := l.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.IsDir() && kind == tar.TypeDir {
		return err
	}
	return l.RemoveAll(at)
}

// remove applies a whiteout: it removes an entry, or everything from lower layers.
func (l *layer) remove(folder, name string, all bool) error {
	if !all {
		if name == "" || name == "." || name == ".." {
			return errors.New("it removes no entry of its folder")
		}
		return l.RemoveAll(path.Join(folder, name))
	}
	entries, err := fs.ReadDir(l.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if below := path.Join(folder, e.Name()); !l.own[below] {
			err = errors.Join(err, l.RemoveAll(below))
		}
	}
	return err
}

func (l *layer) chown(at string, h *tar.Header) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return l.Lchown(at, h.Uid, h.Gid)
}
