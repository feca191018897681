package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

const util = "loadstone.dev/loadstone/internal/base/util"

// program is a built Go program.
type program struct {
	name string
	body []byte
	info *debug.BuildInfo
}

func (r *release) goBuild(ctx context.Context, folder, name, pkg, goos, goarch, flags string) (program, error) {
	r.say("compiling %s for %s/%s", name, goos, goarch)
	out, err := filepath.Abs(filepath.Join(r.cache, "release", goos+"_"+goarch, name))
	if err != nil {
		return program{}, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w "+flags, "-o", out, pkg)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off", "GOFLAGS=")
	if folder != r.root {
		// As hack/cluster/build.sh compiles them, so that Go's cache has them.
		cmd.Env = append(cmd.Env, "GOFLAGS=-mod=mod -gcflags=all=-dwarf=false")
	}
	if _, err := output(cmd); err != nil {
		return program{}, fmt.Errorf("compiling %s for %s/%s: %w", name, goos, goarch, err)
	}
	body, err := os.ReadFile(out)
	if err != nil {
		return program{}, fmt.Errorf("reading %s: %w", name, err)
	}
	info, err := buildinfo.Read(bytes.NewReader(body))
	if err != nil {
		return program{}, fmt.Errorf("reading the modules of %s: %w", name, err)
	}
	return program{name, body, info}, nil
}

func (r *release) ours(ctx context.Context, name, goos, goarch string) (program, error) {
	flags := fmt.Sprintf("-X %s.Version=%s -X %s.Commit=%s -X %s.CommitDate=%s", util, r.version, util, r.commit, util, r.date.Format(time.RFC3339))
	return r.goBuild(ctx, r.root, name, "./cmd/"+name, goos, goarch, flags)
}

// generator is a load generator that is compiled from its module.
type generator struct{ name, module, variable, flag string }

var generators = []generator{
	{"k6", "go.k6.io/k6", "K6_VERSION", ""},
	{"vegeta", "github.com/tsenart/vegeta/v12", "VEGETA_VERSION", "-X main.Version="},
}

// theirs compiles a load generator, in the version that hack/cluster/versions.env names.
func (r *release) theirs(ctx context.Context, g generator, goarch string) (program, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "hack", "cluster", "versions.env"))
	if err != nil {
		return program{}, fmt.Errorf("reading the version of %s: %w", g.name, err)
	}
	found := regexp.MustCompile(`(?m)^` + g.variable + `=(.+)$`).FindSubmatch(text)
	if found == nil {
		return program{}, fmt.Errorf("hack/cluster/versions.env has no %s", g.variable)
	}
	version := string(found[1])
	dir := filepath.Join(r.cache, "release", "src", g.name)
	mod := fmt.Sprintf("module loadstone.dev/hack/%s\n\ngo 1.24.0\n\nrequire %s v%s\n", g.name, g.module, version)
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644)); err != nil {
		return program{}, fmt.Errorf("making a module for %s: %w", g.name, err)
	}
	flags := ""
	if g.flag != "" {
		flags = g.flag + version
	}
	return r.goBuild(ctx, dir, g.name, g.module, "linux", goarch, flags)
}

// licenseFile matches the files that say under what conditions a module is used.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)`)

func licenses(ctx context.Context, p program) ([]byte, error) {
	said, err := output(exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOROOT"))
	if err != nil {
		return nil, err
	}
	cache, goroot, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	var out bytes.Buffer
	one := func(title, dir string) error {
		found, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("reading the license of %s: %w", title, err)
		}
		for _, f := range found {
			if f.IsDir() || !licenseFile.MatchString(f.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return fmt.Errorf("reading the license of %s: %w", title, err)
			}
			fmt.Fprintf(&out, "==== %s: %s\n\n%s\n\n", title, f.Name(), bytes.TrimSpace(text))
		}
		return nil
	}
	if err := one("Go "+p.info.GoVersion, goroot); err != nil {
		return nil, err
	}
	for _, m := range modules(p.info) {
		path, err := module.EscapePath(m.Path)
		if err != nil {
			return nil, fmt.Errorf("finding the license of %s: %w", m.Path, err)
		}
		version, err := module.EscapeVersion(m.Version)
		if err != nil {
			return nil, fmt.Errorf("finding the license of %s: %w", m.Path, err)
		}
		if err := one(m.Path+" "+m.Version, filepath.Join(cache, filepath.FromSlash(path)+"@"+version)); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// modules are the modules that a program was compiled from, without its own.
func modules(info *debug.BuildInfo) []debug.Module {
	var out []debug.Module
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b debug.Module) int { return strings.Compare(a.Path, b.Path) })
	return out
}
