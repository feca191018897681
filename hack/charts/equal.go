package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// external are the values with which the chart installs the operator alone, as config/default does.
var external = []string{
	"images.tag=dev", "test.enabled=false", "uninstall.hook=false",
	"argo.enabled=false", "argo.instanceID=",
	"minio.enabled=false", "s3.endpoint=s3.amazonaws.com", "s3.tls=true", "s3.existingSecret=loadstone-s3",
}

func (r repository) checkEqual(ctx context.Context) ([]string, error) {
	chart, err := r.chart(ctx, external...)
	if err != nil {
		return nil, err
	}
	config, err := r.kustomized(ctx)
	if err != nil {
		return nil, err
	}
	return differences(config, chart), nil
}

// differences compares two installations, object by object.
func differences(config, chart []object) []string {
	have, want := comparable(chart), comparable(config)
	var findings []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if have[key] == nil {
			findings = append(findings, key+" is in config/ and not in the chart")
			continue
		}
		if diff := cmp.Diff(lines(want[key]), lines(have[key])); diff != "" {
			findings = append(findings, key+" differs (-config +chart):\n"+diff)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if want[key] == nil {
			findings = append(findings, key+" is in the chart and not in config/")
		}
	}
	return findings
}

// lines is an object as people read it, so that a difference is a line.
func lines(o object) []string {
	body, err := yaml.Marshal(o)
	if err != nil {
		panic("what was read from YAML can be written as YAML: " + err.Error())
	}
	return strings.Split(string(body), "\n")
}

// toolLabels tell by which release an object was installed.
var toolLabels = []string{"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"}

// comparable is an installation without what is the tools' own: labels of the release, Helm's annotations, all labels of
// definitions, and the namespace, which Helm makes with --create-namespace.
func comparable(list []object) map[string]object {
	byKey := map[string]object{}
	for _, o := range list {
		meta, ok := o.at("metadata").(map[string]any)
		if !ok || o.text("kind") == "Namespace" {
			continue
		}
		definition := o.text("kind") == "CustomResourceDefinition"
		strip(meta, "labels", func(k string) bool { return definition || slices.Contains(toolLabels, k) })
		strip(meta, "annotations", func(k string) bool { return strings.HasPrefix(k, "helm.sh/") })
		byKey[o.key()] = o
	}
	return byKey
}

// strip removes entries of a map, and the map if nothing is left of it.
func strip(from map[string]any, field string, which func(string) bool) {
	m, ok := from[field].(map[string]any)
	if !ok {
		return
	}
	maps.DeleteFunc(m, func(k string, _ any) bool { return which(k) })
	if len(m) == 0 {
		delete(from, field)
	}
}
