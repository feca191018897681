package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// try is a program of an image for arm64 that must start, and a part of its output.
type try struct {
	image   string
	command []string
	says    string
}

var tries = []try{
	{"agent", []string{"usr/local/bin/loadstone-agent", "version"}, "VERSION"},
	{"agent", []string{"usr/bin/wrk", "-v"}, "wrk "},
	{"agent", []string{"usr/bin/ab", "-V"}, "ApacheBench"},
	{"agent", []string{"usr/bin/h2load", "--version"}, "h2load nghttp2/"},
	{"agent", []string{"usr/local/bin/k6", "version"}, "k6 v"},
	{"agent", []string{"usr/local/bin/vegeta", "-version"}, "Version: "},
	{"manager", []string{"usr/local/bin/manager", "--help"}, "log-level"},
	{"toolbox", []string{"usr/local/bin/loadstone-agent", "version"}, "VERSION"},
	{"toolbox", []string{"toolbox/lib/loader", "--library-path", "toolbox/lib", "toolbox/bin/strace", "-V"}, "strace -- version"},
	{"toolbox", []string{"toolbox/valgrind/launcher"}, "usage: launcher"},
}

// smokeLimit bounds one start. An emulated program is slow.
const smokeLimit = 3 * time.Minute

func (r *release) smoke(ctx context.Context) error {
	_, facts, err := readChart(r.folder)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "loadstone-smoke-")
	if err != nil {
		return fmt.Errorf("making a folder for the images: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // A temporary folder.
	for _, image := range imageNames {
		if err := unpackImage(filepath.Join(r.folder, "images", image), filepath.Join(work, image)); err != nil {
			return fmt.Errorf("unpacking the image %s: %w", image, err)
		}
	}
	archive := filepath.Join(r.folder, "loadstone_"+facts.Version+"_linux_arm64.tar.gz")
	body, err := os.ReadFile(archive)
	if err != nil {
		return fmt.Errorf("reading an archive: %w", err)
	}
	cli, err := inArchive(body, "loadstone")
	if err != nil {
		return err
	}
	if err := (tree{"loadstone": {mode: 0o755, body: cli}}).unpack(filepath.Join(work, "cli")); err != nil {
		return err
	}
	var failed []error
	for _, t := range append(tries, try{"cli", []string{"loadstone", "version"}, "loadstone VERSION"}) {
		failed = append(failed, r.start(ctx, filepath.Join(work, t.image), t, strings.ReplaceAll(t.says, "VERSION", facts.Version)))
	}
	return errors.Join(failed...)
}

func (r *release) start(ctx context.Context, root string, t try, want string) error {
	ctx, cancel := context.WithTimeout(ctx, smokeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-aarch64-static", append([]string{"-L", root}, t.command...)...)
	cmd.Dir = root
	// Several print their version with an exit code other than 0.
	out, err := cmd.CombinedOutput()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if !strings.Contains(string(out), want) {
		return errors.Join(fmt.Errorf("%s: %s says %q instead of %q", t.image, strings.Join(t.command, " "), tail(string(out)), want), err)
	}
	r.say("%s: %s: %s", t.image, strings.Join(t.command, " "), line)
	return nil
}

func unpackImage(from, to string) error {
	index, err := readLayout(from)
	if err != nil {
		return err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range m.Manifests {
		if !d.Platform.Satisfies(v1.Platform{OS: "linux", Architecture: "arm64"}) {
			continue
		}
		img, err := index.Image(d.Digest)
		if err != nil {
			return err
		}
		content := mutate.Extract(img)
		files, err := readTar(content)
		if err := errors.Join(err, content.Close()); err != nil {
			return err
		}
		return files.unpack(to)
	}
	return errors.New("there is none for arm64")
}

func (t tree) unpack(dir string) error {
	for name, e := range t {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("unpacking %s: %w", name, err)
		}
		var err error
		switch {
		case e.dir:
			err = os.MkdirAll(path, 0o755)
		case e.link != "":
			err = os.Symlink(e.link, path)
		default:
			err = os.WriteFile(path, e.body, os.FileMode(e.mode).Perm())
		}
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", name, err)
		}
	}
	return nil
}
