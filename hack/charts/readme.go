package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

const readmeFile = chartDir + "/README.md"

// readmeTemplate is the page. The table rows replace its line VALUES.
//
//go:embed readme.tmpl
var readmeTemplate string

func (r repository) readme() ([]byte, error) {
	body, err := os.ReadFile(r.path(chartDir, "values.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(body, &doc); err != nil {
		return nil, fmt.Errorf("reading values: %w", err)
	}
	rows, err := valueRows("", doc.Content[0])
	if err != nil {
		return nil, err
	}
	return []byte(strings.Replace(readmeTemplate, "VALUES\n", strings.Join(rows, ""), 1)), nil
}

// valueRows returns a table row for each value below a path. A map without comments inside is one value.
func valueRows(path string, m *yaml.Node) ([]string, error) {
	var rows []string
	for i := 0; i < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		name := strings.TrimPrefix(path+"."+key.Value, ".")
		said := comment(key)
		if said == "" {
			return nil, fmt.Errorf("%s says nothing of %s: give it a comment", filepath.Join(chartDir, "values.yaml"), name)
		}
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && comment(value.Content[0]) != "" {
			below, err := valueRows(name, value)
			if err != nil {
				return nil, err
			}
			rows = append(rows, fmt.Sprintf("| **%s** | %s | |\n", name, said))
			rows = append(rows, below...)
			continue
		}
		is, err := inline(value)
		if err != nil {
			return nil, err
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | `%s` |\n", name, said, is))
	}
	return rows, nil
}

// comment returns the comment above a key, in one line.
func comment(key *yaml.Node) string {
	block := key.HeadComment[strings.LastIndex(key.HeadComment, "\n\n")+1:]
	var words []string
	for line := range strings.Lines(block) {
		words = append(words, strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "#"))...)
	}
	return strings.ReplaceAll(strings.Join(words, " "), "|", `\|`)
}

// inline is a value on one line.
func inline(value *yaml.Node) (string, error) {
	flow := bare(value)
	body, err := yaml.Marshal(flow)
	if err != nil {
		return "", fmt.Errorf("writing a value: %w", err)
	}
	return strings.Join(strings.Fields(string(body)), " "), nil
}

// bare copies a value without comments, in one-line style.
func bare(n *yaml.Node) *yaml.Node {
	out := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style | yaml.FlowStyle}
	if n.Kind == yaml.ScalarNode {
		out.Style = n.Style
	}
	for _, c := range n.Content {
		out.Content = append(out.Content, bare(c))
	}
	return out
}
