package runfile

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tree knows the line of every field of a file.
type tree struct{ root *yaml.Node }

// newTree reads the lines of a text's fields. Invalid YAML has none.
func newTree(text []byte) tree {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return tree{}
	}
	return tree{document.Content[0]}
}

// line returns a field's line by its path, such as spec.loads[0].levels[2].connections. For a missing field it is the line of the nearest parent, and
// whole is false.
func (t tree) line(path string) (line int, whole bool) {
	node := t.root
	if node == nil {
		return 0, false
	}
	line = node.Line
	for _, step := range steps(path) {
		key, next := child(node, step)
		if next == nil {
			return line, false
		}
		line, node = key.Line, next
	}
	return line, true
}

// below returns the lines of fields below one, or below its nearest parent if it is missing.
func (t tree) below(path string) tree {
	node := t.root
	for _, step := range steps(path) {
		if node == nil {
			break
		}
		_, next := child(node, step)
		if next == nil {
			break
		}
		node = next
	}
	return tree{node}
}

// steps splits a path into names and indices. A part in brackets is one step, with its dots.
func steps(path string) []string {
	var out []string
	for path != "" {
		end := strings.IndexAny(path, ".[")
		switch {
		case end < 0:
			return append(out, path)
		case end > 0:
			out = append(out, path[:end])
		}
		if path[end] == '.' {
			path = path[end+1:]
			continue
		}
		inside, rest, _ := strings.Cut(path[end+1:], "]")
		if inside != "" {
			out = append(out, inside)
		}
		path = rest
	}
	return out
}

// child returns the value of a name or index below a node, and the node where it begins. Lists also know elements by name.
func child(node *yaml.Node, step string) (key, value *yaml.Node) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
		for _, element := range node.Content {
			if _, name := child(element, "name"); name != nil && name.Value == step {
				return element, element
			}
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
	return nil, nil
}

var fieldPath = regexp.MustCompile(`[a-z][A-Za-z]*(\[[^\]\s]*\])?(\.[a-z][A-Za-z]*(\[[^\]\s]*\])?)*`)

// lineOf returns the line of the first field that a sentence names, by whole or relative path; else that of the other field.
func (t tree) lineOf(below, sentence string) int {
	for _, named := range fieldPath.FindAllString(sentence, -1) {
		if line, whole := t.line(join(below, named)); whole {
			return line
		}
		if line, _ := t.line(named); strings.HasPrefix(named, "spec.") {
			return line
		}
	}
	line, _ := t.line(below)
	return line
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
