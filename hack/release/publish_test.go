package main

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func small(t *testing.T) (*release, map[string]string) {
	t.Helper()
	r := made(t)
	digests := map[string]string{}
	for _, image := range imageNames {
		index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		for _, a := range architectures {
			img, err := r.image(image, a, sample())
			if err != nil {
				t.Fatal(err)
			}
			index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: a.name}}})
		}
		digest, err := r.writeLayout(image, index)
		if err != nil {
			t.Fatal(err)
		}
		digests[image] = digest
	}
	if err := r.chart(digests); err != nil {
		t.Fatal(err)
	}
	if err := writeChecksums(r.folder); err != nil {
		t.Fatal(err)
	}
	return r, digests
}

func TestPublishPushesImagesAndChartFromFolderAlone(t *testing.T) {
	r, digests := small(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	// A publisher has no repository, and no version but that of the chart.
	p := &release{folder: r.folder, registry: host + "/some/path", out: io.Discard}
	if err := p.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, image := range imageNames {
		tag, err := name.NewTag(p.registry + "/" + image + ":1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		index, err := remote.Index(tag)
		if err != nil {
			t.Fatal(err)
		}
		if digest, err := index.Digest(); err != nil || digest.String() != digests[image] {
			t.Errorf("%s has digest %s, %v; want %s", tag, digest, err, digests[image])
		}
		m, err := index.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		var platforms []string
		for _, d := range m.Manifests {
			platforms = append(platforms, d.Platform.String())
		}
		if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
			t.Errorf("%s is for %v", tag, platforms)
		}
	}
	helm, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("helm is missing: run hack/cluster/build.sh helm")
	}
	to := t.TempDir()
	pull := exec.CommandContext(t.Context(), helm, "pull", "oci://"+p.registry+"/loadstone", "--version", "1.2.3", "--plain-http", "--destination", to)
	if out, err := pull.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := read(t, to, "loadstone-1.2.3.tgz"), read(t, r.folder, "loadstone-1.2.3.tgz"); string(got) != string(want) {
		t.Errorf("the chart has %d other bytes", len(got))
	}
	rendered, err := exec.CommandContext(t.Context(), helm, "template", "loadstone", filepath.Join(to, "loadstone-1.2.3.tgz"), "--kube-version=1.36.0").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range imageNames {
		if want := "registry.example/loadstone/" + image + "@" + digests[image]; !strings.Contains(string(rendered), want) {
			t.Errorf("the chart renders no %s", want)
		}
	}
}

func TestChangedReleaseIsNotPublished(t *testing.T) {
	for _, file := range []string{"loadstone-1.2.3.tgz", "images/agent/index.json"} {
		r, _ := small(t)
		path := filepath.Join(r.folder, filepath.FromSlash(file))
		if err := os.WriteFile(path, append(read(t, path), '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &release{folder: r.folder, registry: "127.0.0.1:1/none", out: io.Discard}
		if err := p.publish(t.Context()); err == nil || !strings.Contains(err.Error(), file+" has changed") {
			t.Errorf("with another %s, it ends with %v", file, err)
		}
	}
}
