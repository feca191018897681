package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	specFolder   = "config/workloads"
	sourceFolder = "workloads"
)

// countedOf lists the workloads of the runs that have no spec, because hack/workloads.sh counts them itself.
var countedOf = map[string][]string{
	"zco-system-calls": {"zco"}, "zco-busier-share": {"zco"}, "zco-start": {"gohttp", "zco"}, "ipc-allocations": {"ipc"},
}

// builtWith lists workloads that are built with files of another one.
var builtWith = map[string]string{"ablation": "epoll", "uring": "epoll"}

// sourcesOf returns the digests of what a run measures in the checkout at root: of its spec, and of the folder of each program. Keys are paths
// in the checkout.
func sourcesOf(root, run string) (map[string]string, error) {
	out := map[string]string{}
	names, counted := countedOf[run]
	if !counted {
		file := path.Join(specFolder, run+".yaml")
		digest, commands, err := readSpec(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		out[file] = digest
		for _, c := range commands {
			names = append(names, workloadsIn(c)...)
		}
	}
	for _, name := range names {
		for _, folder := range []string{name, builtWith[name]} {
			if folder == "" {
				continue
			}
			key := path.Join(sourceFolder, folder)
			digest, err := folderDigest(filepath.Join(root, key))
			if err != nil {
				return nil, err
			}
			out[key] = digest
		}
	}
	return out, nil
}

// readSpec returns the digest of a spec as JSON, so that comments do not count, and the commands of its implementations.
func readSpec(file string) (digest string, commands [][]string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", nil, fmt.Errorf("reading a spec: %w", err)
	}
	var whole struct{ Spec map[string]any }
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return "", nil, fmt.Errorf("reading the spec %s: %w", file, err)
	}
	sorted, err := json.Marshal(whole.Spec)
	if err != nil {
		return "", nil, fmt.Errorf("encoding the spec %s: %w", file, err)
	}
	var own struct {
		Implementations []struct{ Command []string }
	}
	if err := json.Unmarshal(sorted, &own); err != nil {
		return "", nil, fmt.Errorf("reading the commands of %s: %w", file, err)
	}
	for _, i := range own.Implementations {
		commands = append(commands, i.Command)
	}
	sum := sha256.Sum256(sorted)
	return hex.EncodeToString(sum[:]), commands, nil
}

// workloadsIn returns the folders of the programs of a command: bin/coro-bench is built from coro.
func workloadsIn(command []string) (names []string) {
	for _, arg := range command {
		_, program, ok := strings.Cut(arg, "bin/")
		if !ok {
			continue
		}
		program, _, _ = strings.Cut(program, "/")
		name, _, _ := strings.Cut(program, "-")
		if name != "bench" { // bench-workloads only prints what the program has measured.
			names = append(names, name)
		}
	}
	return names
}

// folderDigest returns the digest of the files that a workload is built from: without tests and texts.
func folderDigest(root string) (string, error) {
	all := sha256.New()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		base := filepath.Base(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (slices.Contains([]string{"build", "test", "tests"}, base) || strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case d.IsDir() || strings.Contains(base, "_test.") || strings.HasSuffix(base, ".md") || strings.HasPrefix(base, "."):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		own := sha256.Sum256(text)
		_, err = fmt.Fprintf(all, "%s %x\n", filepath.ToSlash(name), own)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("reading the sources of a workload: %w", err)
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

// staleRuns says why records do not speak for the checkout at root, by run: the paths of what differs. Runs without a record are not among them.
func staleRuns(root string, all map[string]*results) (map[string]string, error) {
	out := map[string]string{}
	var failed error
	for run, r := range all {
		if r.missing != "" {
			continue
		}
		now, err := sourcesOf(root, run)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if differs := differences(r.head.Sources, now); len(differs) > 0 {
			out[run] = strings.Join(differs, ", ")
		}
	}
	return out, failed
}

func differences(a, b map[string]string) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if a[key] != b[key] {
			keys = append(keys, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if _, ok := b[key]; !ok {
			keys = append(keys, key)
		}
	}
	return keys
}
