package runfile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	names "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// admit checks an object against its form's schema and rules, like an API server, and returns every problem with its line. Unlike there, an invalid
// value only skips the rules of values that contain it.
func admit(ctx context.Context, object map[string]any, of form, lines tree) ([]Problem, error) {
	checks, err := of.checks()
	if err != nil {
		return nil, err
	}
	structural := checks.structural
	var problems []Problem
	var faults []string
	unknown := pruning.PruneWithOptions(object, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	faults = append(faults, unknown...)
	for _, path := range first(unknown) {
		line, _ := lines.line(path)
		problems = append(problems, Problem{line, unknownField(structural, path)})
	}
	if text := checkName(object); text != "" {
		line, _ := lines.line("metadata.name")
		problems = append(problems, Problem{line, text})
		faults = append(faults, "metadata.name")
	}
	wrong := validation.ValidateCustomResource(nil, object, checks.schema)
	wrong = append(wrong, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
	for _, e := range wrong {
		if e.Type != field.ErrorTypeInvalid && e.Type != field.ErrorTypeDuplicate { // Rules can be asked about a value out of bounds.
			faults = append(faults, pathOf(e))
		}
	}
	wrong = slices.DeleteFunc(wrong, repeats(wrong))
	for _, e := range first(wrong) {
		path := pathOf(e)
		problems = append(problems, Problem{lines.lineOf(path, e.Detail), sentence(object, path, e)})
	}
	for _, e := range first(checks.brokenRules(ctx, object, faults)) {
		path := pathOf(e)
		problems = append(problems, Problem{lines.lineOf(path, e.Detail), about(path, e.Detail)})
	}
	return problems, nil
}

// repeats reports whether an error repeats that a value has the wrong type.
func repeats(all field.ErrorList) func(*field.Error) bool {
	mistyped := map[string]bool{}
	for _, e := range all {
		if e.Type == field.ErrorTypeTypeInvalid || e.Type == field.ErrorTypeInvalid && otherType.MatchString(strings.TrimPrefix(e.Detail, pathOf(e)+" in body ")) {
			mistyped[pathOf(e)] = true
		}
	}
	return func(e *field.Error) bool {
		return strings.HasPrefix(e.Detail, "Checked value must be of type ") || e.Type == field.ErrorTypeNotSupported && mistyped[pathOf(e)]
	}
}

// checkName says why the object's name is invalid; empty if it is valid.
func checkName(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	switch name := metadata["name"].(type) {
	case nil:
		return "metadata.name is missing: set it"
	case string:
		if len(names.NameIsDNSSubdomain(name, false)) > 0 {
			return fmt.Sprintf("metadata.name is %q: use lowercase letters, digits and dashes, and start and end with a letter or digit", name)
		}
	default:
		return fmt.Sprintf("metadata.name: YAML does not read %s as text: put it in quotes", shown(name))
	}
	return ""
}

// brokenRules checks the rules of an object's schema. An object with very many faults is not checked.
func (c *checks) brokenRules(ctx context.Context, object map[string]any, faults []string) field.ErrorList {
	switch {
	case len(faults) > mostProblems:
		return nil
	case len(faults) > 0:
		r := rules{faults: faults, validators: map[*schema.Structural]*cel.Validator{}}
		return r.broken(ctx, nil, c.structural, object)
	}
	wrong, _ := c.rules.Validate(ctx, nil, c.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return wrong
}

// rules checks the rules of an object that has faults.
type rules struct {
	// faults are paths of fields.
	faults []string
	// validators are for items of lists: compiling one takes milliseconds.
	validators map[*schema.Structural]*cel.Validator
}

// broken checks the rules of a value. Rules assume a valid value, so those of a value that contains a fault are left out. Rules of the whole object only
// concern its name, so they are checked whatever its spec contains.
func (r rules) broken(ctx context.Context, at *field.Path, own *schema.Structural, value any) field.ErrorList {
	if !slices.ContainsFunc(r.faults, func(fault string) bool { return within(at, fault) }) {
		wrong, _ := r.validator(own, at == nil).Validate(ctx, at, own, value, nil, celconfig.RuntimeCELCostBudget)
		return wrong
	}
	var wrong field.ErrorList
	if at == nil && !slices.Contains(r.faults, "metadata.name") {
		named := *own
		named.Properties = map[string]schema.Structural{"metadata": own.Properties["metadata"]}
		wrong, _ = r.validator(&named, true).Validate(ctx, nil, &named, value, nil, celconfig.RuntimeCELCostBudget)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if below, ok := own.Properties[name]; ok {
				wrong = append(wrong, r.broken(ctx, at.Child(name), &below, value[name])...)
			}
		}
	case []any:
		if own.Items == nil || tooMany(own, value) {
			break
		}
		for i := range value {
			wrong = append(wrong, r.broken(ctx, at.Index(i), own.Items, value[i])...)
		}
	}
	return wrong
}

// validator compiles the rules of a schema, once for all items of a list.
func (r rules) validator(of *schema.Structural, root bool) *cel.Validator {
	if r.validators[of] == nil {
		r.validators[of] = cel.NewValidator(of, root, celconfig.PerCallLimit)
	}
	return r.validators[of]
}

func tooMany(own *schema.Structural, list []any) bool {
	return own.ValueValidation != nil && own.ValueValidation.MaxItems != nil && int64(len(list)) > *own.ValueValidation.MaxItems
}

func within(at *field.Path, path string) bool {
	if at == nil {
		return true
	}
	rest, found := strings.CutPrefix(path, at.String())
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

type checks struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func compile(kind string, definition []byte) (*checks, error) {
	c, err := compileDefinition(definition)
	if err != nil {
		return nil, fmt.Errorf("reading the %s schema: %w", kind, err)
	}
	return c, nil
}

func compileDefinition(definition []byte) (*checks, error) {
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(definition, &d); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(d.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	return &checks{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

func pathOf(e *field.Error) string {
	if e.Field == "<nil>" {
		return ""
	}
	return e.Field
}
