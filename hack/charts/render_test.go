package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/internal/testbed"
)

var checkout = repository{root: "../.."}

const (
	release   = "loadstone"
	namespace = "loadstone-system"
	// The chart is tested on these Kubernetes versions.
	newest, oldest = "1.36.0", "1.34.0"
)

type object map[string]any

func (o object) key() string {
	name, ns := o.text("metadata", "name"), o.text("metadata", "namespace")
	return strings.TrimPrefix(fmt.Sprintf("%s %s/%s", o.text("kind"), ns, name), " ")
}

// at returns the value at a path in nested objects, or nil.
func (o object) at(path ...string) any {
	var v any = map[string]any(o)
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

func (o object) text(path ...string) string {
	s, _ := o.at(path...).(string)
	return s
}

// helm renders the chart with a values file (may be empty) and settings.
func helm(t *testing.T, kubeVersion, values string, settings ...string) ([]byte, error) {
	t.Helper()
	testbed.Programs(t, "helm")
	args := []string{"template", release, chartDir, "--namespace=" + namespace, "--kube-version=" + kubeVersion}
	if values != "" {
		args = append(args, "--values="+values)
	}
	for _, s := range settings {
		args = append(args, "--set="+s)
	}
	return checkout.command(t.Context(), "helm", args...)
}

// chart renders the chart with default values and some settings.
func chart(t *testing.T, settings ...string) []object {
	t.Helper()
	return chartOf(t, newest, "", settings...)
}

func chartOf(t *testing.T, kubeVersion, values string, settings ...string) []object {
	t.Helper()
	out, err := helm(t, kubeVersion, values, settings...)
	if err != nil {
		t.Fatal(err)
	}
	return mustParse(t, string(out))
}

func kustomized(t *testing.T, folder string) []object {
	t.Helper()
	testbed.Programs(t, "kubectl")
	out, err := checkout.command(t.Context(), "kubectl", "kustomize", folder)
	if err != nil {
		t.Fatal(err)
	}
	return mustParse(t, string(out))
}

// into decodes a part of an object into a type.
func into[T any](t *testing.T, part any) (target T) {
	t.Helper()
	body, err := yaml.Marshal(part)
	if err != nil {
		t.Fatalf("writing part of an object: %v", err)
	}
	if err := yaml.UnmarshalStrict(body, &target); err != nil {
		t.Fatalf("reading part of an object: %v", err)
	}
	return target
}

func parse(stream []byte) ([]object, error) {
	var list []object
	for _, doc := range bytes.Split(append([]byte("\n"), stream...), []byte("\n---")) {
		var o object
		if err := yaml.Unmarshal(doc, &o); err != nil {
			return nil, fmt.Errorf("reading rendered YAML: %w", err)
		}
		if len(o) > 0 {
			list = append(list, o)
		}
	}
	return list, nil
}
