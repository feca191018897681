package e2e

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
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pulled is the tag of images in a test's registry. The installation has another.
const pulled = "pulled"

// pulledImages are needed without the embedded store.
var pulledImages = []string{"manager", "agent", "workflow-controller", "argoexec"}

// testRegistry is a test's registry with TLS and a certificate of a private authority.
type testRegistry struct {
	// host is host:port, and authority the file of the authority's certificate.
	host, authority string
	// way is how the test reaches it.
	way http.RoundTripper
}

// installation has the variables of hack/deploy.sh that install from it.
func (r testRegistry) installation() []string {
	return []string{"CHART=oci://" + r.host + "/charts/loadstone", "REGISTRY=" + r.host + "/loadstone", "TAG=" + pulled}
}

// newRegistry starts an empty registry for a test, and adds its authority to the nodes of hack/cluster.
func newRegistry(t *testing.T, p private) testRegistry {
	t.Helper()
	r := testRegistry{authority: p.file, way: p.way(t), host: p.serve(t, registry.New(
		registry.WithBlobHandler(registry.NewDiskBlobHandler(t.TempDir())), registry.Logger(log.New(io.Discard, "", 0)),
	))}
	r.believe(t)
	return r
}

// ownRegistry has Loadstone's chart and images.
func ownRegistry(t *testing.T) testRegistry {
	t.Helper()
	r := newRegistry(t, newPrivate(t, "127.0.0.1"))
	for _, image := range pulledImages {
		r.push(t, "loadstone/"+image+":"+pulled, archived(t, image))
	}
	r.pushChart(t)
	return r
}

// believe adds the authority to each node's container runtime.
func (r testRegistry) believe(t *testing.T) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(cache(), "cluster", "nodes", "*", "registries"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("nodes of hack/cluster: %v, %v", folders, err)
	}
	hosts := fmt.Sprintf("server = \"https://%[1]s\"\n[host.\"https://%[1]s\"]\n  ca = %[2]q\n", r.host, r.authority)
	for _, folder := range folders {
		folder = filepath.Join(folder, r.host)
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

// push uploads an image under a repository and tag.
func (r testRegistry) push(t *testing.T, as string, image v1.Image) {
	t.Helper()
	reference, err := name.ParseReference(r.host + "/" + as)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference, image, remote.WithTransport(r.way), remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// archived returns an image that hack/images.sh built.
func archived(t *testing.T, image string) v1.Image {
	t.Helper()
	packed, err := lightly(filepath.Join(cache(), "images", image+".tar"))
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
func (r testRegistry) pushChart(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		if out, err := exec.CommandContext(t.Context(), "helm", args...).CombinedOutput(); err != nil {
			t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("package", filepath.Join("..", "..", "charts", "loadstone"), "--destination", dir)
	charts, err := filepath.Glob(filepath.Join(dir, "loadstone-*.tgz"))
	if err != nil || len(charts) != 1 {
		t.Fatalf("charts: %v, %v", charts, err)
	}
	run("push", charts[0], "oci://"+r.host+"/charts", "--ca-file", r.authority)
}

// checkOperatorIs checks the prefix of the operator's image.
func checkOperatorIs(t *testing.T, from string) {
	t.Helper()
	var d appsv1.Deployment
	if err := loadstone.Client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: "loadstone"}, &d); err != nil {
		t.Fatal(err)
	}
	if got := d.Spec.Template.Spec.Containers[0].Image; !strings.HasPrefix(got, from) || d.Status.ReadyReplicas == 0 {
		t.Errorf("%d operators of %s are ready, want of %s", d.Status.ReadyReplicas, got, from)
	}
}
