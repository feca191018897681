package main

import (
	"bytes"
	"context"
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

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageNames are the images that a release has: those of images/NAME.Dockerfile, which builds them for the development cluster.
var imageNames = []string{"manager", "agent", "toolbox"}

// layer is a part of an image that changes together.
type layer struct {
	comment string
	files   tree
}

// content is an image for one architecture.
type content struct {
	program  string
	layers   []layer
	programs []program
	debs     []deb
}

func (r *release) images(ctx context.Context) (map[string]string, error) {
	digests := map[string]string{}
	for _, name := range imageNames {
		index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		for _, a := range architectures {
			c, err := r.content(ctx, name, a)
			if err != nil {
				return nil, fmt.Errorf("building the image %s for %s: %w", name, a.name, err)
			}
			img, err := r.image(name, a, c)
			if err != nil {
				return nil, fmt.Errorf("building the image %s for %s: %w", name, a.name, err)
			}
			digest, err := img.Digest()
			if err != nil {
				return nil, fmt.Errorf("building the image %s for %s: %w", name, a.name, err)
			}
			about := subject{name: name + "_" + r.version + "_linux_" + a.name, purpose: "CONTAINER", sha: digest.Hex}
			if err := r.sbom(about, c.programs, c.debs); err != nil {
				return nil, err
			}
			platform := &v1.Platform{OS: "linux", Architecture: a.name}
			index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: platform}})
			if err := r.saySize(name, a, img, c); err != nil {
				return nil, err
			}
		}
		digest, err := r.writeLayout(name, index)
		if err != nil {
			return nil, fmt.Errorf("writing the image %s: %w", name, err)
		}
		digests[name] = digest
	}
	return digests, nil
}

// writeLayout writes images/NAME, and returns the digest of the index for all architectures.
func (r *release) writeLayout(name string, index v1.ImageIndex) (string, error) {
	path, err := layout.Write(filepath.Join(r.folder, "images", name), mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return "", err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})); err != nil {
		return "", err
	}
	digest, err := index.Digest()
	return digest.String(), err
}

func (r *release) saySize(name string, a architecture, img v1.Image, c content) error {
	m, err := img.Manifest()
	if err != nil {
		return fmt.Errorf("reading the size of %s: %w", name, err)
	}
	var packed, unpacked int64
	for _, l := range m.Layers {
		packed += l.Size
	}
	for _, l := range c.layers {
		for _, e := range l.files {
			unpacked += int64(len(e.body))
		}
	}
	r.say("image %s for %s: %.1f MB to download, %.1f MB unpacked", name, a.name, float64(packed)/1e6, float64(unpacked)/1e6)
	return nil
}

func (r *release) content(ctx context.Context, name string, a architecture) (content, error) {
	main := "loadstone-agent"
	if name == "manager" {
		main = "manager"
	}
	own, err := r.ours(ctx, main, "linux", a.name)
	if err != nil {
		return content{}, err
	}
	c := content{program: main, programs: []program{own}}
	switch name {
	case "agent":
		if err := r.agentTools(ctx, a, &c); err != nil {
			return content{}, err
		}
	case "toolbox":
		if err := r.toolboxTools(ctx, a, &c); err != nil {
			return content{}, err
		}
	}
	// The program changes most, so it comes last.
	files, err := installed(ctx, own)
	if err != nil {
		return content{}, err
	}
	for _, text := range []string{"LICENSE", "NOTICE"} {
		body, err := os.ReadFile(filepath.Join(r.root, text))
		if err != nil {
			return content{}, fmt.Errorf("reading the license: %w", err)
		}
		files[text] = entry{mode: 0o644, body: body}
	}
	c.layers = append(c.layers, layer{main, files})
	return c, nil
}

func installed(ctx context.Context, p program) (tree, error) {
	text, err := licenses(ctx, p)
	if err != nil {
		return nil, err
	}
	return tree{
		"usr/local/bin/" + p.name:                {mode: 0o755, body: p.body},
		"usr/share/doc/" + p.name + "/copyright": {mode: 0o644, body: text},
	}, nil
}

// agentTools adds the load generators: wrk, ab and h2load of Debian, k6 and vegeta.
func (r *release) agentTools(ctx context.Context, a architecture, c *content) error {
	debs, all, err := r.unpacked(ctx, "agent", a)
	if err != nil {
		return err
	}
	names, err := all.linked(a, "usr/bin/wrk", "usr/bin/ab", "usr/bin/h2load")
	if err != nil {
		return err
	}
	files, err := all.pick(names...)
	if err != nil {
		return err
	}
	owners := append(files.owners(), "ca-certificates")
	about, err := described(debs, all, owners)
	if err != nil {
		return err
	}
	files.add(about, tree{"tmp": {dir: true, mode: 0o1777}, "etc/ssl/certs/ca-certificates.crt": {mode: 0o644, body: certificates(all)}})
	c.layers = append(c.layers, layer{"wrk, ab and h2load of Debian " + suite, files})
	c.debs = slices.DeleteFunc(debs, func(d deb) bool { return !slices.Contains(owners, d.name) })
	for _, g := range generators {
		p, err := r.theirs(ctx, g, a.name)
		if err != nil {
			return err
		}
		files, err := installed(ctx, p)
		if err != nil {
			return err
		}
		c.layers = append(c.layers, layer{g.name, files})
		c.programs = append(c.programs, p)
	}
	return nil
}

func (r *release) unpacked(ctx context.Context, image string, a architecture) ([]deb, tree, error) {
	debs, err := r.debs(ctx, image, a)
	if err != nil {
		return nil, nil, err
	}
	all := tree{}
	for _, d := range debs {
		all.add(d.files)
	}
	return debs, all, nil
}

func certificates(all tree) []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if ok, _ := filepath.Match("usr/share/ca-certificates/mozilla/*.crt", name); ok {
			out.Write(bytes.TrimSpace(all[name].body))
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

func (r *release) toolboxTools(ctx context.Context, a architecture, c *content) error {
	debs, all, err := r.unpacked(ctx, "toolbox", a)
	if err != nil {
		return err
	}
	launcher, err := r.launcher(ctx, a)
	if err != nil {
		return err
	}
	files, err := toolbox(all, a, launcher)
	if err != nil {
		return err
	}
	owners := files.owners()
	about, err := described(debs, all, owners)
	if err != nil {
		return err
	}
	c.layers = append(c.layers, layer{"valgrind and strace of Debian " + suite, files.add(about)})
	c.debs = slices.DeleteFunc(debs, func(d deb) bool { return !slices.Contains(owners, d.name) })
	return nil
}

// toolbox gathers the profilers, by the paths that hack/profile/toolbox.sh gives them.
func toolbox(all tree, a architecture, launcher []byte) (tree, error) {
	out := tree{"toolbox/valgrind/launcher": {mode: 0o755, body: launcher}}
	copies := map[string]string{"usr/libexec/valgrind/default.supp": "valgrind/default.supp", "usr/bin/strace": "bin/strace"}
	for _, tool := range []string{"memcheck", "massif", "callgrind", "cachegrind"} {
		copies["usr/libexec/valgrind/"+tool+"-"+a.name+"-linux"] = "valgrind/" + tool
	}
	for _, part := range []string{"core", "memcheck", "massif"} {
		file := "vgpreload_" + part + "-" + a.name + "-linux.so"
		copies["usr/libexec/valgrind/"+file] = "valgrind/" + file
	}
	libraries, err := all.linked(a, "usr/bin/strace")
	if err != nil {
		return nil, err
	}
	loader := slices.IndexFunc(libraries, func(name string) bool { return strings.HasPrefix(filepath.Base(name), "ld-linux") })
	if loader < 0 {
		return nil, errors.New("strace has no loader")
	}
	for i, name := range libraries[1:] {
		copies[name] = "lib/" + filepath.Base(name)
		if i+1 == loader {
			copies[name] = "lib/loader"
		}
	}
	if err := addSymbols(out, all, a, libraries[loader]); err != nil {
		return nil, err
	}
	for from, to := range copies {
		e, ok := all.follow(from)
		if !ok {
			return nil, fmt.Errorf("the Debian packages have no /%s: correct hack/release/debian.tsv", from)
		}
		out["toolbox/"+to] = e
	}
	return out, nil
}

// addSymbols adds those of the loader, where valgrind looks for them: debug/FOLDER OF THE LOADER.
func addSymbols(out, all tree, a architecture, loader string) error {
	e, _ := all.follow(loader) // It was found before.
	id, err := buildID(e.body)
	if err != nil {
		return fmt.Errorf("reading /%s: %w", loader, err)
	}
	symbols, ok := all.follow("usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug")
	if !ok {
		return fmt.Errorf("libc6-dbg has no symbols of /%s: pin it in the version of libc6", loader)
	}
	for _, dir := range []string{"lib/" + a.triplet, "usr/lib/" + a.triplet, filepath.Dir(loader)} {
		out["toolbox/debug/"+dir+"/"+id[2:]+".debug"] = symbols
	}
	return nil
}

// launcher compiles valgrind's launcher, for any architecture.
func (r *release) launcher(ctx context.Context, a architecture) ([]byte, error) {
	file := filepath.Join(r.cache, "release", "launcher_"+a.name)
	cmd := exec.CommandContext(ctx, filepath.Join(r.cache, "bin", "zig"), "cc", "-target", a.zig, "-std=gnu11", "-Os", "-static", "-s",
		"-Wall", "-Wextra", "-Werror", "-o", file, filepath.Join(r.root, "hack", "profile", "launcher.c"))
	caches := filepath.Join(r.cache, "zig-cache")
	cmd.Env = append(os.Environ(), "ZIG_GLOBAL_CACHE_DIR="+caches, "ZIG_LOCAL_CACHE_DIR="+caches)
	if _, err := output(cmd); err != nil {
		return nil, fmt.Errorf("compiling valgrind's launcher: %w", err)
	}
	return os.ReadFile(file)
}

func (r *release) image(name string, a architecture, c content) (v1.Image, error) {
	at := v1.Time{Time: r.date}
	config := &v1.ConfigFile{
		Architecture: a.name, OS: "linux", Created: at, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: []string{"/usr/local/bin/" + c.program}, Env: []string{"PATH=/usr/local/bin:/usr/bin"}, User: "65532:65532",
			Labels: map[string]string{
				"org.opencontainers.image.title": name, "org.opencontainers.image.version": r.version,
				"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
	}
	img, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), config)
	if err != nil {
		return nil, err
	}
	for _, l := range c.layers {
		var b bytes.Buffer
		if err := l.files.tar(&b, r.date); err != nil {
			return nil, err
		}
		packed, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
			tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(6), tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		if img, err = mutate.Append(img, mutate.Addendum{Layer: packed, History: v1.History{Created: at, CreatedBy: l.comment}}); err != nil {
			return nil, err
		}
	}
	return img, nil
}

// sumOf returns the SHA-256 of a file's content, in hexadecimal.
func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
