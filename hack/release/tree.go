package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// entry is a file, a symbolic link or a folder.
type entry struct {
	mode int64
	body []byte
	link string
	dir  bool
	// owner is the Debian package of a file.
	owner string
}

// tree has the files of an archive or a layer, by their paths without a leading slash.
type tree map[string]entry

func (t tree) add(others ...tree) tree {
	for _, o := range others {
		maps.Copy(t, o)
	}
	return t
}

// tar writes the same bytes for the same files. Missing parent folders are added.
func (t tree) tar(w io.Writer, at time.Time) error {
	all := maps.Clone(t)
	for name := range t {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, ok := all[dir]; !ok {
				all[dir] = entry{dir: true, mode: 0o755}
			}
		}
	}
	tw := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		e := all[name]
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: e.mode, Size: int64(len(e.body)), ModTime: at}
		switch {
		case e.dir:
			h.Typeflag, h.Name = tar.TypeDir, name+"/"
		case e.link != "":
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.link, 0o777
		}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("packing %s: %w", name, err)
		}
		if _, err := tw.Write(e.body); err != nil {
			return fmt.Errorf("packing %s: %w", name, err)
		}
	}
	return tw.Close()
}

func (t tree) archive(at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(t.tar(z, at), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func readTar(r io.Reader) (tree, error) {
	out := tree{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading a tar archive: %w", err)
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
		e := entry{mode: h.Mode & 0o7777}
		switch h.Typeflag {
		case tar.TypeReg:
			if e.body, err = io.ReadAll(tr); err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, err)
			}
		case tar.TypeSymlink:
			e.link = h.Linkname
		case tar.TypeLink:
			e = out[strings.TrimPrefix(path.Clean("/"+h.Linkname), "/")]
		case tar.TypeDir:
			e.dir = true
		default:
			return nil, fmt.Errorf("reading %s: files of type %q are not supported", name, h.Typeflag)
		}
		if name != "" {
			out[name] = e
		}
	}
}

// follow returns the file that a path leads to, through symbolic links.
func (t tree) follow(name string) (entry, bool) {
	const most = 10
	for range most {
		e, ok := t[name]
		if !ok || e.link == "" {
			return e, ok && !e.dir
		}
		if !path.IsAbs(e.link) {
			e.link = path.Join(path.Dir(name), e.link)
		}
		name = strings.TrimPrefix(path.Clean("/"+e.link), "/")
	}
	return entry{}, false
}

// pick copies files to the named paths, also if these are links.
func (t tree) pick(names ...string) (tree, error) {
	out := tree{}
	for _, name := range names {
		e, ok := t.follow(name)
		if !ok {
			return nil, fmt.Errorf("the Debian packages have no /%s: correct hack/release/debian.tsv", name)
		}
		out[name] = e
	}
	return out, nil
}

func (t tree) owners() []string {
	found := map[string]bool{}
	for _, e := range t {
		if e.owner != "" {
			found[e.owner] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
