package main

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestGitOpsSamplesInstallTheChart(t *testing.T) {
	for file, tc := range map[string]struct {
		kind             string
		values, at, name []string
	}{
		"flux.yaml":   {kind: "HelmRelease", values: []string{"spec", "values"}, at: []string{"metadata", "namespace"}, name: []string{"spec", "chartRef", "name"}},
		"argocd.yaml": {kind: "Application", values: []string{"spec", "source", "helm", "valuesObject"}, at: []string{"spec", "destination", "namespace"}, name: []string{"spec", "source", "chart"}},
	} {
		t.Run(file, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("../../config/gitops/install", file))
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, o := range mustParse(t, string(body)) {
				if o.text("kind") != tc.kind {
					continue
				}
				found++
				values, err := yaml.Marshal(o.at(tc.values...))
				if err != nil {
					t.Fatal(err)
				}
				into := filepath.Join(t.TempDir(), "values.yaml")
				if err := os.WriteFile(into, values, 0o600); err != nil {
					t.Fatal(err)
				}
				if len(chartOf(t, newest, into)) == 0 || o.text(tc.at...) != namespace || o.text(tc.name...) != release {
					t.Errorf("it installs %s in namespace %s", o.text(tc.name...), o.text(tc.at...))
				}
			}
			if found != 1 {
				t.Errorf("there are %d objects of kind %s", found, tc.kind)
			}
		})
	}
}
