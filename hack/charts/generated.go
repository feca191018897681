package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

const (
	chartDir = "charts/loadstone"
	crdDir   = "config/crd/bases"
	// argoCRDs are Argo's definitions for config/default; Kustomize cannot read those of the chart.
	argoCRDs = "config/argo/crds"
	// versions pins the Argo release. The test cluster and the chart's definitions use the same one.
	versions   = "hack/cluster/versions.env"
	argoModule = "github.com/argoproj/argo-workflows/v3"
)

// argoKinds are the kinds that Argo's controller needs to start and to run HTTP steps.
var argoKinds = []string{"cronworkflows", "workflowartifactgctasks", "workflows", "workflowtaskresults", "workflowtasksets", "workflowtemplates"}

type repository struct{ root string }

func (r repository) path(p ...string) string { return filepath.Join(append([]string{r.root}, p...)...) }

func (r repository) generated(ctx context.Context) (map[string][]byte, error) {
	files := map[string][]byte{}
	own, err := filepath.Glob(r.path(crdDir, "*.yaml"))
	if err != nil || len(own) == 0 {
		return nil, fmt.Errorf("finding CRDs in %s: %w", crdDir, errors.Join(err, fs.ErrNotExist))
	}
	for _, p := range own {
		if files[filepath.Join(chartDir, "files/crds", filepath.Base(p))], err = os.ReadFile(p); err != nil {
			return nil, fmt.Errorf("reading CRD: %w", err)
		}
	}
	dir, err := r.argoDir(ctx)
	if err != nil {
		return nil, err
	}
	for _, kind := range argoKinds {
		name := "argoproj.io_" + kind + ".yaml"
		body, err := os.ReadFile(filepath.Join(dir, "manifests/base/crds/minimal", name))
		if err != nil {
			return nil, fmt.Errorf("reading Argo's CRD: %w", err)
		}
		files[filepath.Join(chartDir, "files/argo-crds", name)] = body
		files[filepath.Join(argoCRDs, name)] = body
	}
	if files[readmeFile], err = r.readme(); err != nil {
		return nil, err
	}
	return files, nil
}

// argoDir is the folder of the pinned Argo release in Go's module cache.
func (r repository) argoDir(ctx context.Context) (string, error) {
	pins, err := os.ReadFile(r.path(versions))
	if err != nil {
		return "", fmt.Errorf("reading versions: %w", err)
	}
	version := regexp.MustCompile(`(?m)^ARGO_VERSION=(\S+)$`).FindSubmatch(pins)
	if version == nil {
		return "", fmt.Errorf("reading versions: %s has no line ARGO_VERSION=", versions)
	}
	out, err := r.command(ctx, "go", "mod", "download", "-json", argoModule+"@v"+string(version[1]))
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return "", fmt.Errorf("reading what go mod download says: %w", err)
	}
	return module.Dir, nil
}

func (r repository) command(ctx context.Context, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = r.root
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s %s: %w: %s", name, args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

func (r repository) generate(ctx context.Context) error {
	want, err := r.generated(ctx)
	if err != nil {
		return err
	}
	stale, err := r.stale(want)
	if err != nil {
		return err
	}
	for _, p := range stale {
		if err := os.Remove(r.path(p)); err != nil {
			return fmt.Errorf("removing stale file: %w", err)
		}
	}
	for p, body := range want {
		if err := os.MkdirAll(filepath.Dir(r.path(p)), 0o755); err != nil {
			return fmt.Errorf("making folder: %w", err)
		}
		if err := os.WriteFile(r.path(p), body, 0o644); err != nil {
			return fmt.Errorf("writing generated file: %w", err)
		}
	}
	return nil
}

// stale lists files in generated folders that are no longer generated.
func (r repository) stale(want map[string][]byte) ([]string, error) {
	var list []string
	for _, dir := range []string{filepath.Join(chartDir, "files/crds"), filepath.Join(chartDir, "files/argo-crds"), argoCRDs} {
		have, err := filepath.Glob(r.path(dir, "*"))
		if err != nil {
			return nil, fmt.Errorf("listing generated files: %w", err)
		}
		for _, p := range have {
			rel := filepath.Join(dir, filepath.Base(p))
			if want[rel] == nil {
				list = append(list, rel)
			}
		}
	}
	return list, nil
}
