package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const policy = `
apiVersion: v1
kind: Service
metadata:
  name: a
  namespace: ours
  labels: {app.kubernetes.io/name: loadstone, helm.sh/chart: loadstone-1}
spec: {ports: [{port: 8090}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: ours}
`

func TestChartAndConfigInstallTheSame(t *testing.T) {
	for folder, settings := range map[string][]string{"config/default": embedded, "config/external": external} {
		for _, finding := range differences(kustomized(t, folder), chart(t, settings...)) {
			t.Errorf("%s: %s", folder, finding)
		}
	}
}

func TestDifferences(t *testing.T) {
	cases := map[string]struct {
		config, chart string
		want          []string
	}{
		"labels of the tools, Helm's annotations and the namespace do not count": {
			config: policy,
			chart:  strings.Replace(strings.Split(policy, "---")[0], "  labels:", "  annotations: {helm.sh/resource-policy: keep}\n  labels:", 1),
		},
		"another port is found":               {config: policy, chart: strings.Replace(policy, "8090", "8091", 1), want: []string{"Service ours/a differs"}},
		"a label of another kind is found":    {config: policy, chart: strings.Replace(policy, "app.kubernetes.io/name", "app", 1), want: []string{"Service ours/a differs"}},
		"what config/ alone has is found":     {config: policy, want: []string{"Service ours/a is in config/ and not in the chart"}},
		"what the chart alone has is found":   {chart: policy, want: []string{"Service ours/a is in the chart and not in config/"}},
		"another namespace is another object": {config: policy, chart: strings.ReplaceAll(policy, "namespace: ours", "namespace: other"), want: []string{"Service ours/a is in config/", "Service other/a is in the chart"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := differences(mustParse(t, tc.config), mustParse(t, tc.chart))
			if len(got) != len(tc.want) {
				t.Fatalf("found %q, want %q", got, tc.want)
			}
			for i := range got {
				if !strings.Contains(got[i], tc.want[i]) {
					t.Errorf("found %q, want it to say %q", got[i], tc.want[i])
				}
			}
		})
	}
}

func mustParse(t *testing.T, s string) []object {
	t.Helper()
	list, err := parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// embedded installs everything that config/default has. Kustomize cannot list namespaces.
var embedded = []string{"images.tag=dev", "runs.namespaces={*}", "test.enabled=false", "uninstall.hook=false"}

// external installs only the operator, as config/external does.
var external = []string{
	"images.tag=dev", "runs.namespaces={*}", "test.enabled=false", "uninstall.hook=false",
	"argo.enabled=false", "argo.instanceID=",
	"minio.enabled=false", "s3.endpoint=s3.amazonaws.com", "s3.tls=true", "s3.existingSecret=loadstone-s3",
}

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

// lines prints an object in many lines, so that a diff is readable.
func lines(o object) []string {
	body, err := yaml.Marshal(o)
	if err != nil {
		panic("what was read from YAML can be written as YAML: " + err.Error())
	}
	return strings.Split(string(body), "\n")
}

// toolLabels name the release that installed an object.
var toolLabels = []string{"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"}

// comparable removes what each tool adds: release labels, Helm's annotations, labels of definitions, and the namespace.
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

// strip removes entries of a map, and the map if it is then empty.
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
