package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// layerOf makes a layer. A header without a type is a file with the text as content.
func layerOf(t testing.TB, entries ...entry) v1.Layer {
	t.Helper()
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Mode: 0o755, Size: int64(len(e.text)), Uid: os.Getuid(), Gid: os.Getgid()}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buffer.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

type entry struct {
	name, text, link string
	kind             byte
}

func imageOfLayers(t testing.TB, architecture string, layers ...v1.Layer) v1.Image {
	t.Helper()
	i, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	config, err := i.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config.OS, config.Architecture = linux, architecture
	config.Config = v1.Config{Entrypoint: []string{"/server"}, Cmd: []string{"--flag"}, Env: []string{"COLOUR=red"}, WorkingDir: "/data", User: "65532:65533"}
	if i, err = mutate.ConfigFile(i, config); err != nil {
		t.Fatal(err)
	}
	return i
}

// archive writes an image like docker save, and returns its path.
func archive(t testing.TB, i v1.Image) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	tag, err := name.NewTag("localhost/test:1")
	if err == nil {
		err = tarball.WriteToFile(path, tag, i)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func unpacked(t *testing.T, path string) (dir string, found *Image, err error) {
	t.Helper()
	cache := t.TempDir()
	err = OpenPath(path, func(i *Image) error {
		found = i
		var err error
		dir, err = i.Unpack(t.Context(), cache)
		return err
	})
	return dir, found, err
}

func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil || e.IsDir() || relative == HostsFile {
			return err
		}
		if e.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			found[relative] = "-> " + target
			return err
		}
		text, err := os.ReadFile(path)
		found[relative] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLayersAreUnpackedOverEachOther(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		layers [][]entry
		want   map[string]string
	}{
		"a file": {[][]entry{{{name: "a/b", text: "1"}}}, map[string]string{"a/b": "1"}},
		"a later layer replaces a file": {
			[][]entry{{{name: "a", text: "1"}}, {{name: "a", text: "2"}}},
			map[string]string{"a": "2"},
		},
		"a later layer replaces a folder by a file": {
			[][]entry{{{name: "a/b", text: "1"}}, {{name: "a", text: "2"}}},
			map[string]string{"a": "2"},
		},
		"a whiteout removes one": {
			[][]entry{{{name: "a/b", text: "1"}, {name: "a/c", text: "2"}}, {{name: "a/.wh.b"}}},
			map[string]string{"a/c": "2"},
		},
		"an opaque folder spares its own layer": {
			[][]entry{{{name: "a/b", text: "1"}}, {{name: "a/c", text: "2"}, {name: "a/.wh..wh..opq"}}},
			map[string]string{"a/c": "2"},
		},
		"a hard link": {
			[][]entry{{{name: "a", text: "1"}, {name: "b", link: "a", kind: tar.TypeLink}}},
			map[string]string{"a": "1", "b": "1"},
		},
		"a link to a folder is followed": {
			[][]entry{{{name: "lib", link: "/usr/lib", kind: tar.TypeSymlink}}, {{name: "lib/x", text: "1"}}},
			map[string]string{"lib": "-> /usr/lib", "usr/lib/x": "1"},
		},
		"a link replaces no file that it leads to": {
			[][]entry{{{name: "a", text: "1"}, {name: "b", link: "a", kind: tar.TypeSymlink}}, {{name: "b", text: "2"}}},
			map[string]string{"a": "1", "b": "2"},
		},
		"devices are left out": {
			[][]entry{{{name: "dev/disk", kind: tar.TypeBlock}, {name: "pipe", kind: tar.TypeFifo}, {name: "a", text: "1"}}},
			map[string]string{"a": "1"},
		},
		"the place of a mount is no link": {
			[][]entry{{{name: "tmp", link: "/usr", kind: tar.TypeSymlink}, {name: "usr/a", text: "1"}}},
			map[string]string{"usr/a": "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var layers []v1.Layer
			for _, l := range tc.layers {
				layers = append(layers, layerOf(t, l...))
			}
			dir, _, err := unpacked(t, archive(t, imageOfLayers(t, runtime.GOARCH, layers...)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, content(t, dir)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, place := range MountFolders() {
				if info, err := os.Lstat(filepath.Join(dir, place)); err != nil || !info.IsDir() {
					t.Errorf("%s is %v, %v", place, info, err)
				}
			}
		})
	}
}

func TestNothingIsUnpackedOutsideOfTheRoot(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, entries := range map[string][]entry{
		"by its name":                   {{name: "../../../../../../../../" + outside + "/x", text: "1"}},
		"by an absolute name":           {{name: outside + "/x", text: "1"}},
		"by a link to a folder":         {{name: "out", link: outside, kind: tar.TypeSymlink}, {name: "out/x", text: "1"}},
		"by a link that goes up":        {{name: "out", link: strings.Repeat("../", 30) + outside[1:], kind: tar.TypeSymlink}, {name: "out/x", text: "1"}},
		"by links in a row":             {{name: "b", link: outside, kind: tar.TypeSymlink}, {name: "a", link: "b", kind: tar.TypeSymlink}, {name: "a/x", text: "1"}},
		"by a link in the file's place": {{name: "x", link: outside + "/x", kind: tar.TypeSymlink}, {name: "x", text: "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := unpacked(t, archive(t, imageOfLayers(t, runtime.GOARCH, layerOf(t, entries...)))); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("outside lies %v, %v", left, err)
			}
		})
	}
	kept := filepath.Join(outside, "kept")
	if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, entries := range map[string][]entry{
		"a whiteout through a link": {{name: "out", link: outside, kind: tar.TypeSymlink}, {name: "out/.wh.kept"}},
		"an opaque folder":          {{name: "out", link: outside, kind: tar.TypeSymlink}, {name: "out/.wh..wh..opq"}},
	} {
		if _, _, err := unpacked(t, archive(t, imageOfLayers(t, runtime.GOARCH, layerOf(t, entries...)))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("%s removes %v", name, err)
		}
	}
}

func TestAnImageThatCannotBeUnpackedIsRefused(t *testing.T) {
	t.Parallel()
	loop := []entry{{name: "a", link: "b", kind: tar.TypeSymlink}, {name: "b", link: "a", kind: tar.TypeSymlink}, {name: "a/x", text: "1"}}
	for name, tc := range map[string]struct {
		image v1.Image
		want  string
	}{
		"of another architecture":         {imageOfLayers(t, "riscv64", layerOf(t, entry{name: "a"})), "it is for linux/riscv64, and this machine is linux/" + runtime.GOARCH},
		"with links in a circle":          {imageOfLayers(t, runtime.GOARCH, layerOf(t, loop...)), "unpacking a/x: a/x leads through more than 40 links"},
		"that links to what is not there": {imageOfLayers(t, runtime.GOARCH, layerOf(t, entry{name: "a", link: "/etc/passwd", kind: tar.TypeLink})), "unpacking a: "},
		"that removes the folder above":   {imageOfLayers(t, runtime.GOARCH, layerOf(t, entry{name: "a/.wh..."})), "it removes no entry of its folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := unpacked(t, archive(t, tc.image)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("it ends with %v, want %s", err, tc.want)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "text.tar")
	if err := os.WriteFile(path, []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{path, filepath.Join(t.TempDir(), "nothing.tar"), t.TempDir()} {
		if _, _, err := unpacked(t, wrong); err == nil || !strings.HasPrefix(err.Error(), "reading the image "+wrong+": ") {
			t.Errorf("%s ends with %v", wrong, err)
		}
	}
}

func TestADamagedLayerIsRefusedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	whole := imageOfLayers(t, runtime.GOARCH, layerOf(t, entry{name: "a", text: strings.Repeat("text ", 1000)}))
	dir := t.TempDir()
	if _, err := layout.Write(dir, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: whole})); err != nil {
		t.Fatal(err)
	}
	layers, err := whole.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	blob := filepath.Join(dir, "blobs", "sha256", digest.Hex)
	info, err := os.Stat(blob)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(blob, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	err = OpenPath(dir, func(i *Image) error {
		_, err := i.Unpack(t.Context(), cache)
		return err
	})
	if err == nil {
		t.Error("it is unpacked")
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("the cache holds %v, %v", left, err)
	}
}

func TestAnImageOfAnotherContentThanItsDigestIsRefused(t *testing.T) {
	t.Parallel()
	honest, other := layerOf(t, entry{name: "a", text: "1"}), layerOf(t, entry{name: "a", text: "2"})
	i := &Image{source: swapped{imageOfLayers(t, runtime.GOARCH, honest), other}}
	if err := i.fill(t.Context(), t.TempDir(), most); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("it ends with %v", err)
	}
}

type swapped struct {
	v1.Image
	other v1.Layer
}

func (s swapped) Layers() ([]v1.Layer, error) {
	layers, err := s.Image.Layers()
	return []v1.Layer{swappedLayer{layers[0], s.other}}, err
}

type swappedLayer struct {
	v1.Layer
	other v1.Layer
}

func (s swappedLayer) Uncompressed() (io.ReadCloser, error) { return s.other.Uncompressed() }

type cut struct{ v1.Image }

func (c cut) Layers() ([]v1.Layer, error) {
	layers, err := c.Image.Layers()
	return layers[1:], err
}

type turned struct{ v1.Image }

func (c turned) Layers() ([]v1.Layer, error) {
	layers, err := c.Image.Layers()
	slices.Reverse(layers)
	return layers, err
}

func TestAnImageOfOtherLayersThanItsNameStandsForIsRefused(t *testing.T) {
	t.Parallel()
	whole := imageOfLayers(t, runtime.GOARCH, layerOf(t, entry{name: "a", text: "1"}), layerOf(t, entry{name: "b", text: "2"}))
	for want, source := range map[string]v1.Image{"the image lists 1 layers and its configuration 2": cut{whole}, "layer 0 of the image is sha256:": turned{whole}} {
		i := &Image{source: source}
		if err := i.fill(t.Context(), t.TempDir(), most); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it ends with %v, want %q", err, want)
		}
	}
}

func TestUnpackingEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i := &Image{source: imageOfLayers(t, runtime.GOARCH, layerOf(t, entry{name: "a", text: "1"}))}
	if err := i.fill(ctx, t.TempDir(), most); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

func TestAnImageIsBounded(t *testing.T) {
	t.Parallel()
	i := &Image{source: imageOfLayers(t, runtime.GOARCH, layerOf(t, entry{name: "a", text: "12345"}, entry{name: "b", text: "12345"}))}
	for _, tc := range []struct {
		bound limits
		fits  bool
	}{{limits{bytes: 1 << 20, entries: 2}, true}, {limits{bytes: 1 << 20, entries: 1}, false}, {limits{bytes: 9, entries: 2}, false}} {
		if err := i.fill(t.Context(), t.TempDir(), tc.bound); errors.Is(err, errTooLarge) == tc.fits {
			t.Errorf("%+v ends with %v", tc.bound, err)
		}
	}
}

func TestAnImageIsReadFromEverywhere(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // No container tool is found.
	i := imageOfLayers(t, runtime.GOARCH, layerOf(t, entry{name: "server", text: "1"}))
	other := imageOfLayers(t, "riscv64", layerOf(t, entry{name: "server", text: "2"}))
	manifest, err := i.Digest()
	if err != nil {
		t.Fatal(err)
	}
	id, err := i.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: other, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: linux, Architecture: "riscv64"}}},
		mutate.IndexAddendum{Add: i, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: linux, Architecture: runtime.GOARCH}}})
	folder := t.TempDir()
	if _, err := layout.Write(folder, index); err != nil {
		t.Fatal(err)
	}
	ociArchive := filepath.Join(t.TempDir(), "oci.tar")
	archiveOf(t, ociArchive, folder)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	push(t, address+"/single:1", func(r name.Reference) error { return remote.Write(r, i) })
	push(t, address+"/many:1", func(r name.Reference) error { return remote.WriteIndex(r, index) })
	push(t, address+"/other:1", func(r name.Reference) error { return remote.Write(r, other) })
	for name, tc := range map[string]struct {
		open func(func(*Image) error) error
		want string
	}{
		"an archive of docker save": {func(use func(*Image) error) error { return OpenPath(archive(t, i), use) }, id.String()},
		"an OCI layout":             {func(use func(*Image) error) error { return OpenPath(folder, use) }, manifest.String()},
		"an archive of a layout":    {func(use func(*Image) error) error { return OpenPath(ociArchive, use) }, manifest.String()},
		"a registry":                {func(use func(*Image) error) error { return OpenName(t.Context(), address+"/single:1", use) }, manifest.String()},
		"several platforms":         {func(use func(*Image) error) error { return OpenName(t.Context(), address+"/many:1", use) }, manifest.String()},
	} {
		err := tc.open(func(got *Image) error {
			if got.Digest != tc.want || got.id != id {
				return fmt.Errorf("it has the digest %s of %s, want %s", got.Digest, got.id, tc.want)
			}
			dir, err := got.Unpack(t.Context(), t.TempDir())
			if err == nil && content(t, dir)["server"] != "1" {
				err = errors.New("it holds another server")
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for reference, want := range map[string]string{address + "/other:1": "it is for linux/riscv64", address + "/none:1": "NAME_UNKNOWN", "UPPER CASE": "could not parse reference"} {
		if err := OpenName(t.Context(), reference, func(*Image) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s ends with %v, want %s", reference, err, want)
		}
	}
}

func push(t *testing.T, reference string, write func(name.Reference) error) {
	t.Helper()
	r, err := name.ParseReference(reference)
	if err == nil {
		err = write(r)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func archiveOf(t *testing.T, path, folder string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	if err := errors.Join(w.AddFS(os.DirFS(folder)), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// A container tool's store is asked before a registry.
func TestAnImageIsReadFromTheStoreOfAContainerTool(t *testing.T) {
	tools := t.TempDir()
	t.Setenv("PATH", tools)
	from := archive(t, imageOfLayers(t, runtime.GOARCH, layerOf(t, entry{name: "server", text: "1"})))
	docker := "#!/bin/sh\necho 'no such image' >&2; exit 1\n"
	podman := "#!/bin/sh\n[ \"$1 $2 $4\" = 'save --output stored:1' ] && /bin/cp " + from + " \"$3\"\n"
	for name, text := range map[string]string{"docker": docker, "podman": podman} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := OpenName(t.Context(), "stored:1", func(*Image) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := OpenName(t.Context(), "127.0.0.1:1/none:1", func(*Image) error { return nil }); err == nil || !strings.Contains(err.Error(), "docker: no such image") || !strings.Contains(err.Error(), "build or pull it") || strings.Contains(err.Error(), "\n") {
		t.Errorf("an image that nobody has ends with %v", err)
	}
}

func TestAProcessIsWhatTheImageStartsOrACommand(t *testing.T) {
	t.Parallel()
	accounts := []entry{
		{name: "etc/passwd", text: "root:x:0:0::/:/bin/sh\nweb:x:33:34::/:/bin/sh\n"},
		{name: "etc/group", text: "root:x:0:\nstaff:x:50:\n"},
		{name: "server"},
		{name: "usr/bin/tool"},
		{name: "bin", link: "usr/bin", kind: tar.TypeSymlink},
		{name: "data/own"},
		{name: "dir/x"},
		{name: "usr/local/bin/tool", link: "/usr/bin/tool", kind: tar.TypeSymlink},
	}
	dir, found, err := unpacked(t, archive(t, imageOfLayers(t, runtime.GOARCH, layerOf(t, accounts...))))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		command  []string
		user     string
		want     []string
		uid, gid int
		refusal  string
	}{
		"its entrypoint":           {nil, "65532:65533", []string{"/server", "--flag"}, 65532, 65533, ""},
		"a command":                {[]string{"/bin/tool", "x"}, "", []string{"/bin/tool", "x"}, 0, 0, ""},
		"a command in PATH":        {[]string{"tool"}, "web", []string{"/usr/local/bin/tool"}, 33, 34, ""},
		"one in its folder":        {[]string{"./own"}, "33", []string{"/data/own"}, 33, 34, ""},
		"a group by name":          {[]string{"/server"}, "web:staff", []string{"/server"}, 33, 50, ""},
		"a command that is none":   {[]string{"nothing"}, "", nil, 0, 0, `the image holds no program "nothing"`},
		"a folder":                 {[]string{"/dir"}, "", nil, 0, 0, `the image holds no program "/dir"`},
		"a user that nobody knows": {[]string{"/server"}, "ghost", nil, 0, 0, `the image's user is "ghost"`},
	} {
		found.Config.User = tc.user
		got, err := found.Process(dir, tc.command, nil, nil)
		if tc.refusal != "" {
			if err == nil || !strings.Contains(err.Error(), tc.refusal) {
				t.Errorf("%s ends with %v, want %s", name, err, tc.refusal)
			}
			continue
		}
		want := Process{Argv: tc.want, Env: []string{"COLOUR=red", "PATH=" + defaultPath}, Folder: "/data", UID: tc.uid, GID: tc.gid}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v, -want +got:\n%s", name, err, diff)
		}
	}
	found.Config.User = ""
	for name, tc := range map[string]struct{ command, args, want []string }{
		"arguments after its entrypoint": {nil, []string{"--other"}, []string{"/server", "--other"}},
		"arguments after a command":      {[]string{"tool", "x"}, []string{"y"}, []string{"/usr/local/bin/tool", "x", "y"}},
	} {
		got, err := found.Process(dir, tc.command, tc.args, []string{"COLOUR=green"})
		want := Process{Argv: tc.want, Env: []string{"COLOUR=red", "COLOUR=green", "PATH=" + defaultPath}, Folder: "/data"}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v, -want +got:\n%s", name, err, diff)
		}
	}
	found.Config.Entrypoint, found.Config.Cmd = nil, nil
	if _, err := found.Process(dir, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "the image starts nothing by itself") {
		t.Errorf("an image without a command ends with %v", err)
	}
}
