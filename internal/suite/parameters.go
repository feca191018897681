package suite

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
)

// placeholder matches a parameter in a text. A second dollar sign escapes it.
var placeholder = regexp.MustCompile(`\$?\$\([a-z](?:[-a-z0-9]*[a-z0-9])?\)`)

func parameterValues(spec v1alpha1.BenchmarkSuiteSpec, given []v1alpha1.ParameterValue) ([]v1alpha1.ParameterValue, *Problem) {
	for _, g := range given {
		if !slices.ContainsFunc(spec.Parameters, func(p v1alpha1.Parameter) bool { return p.Name == g.Name }) {
			return nil, invalid("the request sets %s, but the suite has no such parameter", g.Name)
		}
	}
	var values []v1alpha1.ParameterValue
	for _, p := range spec.Parameters {
		pattern := p.Pattern
		if pattern == "" {
			pattern = ".*"
		}
		matcher, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil {
			return nil, invalid("parameters[%s].pattern is not a regular expression: %v", p.Name, err)
		}
		value, field := p.Default, fmt.Sprintf("parameters[%s].default", p.Name)
		if g := util.First(given, func(g *v1alpha1.ParameterValue) bool { return g.Name == p.Name }); g != nil {
			value, field = g.Value, fmt.Sprintf("the value that the request gives to parameters[%s]", p.Name)
		}
		if !matcher.MatchString(value) {
			return nil, invalid("%s is %q, which does not match its pattern %s", field, value, pattern)
		}
		values = append(values, v1alpha1.ParameterValue{Name: p.Name, Value: value})
	}
	return values, nil
}

// fill replaces parameters. Unknown names stay, since they may be meant for a shell.
func fill(text string, values []v1alpha1.ParameterValue) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "$()")
		for _, v := range values {
			if v.Name != name {
				continue
			}
			if strings.HasPrefix(found, "$$") {
				return found[1:]
			}
			return v.Value
		}
		return found
	})
}

// edit changes the texts of a template that may hold parameters: image, command, args and the values of env, at any
// depth.
func edit(node any, change func(field, text string) string) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			edit(item, change)
		}
	case map[string]any:
		for field, value := range node {
			switch field {
			case "image":
				if text, ok := value.(string); ok {
					node[field] = change(field, text)
				}
			case "command", "args":
				editList(value, field, change)
			case "env":
				editVariables(value, change)
			default:
				edit(value, change)
			}
		}
	}
}

func editList(value any, field string, change func(field, text string) string) {
	list, _ := value.([]any)
	for i, item := range list {
		if text, ok := item.(string); ok {
			list[i] = change(field, text)
		}
	}
}

func editVariables(value any, change func(field, text string) string) {
	list, _ := value.([]any)
	for _, item := range list {
		variable, _ := item.(map[string]any)
		if text, ok := variable["value"].(string); ok {
			variable["value"] = change("env", text)
		}
	}
}

// Problem is why a suite cannot start a round.
type Problem struct{ Reason, Message string }

func invalid(format string, args ...any) *Problem {
	return &Problem{v1alpha1.ReasonInvalidSpec, fmt.Sprintf(format, args...)}
}
