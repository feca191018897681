package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

const (
	chartDir = "charts/loadstone"
	crdDir   = "config/crd/bases"
	// versions pins the release of Argo that the cluster for tests is built from; the chart's definitions are the same release's.
	versions   = "hack/cluster/versions.env"
	argoModule = "github.com/argoproj/argo-workflows/v3"
)

// argoKinds are the kinds without which Argo's controller does not start, or takes no HTTP step.
var argoKinds = []string{"cronworkflows", "workflowartifactgctasks", "workflows", "workflowtaskresults", "workflowtasksets", "workflowtemplates"}

// repository is a checkout. Its chart is rendered for the version of Kubernetes, if one is set.
type repository struct{ root, kubeVersion string }

func (r repository) path(p ...string) string { return filepath.Join(append([]string{r.root}, p...)...) }

// generated is the content of every generated file of the chart, by path.
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
	}
	if files[readmeFile], err = r.readme(); err != nil {
		return nil, err
	}
	return files, nil
}

// argoDir is where Go's module cache has the pinned release of Argo.
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

// generate writes every generated file, and removes those that are generated no more.
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

// stale are the files in folders of generated files that nothing generates.
func (r repository) stale(want map[string][]byte) ([]string, error) {
	var list []string
	for _, dir := range []string{"files/crds", "files/argo-crds"} {
		have, err := filepath.Glob(r.path(chartDir, dir, "*"))
		if err != nil {
			return nil, fmt.Errorf("listing generated files: %w", err)
		}
		for _, p := range have {
			rel := filepath.Join(chartDir, dir, filepath.Base(p))
			if want[rel] == nil {
				list = append(list, rel)
			}
		}
	}
	return list, nil
}

func (r repository) checkGenerated(ctx context.Context) ([]string, error) {
	want, err := r.generated(ctx)
	if err != nil {
		return nil, err
	}
	findings, err := r.stale(want)
	if err != nil {
		return nil, err
	}
	for p, body := range want {
		have, err := os.ReadFile(r.path(p))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading generated file: %w", err)
		}
		if !bytes.Equal(have, body) {
			findings = append(findings, p)
		}
	}
	for i, p := range findings {
		findings[i] = p + " is not what would be generated: run go run ./hack/charts"
	}
	slices.Sort(findings)
	return findings, nil
}
