package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

const maxLinks = 40

type tree struct{ *os.Root }

// resolve returns a name's path below the root, with links in its folders resolved, but not its last part. Absolute links and ".." stay below
// the root. Missing folders are kept as they are.
func (t tree) resolve(name string) (string, error) {
	return t.walk(name, false)
}

// follow resolves all links of a name below the root.
func (t tree) follow(name string) (string, error) {
	return t.walk(name, true)
}

func (t tree) walk(name string, last bool) (string, error) {
	at, links := ".", 0
	for parts := split(name); len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		if part == ".." {
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := t.Lstat(next)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 || len(parts) == 0 && !last {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s leads through more than %d links", name, maxLinks)
		}
		target, err := t.Readlink(next)
		if err != nil {
			return "", err
		}
		if path.IsAbs(target) {
			at = "."
		}
		parts = append(split(target), parts...)
	}
	return at, nil
}

func split(name string) []string {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

func (t tree) makeFolders(resolved string) error {
	return t.MkdirAll(path.Dir(resolved), everybodyReads)
}

func writeFile(root *os.Root, name string, body io.Reader, mode fs.FileMode) (err error) {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, body)
	return err
}
