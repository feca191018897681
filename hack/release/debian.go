package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// suite is the release of Debian that the images' packages come from.
const suite = "bookworm"

// pinsFile has every Debian package of the images.
const pinsFile = "hack/release/debian.tsv"

// wanted are the packages that an image needs. Their dependencies are pinned, too.
var wanted = map[string][]string{
	"agent":   {"wrk", "apache2-utils", "nghttp2-client", "ca-certificates"},
	"toolbox": {"valgrind", "libc6-dbg", "strace"},
}

// pin is a package of an image. The checksum is that of its file.
type pin struct{ image, arch, name, version, sha string }

func (p pin) line() string {
	return strings.Join([]string{p.image, p.arch, p.name, p.version, p.sha}, "\t")
}

func parsePins(text string) ([]pin, error) {
	var out []pin
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 || len(f[4]) != 2*sha256.Size {
			return nil, fmt.Errorf("%s: %q is not image, architecture, package, version and SHA-256: run go run ./hack/release pin", pinsFile, strings.TrimSpace(line))
		}
		out = append(out, pin{f[0], f[1], f[2], f[3], f[4]})
	}
	return out, nil
}

// pin writes today's versions.
func (r *release) pin(ctx context.Context) error {
	var lines []string
	for image, names := range wanted {
		for _, a := range architectures {
			files, err := r.download(ctx, a, names)
			if err != nil {
				return err
			}
			for sha, file := range files {
				said, err := output(exec.CommandContext(ctx, "dpkg-deb", "--show", "--showformat=${Package}\t${Version}", file))
				if err != nil {
					return err
				}
				name, version, _ := strings.Cut(string(said), "\t")
				lines = append(lines, pin{image, a.name, name, version, sha}.line()+"\n")
			}
		}
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(r.root, pinsFile), []byte(strings.Join(lines, "")), 0o644)
}

// deb is an unpacked package. No script of it ran.
type deb struct {
	pin
	control string
	files   tree
}

func (r *release) debs(ctx context.Context, image string, a architecture) ([]deb, error) {
	text, err := os.ReadFile(filepath.Join(r.root, pinsFile))
	if err != nil {
		return nil, fmt.Errorf("reading the pinned packages: %w", err)
	}
	pins, err := parsePins(string(text))
	if err != nil {
		return nil, err
	}
	pins = slices.DeleteFunc(pins, func(p pin) bool { return p.image != image || p.arch != a.name })
	if slices.ContainsFunc(pins, func(p pin) bool { return !exists(r.debFile(p.sha)) }) {
		var names []string
		for _, p := range pins {
			names = append(names, p.name+"="+p.version)
		}
		if _, err := r.download(ctx, a, names); err != nil {
			return nil, fmt.Errorf("%w\nIf Debian has newer versions by now, either name a mirror of an earlier day with DEBIAN_MIRROR, or pin the new versions: go run ./hack/release pin", err)
		}
	}
	var out []deb
	for _, p := range pins {
		d, err := unpack(ctx, p, r.debFile(p.sha))
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func (r *release) debFile(sha string) string {
	return filepath.Join(r.cache, "release", "debs", sha+".deb")
}

// download lets mmdebstrap resolve, download and verify packages, and returns their files by checksum.
func (r *release) download(ctx context.Context, a architecture, names []string) (map[string]string, error) {
	r.say("downloading %d Debian packages for %s, and what they depend on", len(names), a.name)
	dir, err := os.MkdirTemp("", "loadstone-debs-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for packages: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // A temporary folder.
	args := []string{
		"--quiet", "--variant=extract", "--format=null", "--architectures=" + a.name, "--include=" + strings.Join(names, ","),
		`--aptopt=APT::Install-Recommends "false"`, `--extract-hook=cp "$1"/var/cache/apt/archives/*.deb '` + dir + `/'`, suite, "-",
	}
	if mirror := os.Getenv("DEBIAN_MIRROR"); mirror != "" {
		args = append(args, mirror)
	}
	if _, err := output(exec.CommandContext(ctx, "mmdebstrap", args...)); err != nil {
		return nil, fmt.Errorf("downloading Debian packages: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(r.debFile("")), 0o755); err != nil {
		return nil, fmt.Errorf("making a folder for packages: %w", err)
	}
	out := map[string]string{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a package: %w", err)
		}
		sum := sha256.Sum256(body)
		sha := hex.EncodeToString(sum[:])
		out[sha] = r.debFile(sha)
		if err := errors.Join(os.WriteFile(out[sha]+".new", body, 0o644), os.Rename(out[sha]+".new", out[sha])); err != nil {
			return nil, fmt.Errorf("keeping a package: %w", err)
		}
	}
	return out, nil
}

// unpack reads a package, and fails if it is not the pinned one.
func unpack(ctx context.Context, p pin, file string) (deb, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return deb{}, fmt.Errorf("%s %s for %s has another checksum than pinned in %s: %w", p.name, p.version, p.arch, pinsFile, err)
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != p.sha {
		return deb{}, fmt.Errorf("%s is damaged: remove it", file)
	}
	control, err := output(exec.CommandContext(ctx, "dpkg-deb", "--field", file))
	if err != nil {
		return deb{}, err
	}
	data, err := output(exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", file))
	if err != nil {
		return deb{}, err
	}
	files, err := readTar(bytes.NewReader(data))
	if err != nil {
		return deb{}, fmt.Errorf("%s: %w", file, err)
	}
	for name, e := range files {
		e.owner = p.name
		files[name] = e
	}
	return deb{pin: p, control: string(control), files: files}, nil
}

// described returns what says where files come from: list, licenses and the status that scanners read.
func described(debs []deb, all tree, owners []string) (tree, error) {
	out := tree{}
	var list strings.Builder
	for _, d := range debs {
		if !slices.Contains(owners, d.name) {
			continue
		}
		fmt.Fprintf(&list, "%s\t%s\n", d.name, d.version)
		out["var/lib/dpkg/status.d/"+d.name] = entry{mode: 0o644, body: []byte(d.control)}
		at := path.Join("usr/share/doc", d.name, "copyright")
		license, ok := all.follow(at)
		if !ok {
			// Some packages link their folder to that of another one.
			if folder := all[path.Dir(at)].link; folder != "" {
				license, ok = all.follow(path.Join("usr/share/doc", path.Base(folder), "copyright"))
			}
		}
		if !ok {
			return nil, fmt.Errorf("the Debian package %s has no license: its image cannot be published", d.name)
		}
		out[at] = license
	}
	out["packages.txt"] = entry{mode: 0o644, body: []byte(list.String())}
	return out, nil
}
