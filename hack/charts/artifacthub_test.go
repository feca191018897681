package main

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/internal/cli/runfile"
)

// chartFile has the fields of Chart.yaml that Artifact Hub reads.
type chartFile struct {
	AppVersion, Icon, Home string
	Sources, Keywords      []string
	Maintainers            []struct{ Name string }
	Annotations            map[string]string
}

func theChart(t *testing.T) chartFile {
	t.Helper()
	body, err := os.ReadFile("../../charts/loadstone/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var chart chartFile
	if err := yaml.Unmarshal(body, &chart); err != nil {
		t.Fatal(err)
	}
	return chart
}

// annotation reads an annotation, which is YAML in YAML.
func annotation(t *testing.T, name string, into any) {
	t.Helper()
	text := theChart(t).Annotations["artifacthub.io/"+name]
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil || text == "" {
		t.Fatalf("annotation %s: %v\n%s", name, err, text)
	}
}

// ofImages finds image names in a rendered chart: of containers, measured pods and Argo's steps.
var ofImages = regexp.MustCompile(`(?:\bimage: |-image=)(\S+)`)

func TestArtifactHubAnnotationsListAllImages(t *testing.T) {
	var told []struct {
		Name, Image string
	}
	annotation(t, "images", &told)
	golden, err := os.ReadFile("testdata/embedded.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, m := range ofImages.FindAllSubmatch(golden, -1) {
		want = append(want, string(m[1]))
	}
	for _, i := range told {
		got = append(got, i.Image)
		if i.Name == "" {
			t.Errorf("%s has no name", i.Image)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("-rendered +annotation:\n%s", diff)
	}
}

func TestArtifactHubAnnotationsListAllDefinitions(t *testing.T) {
	type told struct{ Kind, Version, Name, DisplayName, Description string }
	var list []told
	annotation(t, "crds", &list)
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{}, map[string]string{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Metadata struct{ Name string }
			Spec     struct {
				Names    struct{ Kind string }
				Versions []struct{ Name string }
			}
		}
		if err := yaml.Unmarshal(body, &d); err != nil {
			t.Fatal(err)
		}
		want[d.Metadata.Name] = d.Spec.Names.Kind + " " + d.Spec.Versions[len(d.Spec.Versions)-1].Name
	}
	for _, d := range list {
		got[d.Name] = d.Kind + " " + d.Version
		if d.DisplayName == "" || d.Description == "" {
			t.Errorf("%s has no name or no description for people", d.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-config/crd +annotation:\n%s", diff)
	}
	var examples []object
	annotation(t, "crdsExamples", &examples)
	for _, o := range examples {
		body, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if runfile.IsSuite(body) {
			_, err = runfile.NamedSuite(t.Context(), "the example", body)
		} else {
			_, err = runfile.Parse(t.Context(), body)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if len(examples) < 2 {
		t.Errorf("there are %d examples", len(examples))
	}
}

// What Artifact Hub takes, by its documentation.
var (
	categories   = []string{"ai-machine-learning", "database", "integration-delivery", "monitoring-logging", "networking", "security", "storage", "streaming-messaging"}
	capabilities = []string{"Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"}
	changeKinds  = []string{"added", "changed", "deprecated", "removed", "fixed", "security"}
	annotations  = []string{"category", "changes", "crds", "crdsExamples", "images", "license", "operator", "operatorCapabilities", "prerelease"}
)

func TestArtifactHubReadsTheChart(t *testing.T) {
	chart := theChart(t)
	if len(chart.Maintainers) == 0 || chart.Maintainers[0].Name == "" || chart.Home == "" || len(chart.Sources) == 0 || len(chart.Keywords) == 0 {
		t.Errorf("the chart says of itself %+v", chart)
	}
	var known []string
	for _, name := range slices.Sorted(maps.Keys(chart.Annotations)) {
		if name, is := strings.CutPrefix(name, "artifacthub.io/"); is {
			known = append(known, name)
		}
	}
	if diff := cmp.Diff(annotations, known); diff != "" {
		t.Errorf("-known +annotations:\n%s", diff)
	}
	for name, all := range map[string][]string{
		"category": categories, "operatorCapabilities": capabilities, "operator": {"true"}, "prerelease": {"true", "false"}, "license": {"Apache-2.0"},
	} {
		if !slices.Contains(all, chart.Annotations["artifacthub.io/"+name]) {
			t.Errorf("%s is %q, and not one of %q", name, chart.Annotations["artifacthub.io/"+name], all)
		}
	}
	var changes []struct{ Kind, Description string }
	annotation(t, "changes", &changes)
	for _, c := range changes {
		if !slices.Contains(changeKinds, c.Kind) || c.Description == "" {
			t.Errorf("a change is %+v", c)
		}
	}
}

func TestTheIconIsAPicture(t *testing.T) {
	const before = "data:image/svg+xml;base64,"
	text, is := strings.CutPrefix(theChart(t).Icon, before)
	picture, err := base64.StdEncoding.DecodeString(text)
	if !is || err != nil {
		t.Fatalf("the icon does not begin with %s: %v", before, err)
	}
	d := xml.NewDecoder(strings.NewReader(string(picture)))
	for first := true; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		element, is := token.(xml.StartElement)
		if is && first && (element.Name.Local != "svg" || element.Name.Space != "http://www.w3.org/2000/svg") {
			t.Errorf("it begins with %+v", element.Name)
		}
		first = first && !is
	}
}
