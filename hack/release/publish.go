package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"
)

// Media types of Helm.
const (
	chartConfig types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartLayer  types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// publish pushes images and chart from the release folder alone. Credentials are those of docker login.
func (r *release) publish(ctx context.Context) error {
	if r.registry == "" {
		return errors.New("name the registry: make publish REGISTRY=host/path")
	}
	if err := checkChecksums(r.folder); err != nil {
		return err
	}
	chart, facts, err := readChart(r.folder)
	if err != nil {
		return err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	for _, image := range imageNames {
		index, err := readLayout(filepath.Join(r.folder, "images", image))
		if err != nil {
			return fmt.Errorf("reading the image %s: %w", image, err)
		}
		to, err := name.NewTag(r.registry + "/" + image + ":" + facts.Version)
		if err != nil {
			return fmt.Errorf("naming the image %s: %w", image, err)
		}
		if err := remote.WriteIndex(to, index, options...); err != nil {
			return fmt.Errorf("pushing the image %s: %w", image, err)
		}
		digest, err := index.Digest()
		if err != nil {
			return fmt.Errorf("reading the image %s: %w", image, err)
		}
		r.say("%s@%s", to, digest)
	}
	to, err := name.NewTag(r.registry + "/" + facts.Name + ":" + facts.Version)
	if err != nil {
		return fmt.Errorf("naming the chart: %w", err)
	}
	if err := remote.Write(to, chart, options...); err != nil {
		return fmt.Errorf("pushing the chart: %w", err)
	}
	r.say("helm install loadstone oci://%s/%s --version %s", r.registry, facts.Name, facts.Version)
	return nil
}

func readLayout(folder string) (v1.ImageIndex, error) {
	top, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, err
	}
	m, err := top.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(m.Manifests) != 1 {
		return nil, fmt.Errorf("%s names %d images instead of one", filepath.Join(folder, "index.json"), len(m.Manifests))
	}
	return top.ImageIndex(m.Manifests[0].Digest)
}

// chartName is what Chart.yaml calls the chart.
type chartName struct{ Name, Version string }

// readChart returns the chart's package as Helm pushes it.
func readChart(folder string) (v1.Image, chartName, error) {
	found, err := filepath.Glob(filepath.Join(folder, "loadstone-*.tgz"))
	if err != nil || len(found) != 1 {
		return nil, chartName{}, errors.Join(fmt.Errorf("%s has %d charts instead of one", folder, len(found)), err)
	}
	body, err := os.ReadFile(found[0])
	if err != nil {
		return nil, chartName{}, fmt.Errorf("reading the chart: %w", err)
	}
	text, err := inArchive(body, "loadstone/Chart.yaml")
	if err != nil {
		return nil, chartName{}, fmt.Errorf("reading the chart: %w", err)
	}
	config, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, chartName{}, fmt.Errorf("reading Chart.yaml: %w", err)
	}
	var facts chartName
	if err := json.Unmarshal(config, &facts); err != nil {
		return nil, chartName{}, fmt.Errorf("reading Chart.yaml: %w", err)
	}
	img, err := partial.CompressedToImage(&chartImage{static.NewLayer(body, chartLayer), config})
	return img, facts, err
}

func inArchive(body []byte, name string) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", name, err)
		}
		if h.Name == name {
			return io.ReadAll(tr)
		}
	}
}

// chartImage is an image of one layer, the package. Its configuration is Chart.yaml.
type chartImage struct {
	layer  v1.Layer
	config []byte
}

// RawConfigFile implements partial.CompressedImageCore.
func (c *chartImage) RawConfigFile() ([]byte, error) { return c.config, nil }

// MediaType implements partial.CompressedImageCore.
func (c *chartImage) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest implements partial.CompressedImageCore.
func (c *chartImage) RawManifest() ([]byte, error) {
	config, err := partial.Descriptor(static.NewLayer(c.config, chartConfig))
	if err != nil {
		return nil, err
	}
	layer, err := partial.Descriptor(c.layer)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: *config, Layers: []v1.Descriptor{*layer}})
}

// LayerByDigest implements partial.CompressedImageCore.
func (c *chartImage) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return c.layer, nil }
