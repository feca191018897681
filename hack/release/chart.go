package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// chart writes the package of the Helm chart. "helm package" would write other bytes each time.
func (r *release) chart(digests map[string]string) error {
	folder := filepath.Join(r.root, "charts", "loadstone")
	files := tree{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(path)
		switch {
		case err != nil:
			return err
		case name == "values.yaml":
			body, err = r.values(body, digests)
		case name == "Chart.yaml":
			body, err = r.chartFacts(body)
		}
		files["loadstone/"+filepath.ToSlash(name)] = entry{mode: 0o644, body: body}
		return err
	})
	if err != nil {
		return fmt.Errorf("packing the chart: %w", err)
	}
	body, err := files.archive(r.date)
	if err != nil {
		return fmt.Errorf("packing the chart: %w", err)
	}
	return r.write("loadstone-"+r.version+".tgz", body)
}

func (r *release) values(text []byte, digests map[string]string) ([]byte, error) {
	changes := map[string]string{"images.registry": r.registry}
	for name, digest := range digests {
		changes["images."+name+".digest"] = digest
	}
	return setScalars(text, changes)
}

// chartFacts sets the version, and the images that Artifact Hub lists.
func (r *release) chartFacts(text []byte) ([]byte, error) {
	var old struct {
		AppVersion string `yaml:"appVersion"`
	}
	if err := yaml.Unmarshal(text, &old); err != nil {
		return nil, fmt.Errorf("reading Chart.yaml: %w", err)
	}
	text, err := setScalars(text, map[string]string{"version": r.version, "appVersion": r.version})
	if err != nil {
		return nil, err
	}
	said := string(text)
	for _, name := range imageNames {
		said = strings.ReplaceAll(said, `"localhost/loadstone/`+name+":"+old.AppVersion+`"`, `"`+r.registry+"/"+name+":"+r.version+`"`)
	}
	return []byte(said), nil
}

// setScalars replaces values in YAML by their paths. Comments stay.
func setScalars(text []byte, changes map[string]string) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("reading YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("the YAML file is empty")
	}
	lines := strings.SplitAfter(string(text), "\n")
	for path, value := range changes {
		at := doc.Content[0]
		for _, key := range strings.Split(path, ".") {
			if at = child(at, key); at == nil {
				return nil, fmt.Errorf("the YAML file has no %s", path)
			}
		}
		if at.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("%s is no scalar", path)
		}
		line := lines[at.Line-1]
		lines[at.Line-1] = line[:at.Column-1] + value + "\n"
	}
	return []byte(strings.Join(lines, "")), nil
}

func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
