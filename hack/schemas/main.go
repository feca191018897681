// Command schemas writes the JSON Schemas of BenchmarkRun and BenchmarkSuite, for editors, from the CRDs. They lack the CRDs' rules: only loadstone
// validate and API servers check these.
//
//	usage: schemas [-root DIR]
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const (
	crds    = "config/crd/bases"
	schemas = "docs/reference/schemas"
	// draft is the newest that YAML's language server fully reads.
	draft = "http://json-schema.org/draft-07/schema#"
)

type object = map[string]any

func main() {
	root := flag.String("root", ".", "the repository's root")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	folder := filepath.Join(root, schemas)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the folder of the schemas: %w", err)
	}
	for _, name := range []string{"benchmarkrun", "benchmarksuite"} {
		s, err := generate(root, name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(s); err != nil {
			return fmt.Errorf("writing the schema of %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name+".json"), b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("writing the schema of %s: %w", name, err)
		}
	}
	return nil
}

// generate returns the JSON Schema of a kind, by its name in lower case.
func generate(root, name string) (object, error) {
	path := filepath.Join(root, crds, "loadstone.dev_"+name+"s.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a CRD: %w", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(crd.Spec.Versions) != 1 {
		return nil, fmt.Errorf("%s has %d versions: say here which one editors use", path, len(crd.Spec.Versions))
	}
	version := crd.Spec.Versions[0]
	whole := version.Schema.OpenAPIV3Schema
	delete(whole.Properties, "status") // The operator writes it.
	openAPI, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", path, err)
	}
	var s object
	if err := json.Unmarshal(openAPI, &s); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", path, err)
	}
	closed(s)
	texts := object{"type": "object", "additionalProperties": object{"type": "string"}}
	properties := s["properties"].(object)
	properties["apiVersion"] = object{"const": crd.Spec.Group + "/" + version.Name}
	properties["kind"] = object{"const": crd.Spec.Names.Kind}
	properties["metadata"] = object{"type": "object", "properties": object{
		"name": object{"type": "string"}, "namespace": object{"type": "string"}, "labels": texts, "annotations": texts,
	}}
	s["$schema"], s["title"] = draft, crd.Spec.Names.Kind
	s["required"] = []string{"apiVersion", "kind", "metadata", "spec"}
	return s, nil
}

// closed turns a schema of OpenAPI into JSON Schema: it refuses unknown fields, as loadstone validate does.
func closed(s object) {
	if _, open := s["x-kubernetes-preserve-unknown-fields"]; open {
		// The only such field is the template of a suite.
		for name := range s {
			delete(s, name)
		}
		s["$ref"] = "benchmarkrun.json#/properties/spec"
		return
	}
	for name := range s {
		if strings.HasPrefix(name, "x-kubernetes-") {
			delete(s, name)
		}
	}
	if format, _ := s["format"].(string); strings.HasPrefix(format, "int") {
		delete(s, "format") // JSON Schema has none for numbers.
	}
	if properties, ok := s["properties"].(object); ok {
		s["additionalProperties"] = false
		for _, p := range properties {
			closed(p.(object))
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if below, ok := s[name].(object); ok {
			closed(below)
		}
	}
}
