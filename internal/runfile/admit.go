package runfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

	"loadstone.dev/loadstone/config/crd"
)

// admit holds an object against the schema and the rules of BenchmarkRuns, as an API server does when one is created. The error has a
// sentence for each thing that is wrong.
func admit(ctx context.Context, object map[string]any) error {
	internal, structural, err := definition()
	if err != nil {
		return err
	}
	unknown := pruning.PruneWithOptions(object, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return fmt.Errorf("%s: there is no such field: correct its name or its place, or remove it", strings.Join(unknown, ", "))
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return fmt.Errorf("reading the definition of BenchmarkRuns: %w", err)
	}
	wrong := validation.ValidateCustomResource(nil, object, validator)
	wrong = append(wrong, listtype.ValidateListSetsAndMaps(nil, structural, object)...)
	if len(wrong) == 0 { // Rules take a valid object for granted.
		rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
		wrong, _ = rules.Validate(ctx, nil, structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	return sentences(wrong)
}

// definition is the schema of BenchmarkRuns in the two forms that checks need.
func definition() (*apiextensions.JSONSchemaProps, *schema.Structural, error) {
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.BenchmarkRun, &d); err != nil {
		return nil, nil, fmt.Errorf("reading the definition of BenchmarkRuns: %w", err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(d.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, nil, fmt.Errorf("reading the definition of BenchmarkRuns: %w", err)
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the definition of BenchmarkRuns: %w", err)
	}
	return &internal, structural, nil
}

// sentences joins what is wrong, each thing once; nil if nothing is.
func sentences(wrong field.ErrorList) error {
	var all []string
	for _, e := range wrong {
		if text := e.Error(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return errors.New(strings.Join(all, "; "))
}
