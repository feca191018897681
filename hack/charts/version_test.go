package main

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ratchets is the first Kubernetes minor version that allows changes to a stored object with an unchanged value that is no longer valid. Earlier
// versions would keep the finalizer of such a run forever.
const ratchets = "1.30"

func TestChartRequiresKubernetesWithRatchetingValidation(t *testing.T) {
	read := func(file string) string {
		t.Helper()
		body, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	var chart struct{ KubeVersion string }
	if err := yaml.Unmarshal([]byte(read("charts/loadstone/Chart.yaml")), &chart); err != nil {
		t.Fatal(err)
	}
	if want := ">=" + ratchets + ".0-0"; chart.KubeVersion != want {
		t.Errorf("the chart asks for Kubernetes %s, want %s", chart.KubeVersion, want)
	}
	for _, file := range []string{"README.md", "charts/loadstone/templates/NOTES.txt"} {
		if says := "Kubernetes " + ratchets + " or newer"; !strings.Contains(read(file), says) {
			t.Errorf("%s does not say %q", file, says)
		}
	}
}
