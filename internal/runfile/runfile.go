package runfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// maxFile bounds the size of a file: the API server takes no larger object.
const maxFile = 3 << 20

// Read reads the BenchmarkRun that a file holds. The error is a sentence that names the file, the line or field, and the way out.
func Read(ctx context.Context, path string) (*v1alpha1.BenchmarkRun, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	if info.IsDir() || info.Size() > maxFile {
		return nil, fmt.Errorf("reading a run: %s is no file of at most %d bytes: name the YAML file of a BenchmarkRun", path, maxFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	run, err := Parse(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return run, nil
}

// Parse is Read for the text of a file.
func Parse(ctx context.Context, text []byte) (*v1alpha1.BenchmarkRun, error) {
	one, err := document(text)
	if err != nil {
		return nil, err
	}
	object, err := decode(one)
	if err != nil {
		return nil, err
	}
	if err := checkKind(object); err != nil {
		return nil, err
	}
	if err := admit(ctx, object); err != nil {
		return nil, err
	}
	var run v1alpha1.BenchmarkRun
	if err := yaml.UnmarshalStrict(one, &run); err != nil {
		return nil, fmt.Errorf("it is no BenchmarkRun: %w", err)
	}
	if wrong := validation.NameIsDNSSubdomain(run.Name, false); len(wrong) > 0 {
		return nil, fmt.Errorf("metadata.name is %q: %s", run.Name, wrong[0])
	}
	return &run, nil
}

// document is the only document of a file. Line breaks stay, so that lines keep their numbers.
func document(text []byte) ([]byte, error) {
	documents, begun := 0, false
	for i, line := range bytes.Split(text, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		content := bytes.TrimSpace(line)
		switch {
		case bytes.Equal(line, []byte("---")) || bytes.HasPrefix(line, []byte("--- ")):
			begun = false
		case len(content) == 0 || content[0] == '#':
		case bytes.IndexByte(line[:len(line)-len(bytes.TrimLeft(line, " \t"))], '\t') >= 0:
			return nil, fmt.Errorf("line %d is indented with a tab, which YAML does not allow: use spaces", i+1)
		case !begun:
			begun = true
			if documents++; documents > 1 {
				return nil, fmt.Errorf("line %d begins a second document: keep each run in a file of its own", i+1)
			}
		}
	}
	if documents == 0 {
		return nil, errors.New("the file is empty: write a BenchmarkRun, such as config/samples/quick.yaml")
	}
	return text, nil
}

// decode reads YAML with its whole numbers as such, which the rules of the API ask for.
func decode(text []byte) (map[string]any, error) {
	body, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
		return nil, fmt.Errorf("it is no YAML: %s", strings.Join(strings.Fields(why), " "))
	}
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, errors.New("it holds no BenchmarkRun: write one, such as config/samples/quick.yaml")
	}
	return object, nil
}

func checkKind(object map[string]any) error {
	want := v1alpha1.GroupVersion.String()
	switch kind, version := object["kind"], object["apiVersion"]; {
	case kind != "BenchmarkRun":
		return fmt.Errorf("kind is %q: only a BenchmarkRun can be run", written(kind))
	case version != want:
		return fmt.Errorf("apiVersion is %q: this version of Loadstone reads %q", written(version), want)
	}
	return nil
}

// written is a value as it was written; empty if it is missing.
func written(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
