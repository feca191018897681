package image

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const linux = "linux"

// Image is an image for this machine.
type Image struct {
	// Digest is its manifest's; for an archive without one, its configuration's (the image ID of tools).
	Digest string
	// Config is the image's configuration of its process.
	Config v1.Config

	// id is the configuration's digest, which identifies all layers.
	id     v1.Hash
	source v1.Image
}

// OpenPath passes the image in an archive or OCI layout to use. The image is invalid after use returns.
func OpenPath(path string, use func(*Image) error) error {
	return open(path, use, func(scratch string) (*Image, error) {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return openLayout(path)
		}
		return openArchive(path, scratch)
	})
}

// OpenName passes an image by its name to use. The image is invalid after use returns.
func OpenName(ctx context.Context, reference string, use func(*Image) error) error {
	return open(reference, use, func(scratch string) (*Image, error) { return openName(ctx, reference, scratch) })
}

// open reads an image with a scratch folder that is removed after use.
func open(called string, use func(*Image) error, from func(scratch string) (*Image, error)) error {
	scratch, err := os.MkdirTemp("", "loadstone-image-*")
	if err != nil {
		return fmt.Errorf("making a folder for the image %s: %w", called, err)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // It holds copies only.
	found, err := from(scratch)
	if err != nil {
		return fmt.Errorf("reading the image %s: %w", called, err)
	}
	return use(found)
}

// openName reads an image by name: from a local store if possible, else from its registry.
func openName(ctx context.Context, reference, scratch string) (*Image, error) {
	named, err := name.ParseReference(reference)
	if err != nil {
		return nil, err
	}
	archive, said := export(ctx, reference, scratch)
	if archive != "" {
		return openArchive(archive, scratch)
	}
	platform := v1.Platform{OS: linux, Architecture: runtime.GOARCH}
	source, err := remote.Image(named, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithPlatform(platform))
	if err != nil {
		return nil, notHere(err, said)
	}
	return described(source)
}

// notHere reports that neither the registry nor a local store has an image, with their messages.
func notHere(registry error, stores []string) error {
	here := "no container tool is installed here"
	if len(stores) > 0 {
		here = "no store here has it either (" + strings.Join(stores, "; ") + ")"
	}
	return fmt.Errorf("its registry does not give it (%w), and %s: build or pull it, give the path of an archive of docker save in its place, or a command", registry, here)
}

func described(source v1.Image) (*Image, error) {
	digest, err := source.Digest()
	if err != nil {
		return nil, err
	}
	return suited(source, digest.String())
}

func suited(source v1.Image, digest string) (*Image, error) {
	config, err := source.ConfigFile()
	if err != nil {
		return nil, err
	}
	id, err := source.ConfigName()
	if err != nil {
		return nil, err
	}
	if config.OS != linux || config.Architecture != runtime.GOARCH {
		return nil, fmt.Errorf("it is for %s/%s, and this machine is %s/%s: build it for %s", config.OS, config.Architecture, linux, runtime.GOARCH, runtime.GOARCH)
	}
	if digest == "" {
		digest = id.String()
	}
	return &Image{Digest: digest, Config: config.Config, id: id, source: source}, nil
}
