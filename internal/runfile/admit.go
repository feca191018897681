package runfile

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// admit holds an object against the schema and the rules of its form, as an API server does when one is created. It returns a problem for each
// thing that is wrong, with its line.
func admit(ctx context.Context, object map[string]any, of form, lines tree) ([]Problem, error) {
	internal, structural, err := of.schema()
	if err != nil {
		return nil, err
	}
	var problems []Problem
	for _, path := range pruning.PruneWithOptions(object, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		line, _ := lines.line(path)
		problems = append(problems, Problem{line, fmt.Sprintf("%s: there is no such field: %s", path, instead(structural, path))})
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, fmt.Errorf("reading the definition of %ss: %w", of.kind, err)
	}
	wrong := validation.ValidateCustomResource(nil, object, validator)
	wrong = append(wrong, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
	if len(wrong) == 0 { // Rules take a valid object for granted.
		rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
		wrong, _ = rules.Validate(ctx, nil, structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	for _, e := range wrong {
		path := pathOf(e)
		problems = append(problems, Problem{lines.lineOf(path, e.Detail), sentence(path, e)})
	}
	return problems, nil
}

// schema is that of a form, in the two shapes that checks need.
func (f form) schema() (*apiextensions.JSONSchemaProps, *schema.Structural, error) {
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(f.definition, &d); err != nil {
		return nil, nil, fmt.Errorf("reading the definition of %ss: %w", f.kind, err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(d.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, nil, fmt.Errorf("reading the definition of %ss: %w", f.kind, err)
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the definition of %ss: %w", f.kind, err)
	}
	return &internal, structural, nil
}

// pathOf is the path of an error; empty if it is about the whole object.
func pathOf(e *field.Error) string {
	if e.Field == "<nil>" {
		return ""
	}
	return e.Field
}

// otherType is how the schema refuses a value of another type.
var otherType = regexp.MustCompile(`^must be of type (\w+): "(\w+)"$`)

// sentence says what is wrong with a field.
func sentence(path string, e *field.Error) string {
	detail := strings.TrimPrefix(e.Detail, path+" in body ")
	var text string
	switch e.Type {
	case field.ErrorTypeRequired:
		text = "it is missing: give it a value"
	case field.ErrorTypeInvalid, field.ErrorTypeTypeInvalid:
		text = otherType.ReplaceAllString(detail, "it must be of type $1, and $2 is given")
		switch e.BadValue {
		case "object", "array", "string", "number", "integer", "boolean": // The name of a type, in the place of a value.
		default:
			text = fmt.Sprintf("%v %s", e.BadValue, detail)
		}
	default:
		text = e.ErrorBody()
	}
	if path == "" {
		return text
	}
	return path + ": " + text
}
