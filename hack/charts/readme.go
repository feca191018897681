package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	return []byte(strings.Replace(readmeTemplate, "VALUES\n", table(rows), 1)), nil
}

type row struct {
	parent, key, comment string
	// standard is the default, in YAML on one line. Empty: this is a map of values, whose rows follow.
	standard string
}

// valueRows returns a row for each value below a path. A map without comments inside is one value.
func valueRows(path string, m *yaml.Node) ([]row, error) {
	var rows []row
	for i := 0; i < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		r := row{parent: path, key: key.Value, comment: comment(key)}
		if r.comment == "" {
			return nil, fmt.Errorf("%s says nothing of %s: give it a comment", filepath.Join(chartDir, "values.yaml"), join(path, key.Value))
		}
		var below []row
		var err error
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && comment(value.Content[0]) != "" {
			below, err = valueRows(join(path, key.Value), value)
		} else {
			r.standard, err = inline(value)
		}
		if err != nil {
			return nil, err
		}
		rows = append(append(rows, r), below...)
	}
	return rows, nil
}

// Values with the same key and comment share the row of the last of them.
func table(rows []row) string {
	var out strings.Builder
	for i, r := range rows {
		if r.standard == "" {
			fmt.Fprintf(&out, "| **%s** | %s | |\n", join(r.parent, r.key), r.comment)
			continue
		}
		alike := func(other row) bool { return other.key == r.key && other.comment == r.comment && other.standard != "" }
		if slices.ContainsFunc(rows[i+1:], alike) {
			continue
		}
		var parents, standards []string
		for _, other := range rows {
			if alike(other) {
				parents, standards = append(parents, other.parent), append(standards, "`"+other.standard+"`")
			}
		}
		if distinct := slices.Compact(slices.Clone(standards)); len(distinct) == 1 {
			standards = distinct
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", join(among(parents, rows, r.key), r.key), r.comment, strings.Join(standards, ", "))
	}
	return out.String()
}

// among names several maps as one: with a star if all maps next to them have the key, otherwise as a list in braces.
func among(parents []string, rows []row, key string) string {
	if len(parents) == 1 {
		return parents[0]
	}
	before := parents[0][:strings.LastIndex(parents[0], ".")+1]
	if slices.ContainsFunc(parents, func(p string) bool { return !strings.HasPrefix(p, before) }) {
		before = ""
	}
	without := func(r row) bool {
		return r.parent+"." == before && r.standard == "" &&
			!slices.ContainsFunc(rows, func(v row) bool { return v.parent == join(r.parent, r.key) && v.key == key })
	}
	if before != "" && !slices.ContainsFunc(rows, without) {
		return before + "*"
	}
	names := make([]string, len(parents))
	for i, p := range parents {
		names[i] = strings.TrimPrefix(p, before)
	}
	return before + "{" + strings.Join(names, ",") + "}"
}

func join(path, key string) string {
	return strings.TrimPrefix(path+"."+key, ".")
}

func comment(key *yaml.Node) string {
	block := key.HeadComment[strings.LastIndex(key.HeadComment, "\n\n")+1:]
	var words []string
	for line := range strings.Lines(block) {
		words = append(words, strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "#"))...)
	}
	return strings.ReplaceAll(strings.Join(words, " "), "|", `\|`)
}

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
