package suite

import (
	"fmt"
	"regexp"
	"strings"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// placeholder is a parameter in a text. A second dollar sign before it makes it a text of its own.
var placeholder = regexp.MustCompile(`\$?\$\([a-z](?:[-a-z0-9]*[a-z0-9])?\)`)

// parameterValues are the values of a suite's parameters, in their order.
func parameterValues(spec v1alpha1.BenchmarkSuiteSpec) ([]v1alpha1.ParameterValue, *Problem) {
	var values []v1alpha1.ParameterValue
	for _, p := range spec.Parameters {
		pattern := p.Pattern
		if pattern == "" {
			pattern = ".*"
		}
		matcher, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil {
			return nil, invalid("parameters[%s].pattern is no regular expression: %v", p.Name, err)
		}
		if !matcher.MatchString(p.Default) {
			return nil, invalid("parameters[%s].default is %q, which does not match its pattern %s", p.Name, p.Default, pattern)
		}
		values = append(values, v1alpha1.ParameterValue{Name: p.Name, Value: p.Default})
	}
	return values, nil
}

// fill puts the values of parameters in their places. What names no parameter stays as it is: it may be meant for a shell.
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

// edit changes the texts of a template in which parameters may stand, at whatever depth: image, command, args, and the values of env.
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

// invalid is a problem of the spec, which only a change of it can solve.
func invalid(format string, args ...any) *Problem {
	return &Problem{v1alpha1.ReasonInvalidSpec, fmt.Sprintf(format, args...)}
}
