package main

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// architecture is what Debian, Go and GNU call one kind of machine.
type architecture struct{ name, triplet, zig string }

var architectures = []architecture{
	{"amd64", "x86_64-linux-gnu", "x86_64-linux-musl"},
	{"arm64", "aarch64-linux-gnu", "aarch64-linux-musl"},
}

// linked returns programs, their loader and their libraries, as ldd finds them. It also reads programs of another architecture.
func (t tree) linked(a architecture, programs ...string) ([]string, error) {
	found := slices.Clone(programs)
	for i := 0; i < len(found); i++ {
		e, ok := t.follow(found[i])
		if !ok {
			return nil, fmt.Errorf("the Debian packages have no /%s: correct hack/release/debian.tsv", found[i])
		}
		f, err := elf.NewFile(bytes.NewReader(e.body))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", found[i], err)
		}
		needed, err := f.ImportedLibraries()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", found[i], err)
		}
		var paths []string
		if loader := interpreter(f); loader != "" {
			paths = append(paths, loader)
		}
		for _, library := range needed {
			at, err := t.library(a, library)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", found[i], err)
			}
			paths = append(paths, at)
		}
		for _, p := range paths {
			if !slices.ContainsFunc(found, func(other string) bool { return path.Base(other) == path.Base(p) }) {
				found = append(found, p)
			}
		}
	}
	return found, nil
}

// library searches the folders that Debian's loader searches.
func (t tree) library(a architecture, name string) (string, error) {
	for _, dir := range []string{"lib/" + a.triplet, "usr/lib/" + a.triplet, "lib", "usr/lib", "lib64"} {
		if _, ok := t.follow(dir + "/" + name); ok {
			return dir + "/" + name, nil
		}
	}
	return "", fmt.Errorf("the Debian packages have no library %s: pin its package in hack/release/debian.tsv", name)
}

func interpreter(f *elf.File) string {
	s := f.Section(".interp")
	if s == nil {
		return ""
	}
	text, err := s.Data()
	if err != nil {
		return ""
	}
	return strings.Trim(string(text), "/\x00")
}

// buildID returns the name of a program's symbols.
func buildID(program []byte) (string, error) {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return "", err
	}
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return "", errors.New("it has no build ID")
	}
	note, err := s.Data()
	// Three words, the name "GNU" with its zero, and the identifier.
	const header = 16
	if err != nil || len(note) <= header {
		return "", errors.Join(errors.New("its build ID is damaged"), err)
	}
	return hex.EncodeToString(note[header:]), nil
}
