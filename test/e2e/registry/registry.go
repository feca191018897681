package registry

import (
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Pulled is the tag of images in a test's registry. The installation has another.
const Pulled = "pulled"

// pulledImages are needed without the embedded store.
var pulledImages = []string{"manager", "agent", "workflow-controller", "argoexec"}

// Registry is a test's registry.
type Registry struct {
	// Host is host:port, and Authority the file of the authority's certificate.
	Host, Authority string
	// way is how the test reaches it.
	way http.RoundTripper
}

// Installation has the variables of hack/deploy.sh that install from it.
func (r Registry) Installation() []string {
	return []string{"CHART=oci://" + r.Host + "/charts/loadstone", "REGISTRY=" + r.Host + "/loadstone", "TAG=" + Pulled}
}

// New starts an empty registry for a test, and adds its authority to the nodes of hack/cluster.
func New(t *testing.T, p Private) Registry {
	t.Helper()
	r := Registry{Authority: p.File, way: p.way(t), Host: p.Serve(t, registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(t.TempDir())), registry.Logger(log.New(io.Discard, "", 0)),
	))}
	r.believe(t)
	return r
}

// Own has Loadstone's chart and images.
func Own(t *testing.T) Registry {
	t.Helper()
	r := New(t, NewPrivate(t, "127.0.0.1"))
	for _, image := range pulledImages {
		r.Push(t, "loadstone/"+image+":"+Pulled, Archived(t, image))
	}
	r.pushChart(t)
	return r
}

// believe adds the authority to each node's container runtime.
func (r Registry) believe(t *testing.T) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(Cache(), "cluster", "nodes", "*", "registries"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("nodes of hack/cluster: %v, %v", folders, err)
	}
	hosts := fmt.Sprintf("server = \"https://%[1]s\"\n[host.\"https://%[1]s\"]\n  ca = %[2]q\n", r.Host, r.Authority)
	for _, folder := range folders {
		folder = filepath.Join(folder, r.Host)
		t.Cleanup(func() {
			if err := os.RemoveAll(folder); err != nil {
				t.Error(err)
			}
		})
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "hosts.toml"), []byte(hosts), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Push uploads an image under a repository and tag.
func (r Registry) Push(t *testing.T, as string, image v1.Image) {
	t.Helper()
	reference, err := name.ParseReference(r.Host + "/" + as)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference, image, remote.WithTransport(r.way), remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// Archived returns an image that hack/images.sh built.
func Archived(t *testing.T, image string) v1.Image {
	t.Helper()
	packed, err := lightly(filepath.Join(Cache(), "images", image+".tar"))
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// lightly returns an archive's image with fast compression: registries need compressed layers, and these stay on this machine.
func lightly(archive string) (v1.Image, error) {
	built, err := tarball.ImageFromPath(archive, nil)
	if err != nil {
		return nil, err
	}
	config, err := built.ConfigFile()
	if err != nil {
		return nil, err
	}
	layers, err := built.Layers()
	if err != nil {
		return nil, err
	}
	packed := empty.Image
	for _, layer := range layers {
		light, err := tarball.LayerFromOpener(layer.Uncompressed, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		if packed, err = mutate.AppendLayers(packed, light); err != nil {
			return nil, err
		}
	}
	light, err := packed.ConfigFile()
	if err != nil {
		return nil, err
	}
	light = light.DeepCopy()
	light.Architecture, light.OS, light.Config = config.Architecture, config.OS, config.Config
	return mutate.ConfigFile(packed, light)
}

// pushChart packs and uploads this checkout's chart.
func (r Registry) pushChart(t *testing.T) {
	t.Helper()
	chart := filepath.Join("..", "..", "charts", "loadstone")
	dir := t.TempDir()
	run := func(args ...string) {
		if out, err := exec.CommandContext(t.Context(), "helm", args...).CombinedOutput(); err != nil {
			t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("package", chart, "--destination", dir)
	charts, err := filepath.Glob(filepath.Join(dir, "loadstone-*.tgz"))
	if err != nil || len(charts) != 1 {
		t.Fatalf("charts: %v, %v", charts, err)
	}
	run("push", charts[0], "oci://"+r.Host+"/charts", "--ca-file", r.Authority)
}

// Cache is the folder of hack/cluster: programs and nodes.
func Cache() string {
	if dir := os.Getenv("LOADSTONE_CACHE"); dir != "" {
		return dir
	}
	return filepath.Join(os.Getenv("HOME"), ".cache", "loadstone")
}
