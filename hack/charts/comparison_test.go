package main

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/internal/cli/runfile"
)

func TestRunOfHelmTestIsValid(t *testing.T) {
	text, err := os.ReadFile("testdata/embedded.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, o := range list {
		if o.text("kind") != "BenchmarkRun" {
			continue
		}
		found++
		body, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := runfile.Parse(t.Context(), body); err != nil {
			t.Error(err)
		}
	}
	if found != 1 {
		t.Errorf("the chart has %d runs, want that of helm test", found)
	}
}
