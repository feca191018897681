package local

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"loadstone.dev/loadstone/internal/local/image"
	"loadstone.dev/loadstone/internal/local/reexec/reexectest"
	"loadstone.dev/loadstone/internal/record"
)

// imageOf writes an image of an empty program, and returns its folder.
func imageOf(t *testing.T, user string) string {
	t.Helper()
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	err := errors.Join(w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "server", Mode: 0o755}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	own, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	config, err := own.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config.OS, config.Architecture, config.Config = "linux", runtime.GOARCH, v1.Config{User: user, Entrypoint: []string{"/server"}}
	if own, err = mutate.ConfigFile(own, config); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "image")
	to, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = to.AppendImage(own, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func unpacked(t *testing.T, user string) (image.Root, error) {
	t.Helper()
	if err := image.Permitted(0); err != nil {
		t.Skipf("this machine permits no sandbox: %v", err)
	}
	r := led(t, quick())
	r.options.Cache = filepath.Join(t.TempDir(), "cache")
	err := r.unpackImage(t.Context(), record.Implementation{Name: "plain", Image: imageOf(t, user)})
	return r.images["plain"].root, err
}

func TestImageGetsALimitOfProcesses(t *testing.T) {
	root, err := unpacked(t, "1000")
	if err != nil {
		t.Fatal(err)
	}
	if root.Processes != maxProcesses {
		t.Errorf("the image may have %d processes", root.Processes)
	}
	if changes := image.ChangesUser(); changes != (root.Users > 0) || changes != (root.Process.UID == 1000) {
		t.Errorf("its user is %d, its users begin with %d", root.Process.UID, root.Users)
	}
}

func TestImageOfAUserBeyondTheSandboxIsRefused(t *testing.T) {
	if !image.ChangesUser() {
		t.Skip("only root gives a program another user")
	}
	_, err := unpacked(t, "65536:7")
	if want := "implementations[plain].image: it runs as user 65536 and group 7, and a sandbox on this machine has IDs up to 65535: set user and group"; err == nil || err.Error() != want {
		t.Errorf("it says %v, want %s", err, want)
	}
}

func TestImageCannotListenOnALowPort(t *testing.T) {
	proc := t.TempDir()
	if err := os.MkdirAll(filepath.Join(proc, "sys/net/ipv4"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := "implementations[plain].port is 80: on this machine an image can listen on ports from 1024: choose another port"
	for _, file := range []string{"", "1024\n"} {
		if file != "" {
			reexectest.Write(t, filepath.Join(proc, "sys/net/ipv4/ip_unprivileged_port_start"), file, 0o600)
		}
		if err := checkLowPort(record.Implementation{Name: "plain", Port: 80}, proc); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("it says %v, want %s", err, want)
		}
		for _, port := range []int32{0, 1024, 8080} {
			if err := checkLowPort(record.Implementation{Name: "plain", Port: port}, proc); err != nil {
				t.Errorf("port %d: %v", port, err)
			}
		}
	}
	reexectest.Write(t, filepath.Join(proc, "sys/net/ipv4/ip_unprivileged_port_start"), "80\n", 0o600)
	if err := checkLowPort(record.Implementation{Name: "plain", Port: 80}, proc); err != nil {
		t.Errorf("a permitted port: %v", err)
	}
}

func TestMachineWithoutSandboxRefusesImagesWithTheFix(t *testing.T) {
	if err := noSandbox(record.Implementation{Name: "plain"}, fmt.Errorf("making a sandbox: %w", syscall.EACCES)); !strings.Contains(err.Error(), "(making a sandbox: permission denied): let every user execute this program (chmod a+rx), or give") {
		t.Errorf("of a program that only root may execute it says %v", err)
	}
	err := noSandbox(record.Implementation{Name: "plain"}, errors.New("making a sandbox: no space left on device"))
	for _, want := range []string{"implementations[plain].image: this machine permits no sandbox (making a sandbox: no space left on device): run loadstone ", ", or give implementations[].command, which is started without its image and without a sandbox"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %s", err, want)
		}
	}
}
