package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
	"loadstone.dev/loadstone/internal/trial/kind/kinds"
)

// findProgram returns the path of an implementation's program. A name without a slash is looked up in PATH, others are relative to the run
// file's folder. The error is a sentence.
func findProgram(folder string, i record.Implementation) (string, error) {
	name := i.Command[0]
	path := name
	switch {
	case !strings.Contains(name, "/"):
		found, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("implementations[%s].command: there is no program %q in PATH: install it, or name its path, such as ./%s", i.Name, name, name)
		}
		path = found
	case !filepath.IsAbs(name):
		path = filepath.Join(folder, name)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("implementations[%s].command: %w", i.Name, err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("implementations[%s].command: there is no program %s: build it, or correct its path: a relative one begins in %s", i.Name, path, folder)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return "", fmt.Errorf("implementations[%s].command: %s is no program that can be executed: chmod +x it, or name its interpreter first", i.Name, path)
	}
	return path, nil
}

// digest returns the SHA-256 of a program and of each file named in its arguments, such as a script.
func digest(folder, program string, args []string) (string, error) {
	sum := sha256.New()
	if err := addFile(sum, program); err != nil {
		return "", fmt.Errorf("reading the program %s: %w", program, err)
	}
	for _, arg := range args {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := addFile(sum, path); err != nil {
			return "", fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

func addFile(sum io.Writer, path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(sum, f)
	return err
}

func checkPort(proc string, i record.Implementation) error {
	if i.Port == 0 || !kernel.Proc(proc).Listening(int(i.Port)) {
		return nil
	}
	return fmt.Errorf("implementations[%s].port: another process of this machine listens on port %d already: end it, or choose another port and tell it to the server by its command", i.Name, i.Port)
}

// checkNeeds returns a sentence for each missing program of a kind of work.
func checkNeeds(p record.Plan) []error {
	var missing []error
	for _, n := range kinds.Needs(p) {
		if _, err := exec.LookPath(n.Program); err != nil {
			missing = append(missing, fmt.Errorf("%s: %s is not installed on this machine: install it (%s), or %s", n.Field, n.Program, n.Install, n.Otherwise))
		}
	}
	return missing
}

// checkImages returns a sentence if an implementation would need a profiler in its image.
func (r *Run) checkImages() error {
	p := r.facts.Plan.Plan
	for _, name := range slices.Sorted(maps.Keys(r.images)) {
		if starts(p, slices.Concat(p.Trials, p.Following), name, func(own kind.Process) bool { return own.Toolbox }) {
			return fmt.Errorf("implementations[%s] runs in its image, which on this machine no profiler can enter: name its program by command and without --images, or leave it out of profiles[].implementations", name)
		}
	}
	return nil
}

// launched reports whether in the run's blocks an agent starts an implementation and reads its output.
func (r *Run) launched(name string) bool {
	return starts(r.facts.Plan.Plan, r.facts.Plan.Trials, name, func(own kind.Process) bool { return own.Launched })
}

// starts reports whether any of the lines starts a process of a sort for an implementation.
func starts(p record.Plan, lines []record.PlannedTrial, name string, sort func(kind.Process) bool) bool {
	var asked []record.WorkType // Trials of one kind have the same processes.
	for _, line := range lines {
		if !slices.Contains(line.Servers, name) || slices.Contains(asked, line.Type) {
			continue
		}
		asked = append(asked, line.Type)
		for _, m := range kinds.Planned(p, line).Members() {
			if slices.ContainsFunc(m.Processes, sort) {
				return true
			}
		}
	}
	return false
}
