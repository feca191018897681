package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// findProgram returns the path of an implementation's program: a name without a slash is looked up in PATH, any other one is relative to
// the folder of the run's file. The error is a sentence.
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
		return "", fmt.Errorf("implementations[%s].command: there is no program %s: build it, or correct its path, which is relative to the folder of the run's file", i.Name, path)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return "", fmt.Errorf("implementations[%s].command: %s is no program that can be executed: chmod +x it, or name its interpreter first", i.Name, path)
	}
	return path, nil
}

// digest identifies what a command runs: the SHA-256 of the program and of each file that its arguments name, such as a script.
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

// checkPort says in a sentence that somebody listens on an implementation's port already.
func checkPort(i record.Implementation) error {
	if i.Port == 0 || !kernel.Proc("/proc").Listening(int(i.Port)) {
		return nil
	}
	return fmt.Errorf("implementations[%s].port: another process of this machine listens on port %d already: end it, or choose another port and tell it to the server by its command", i.Name, i.Port)
}

// checkTools says in a sentence which load generator is not installed.
func checkTools(cells []record.Cell) error {
	all := tools.All("")
	for _, c := range cells {
		if err := checkTool(c, all[c.Tool]); err != nil {
			return err
		}
	}
	return nil
}

func checkTool(c record.Cell, t tool.Tool) error {
	if t == nil {
		return fmt.Errorf("loads[%s].tool: this version of Loadstone has no tool %q", c.Load, c.Tool)
	}
	name := t.VersionArgs()[0]
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("loads[%s].tool: %s is not installed on this machine: install it (%s), or choose another tool", c.Load, name, t.Traits().Install)
	}
	return nil
}

// checkProfilers says in a sentence which profiler is not installed, or cannot be used here.
func (r *Run) checkProfilers() error {
	for _, line := range r.facts.Plan.Following {
		i := slices.IndexFunc(r.facts.Plan.Profiles, func(p record.Profile) bool { return p.Name == line.Profile })
		if i < 0 {
			continue
		}
		own := r.facts.Plan.Profiles[i]
		if _, found := r.images[line.Servers[0]]; found {
			return fmt.Errorf("profiles[%s] runs %s under %s, which on this machine cannot enter its image: name its program by command and without --images, or leave it out of profiles[].implementations", own.Name, line.Servers[0], own.Tool)
		}
		name := own.Tool.Program()
		if name == "" {
			continue
		}
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("profiles[%s].tool: %s is not installed on this machine: install it (apt-get install %s), or remove the profile", own.Name, name, name)
		}
	}
	return nil
}
