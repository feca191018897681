package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	release   = "loadstone"
	namespace = "loadstone-system"
	// newest and oldest are the versions of Kubernetes that the chart is tested on. helm renders for the newest, unless told otherwise.
	newest, oldest = "1.36.0", "1.34.0"
)

// object is a Kubernetes object as it was rendered.
type object map[string]any

// key names an object in findings.
func (o object) key() string {
	name, ns := o.text("metadata", "name"), o.text("metadata", "namespace")
	return strings.TrimPrefix(fmt.Sprintf("%s %s/%s", o.text("kind"), ns, name), " ")
}

// at walks down nested objects; nil where there is nothing.
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

// command runs a program at the repository's root and returns what it prints.
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

// chart is the chart as helm renders it with default values, but for some settings.
func (r repository) chart(ctx context.Context, settings ...string) ([]object, error) {
	return r.chartOf(ctx, "", settings...)
}

// chartOf is the chart with the values of a file, and settings that go before them.
func (r repository) chartOf(ctx context.Context, values string, settings ...string) ([]object, error) {
	args := []string{"template", release, chartDir, "--namespace=" + namespace, "--kube-version=" + cmp.Or(r.kubeVersion, newest)}
	if values != "" {
		args = append(args, "--values="+values)
	}
	for _, s := range settings {
		args = append(args, "--set="+s)
	}
	out, err := r.command(ctx, "helm", args...)
	if err != nil {
		return nil, err
	}
	return parse(out)
}

// kustomized is config/default.
func (r repository) kustomized(ctx context.Context) ([]object, error) {
	out, err := r.command(ctx, "kubectl", "kustomize", "config/default")
	if err != nil {
		return nil, err
	}
	return parse(out)
}

// parse reads a stream of YAML documents.
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
