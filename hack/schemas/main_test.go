package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

const root = "../.."

func read(t *testing.T, kind string) object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, schemas, strings.ToLower(kind)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var s object
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func below(s object, names ...string) object {
	for _, name := range names {
		s, _ = s[name].(object)
	}
	return s
}

func mistakes(t *testing.T, text string) []error {
	t.Helper()
	var document object
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	kind, _ := document["kind"].(string)
	s := read(t, kind)
	if template := below(s, "properties", "spec", "properties", "runs", "items", "properties", "template", "properties"); template != nil {
		if ref := below(template, "spec")["$ref"]; ref != "benchmarkrun.json#/properties/spec" {
			t.Fatalf("the template refers to %v", ref)
		}
		template["spec"] = below(read(t, "BenchmarkRun"), "properties", "spec") // This library reads no other file.
	}
	for _, name := range []string{"apiVersion", "kind"} {
		p := below(s, "properties", name)
		p["enum"] = []any{p["const"]} // It knows an older draft.
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var schema spec.Schema
	if err := json.Unmarshal(encoded, &schema); err != nil {
		t.Fatal(err)
	}
	return validate.NewSchemaValidator(&schema, nil, "", strfmt.Default).Validate(document).Errors
}

// ofFile is the first line of a sample, which names its schema.
var ofFile = regexp.MustCompile(`^# yaml-language-server: \$schema=(\S+)\n`)

func TestSamplesAreValidAndNameTheirSchema(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(root, "config", "samples", "*.yaml"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("there are %d samples: %v", len(paths), err)
	}
	for _, path := range append(paths, filepath.Join(root, "config", "gitops", "suite.yaml")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		for _, err := range mistakes(t, string(text)) {
			t.Errorf("%s: %v", path, err)
		}
		if strings.Contains(path, "gitops") {
			continue // Users copy it into another repository.
		}
		named := ofFile.FindSubmatch(text)
		if named == nil || filepath.Join(filepath.Dir(path), string(named[1])) != filepath.Join(root, schemas, "benchmarkrun.json") {
			t.Errorf("%s does not begin with # yaml-language-server: $schema=../../%s/benchmarkrun.json", path, schemas)
		}
	}
}

func TestMistakesInARunOrSuiteAreFound(t *testing.T) {
	quick, err := os.ReadFile(filepath.Join(root, "config", "samples", "quick.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	suite, err := os.ReadFile(filepath.Join(root, "config", "gitops", "suite.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text, old, new, want string
	}{
		"unknown field":            {string(quick), "  blocks: 7", "  block: 7", "block"},
		"unknown field of a list":  {string(quick), "    - connections: 10\n", "    - connection: 10\n", "connection"},
		"unknown value":            {string(quick), "tool: wrk", "tool: wrk3", "tool"},
		"text for a number":        {string(quick), "blocks: 7", "blocks: seven", "blocks"},
		"other version":            {string(quick), "loadstone.dev/v1alpha1", "loadstone.dev/v1", "apiVersion"},
		"status of the operator":   {string(quick), "\nspec:", "\nstatus: {}\nspec:", "status"},
		"unknown field of a suite": {string(suite), "\nspec:", "\nspec:\n  every: day", "every"},
		"unknown field of its run": {string(suite), "implementations:", "implementation:", "implementation"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(c.text, c.old, c.new, 1)
			if changed == c.text {
				t.Fatalf("the file has no %q", c.old)
			}
			found := mistakes(t, changed)
			if len(found) == 0 {
				t.Fatal("nothing was found")
			}
			for _, err := range found {
				if strings.Contains(err.Error(), c.want) {
					return
				}
			}
			t.Errorf("%v, want %q", found, c.want)
		})
	}
}

func TestSchemasHaveNoKeywordsOfKubernetes(t *testing.T) {
	for _, kind := range []string{"BenchmarkRun", "BenchmarkSuite"} {
		text, err := json.Marshal(read(t, kind))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"x-kubernetes-`) {
			t.Errorf("the schema of %s has keywords of Kubernetes", kind)
		}
	}
}
