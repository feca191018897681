package webhook

import (
	"fmt"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
	kjson "sigs.k8s.io/json"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// maxCost bounds an expression's cost, in CEL's units.
const maxCost = 1_000_000

// growing functions can build long texts, though CEL counts a call as one.
var growing = []string{"format", "join", "replace", "strings.quote"}

var language = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.Variable("body", cel.DynType), ext.Strings())
})

// Check returns the problem of a suite's webhook; nil if there is no problem or no webhook.
func Check(spec v1alpha1.BenchmarkSuiteSpec) error {
	for _, picked := range spec.Triggers.Webhook.Parameters {
		if !slices.ContainsFunc(spec.Parameters, func(p v1alpha1.Parameter) bool { return p.Name == picked.Name }) {
			return fmt.Errorf("triggers.webhook.parameters[%s]: the suite has no such parameter", picked.Name)
		}
		if _, err := compile(picked); err != nil {
			return err
		}
	}
	return nil
}

// Pick returns the values that a request's body gives to parameters. Without such parameters the body may be
// anything.
func Pick(w v1alpha1.WebhookTrigger, body []byte) ([]v1alpha1.ParameterValue, error) {
	if len(w.Parameters) == 0 {
		return nil, nil
	}
	var parsed any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &parsed); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	var values []v1alpha1.ParameterValue
	for _, p := range w.Parameters {
		program, err := compile(p)
		if err != nil {
			return nil, err
		}
		found, _, err := program.Eval(map[string]any{"body": parsed})
		if err != nil {
			return nil, fmt.Errorf("cannot evaluate %s on the body: %w", field(p), err)
		}
		value, ok := found.Value().(string)
		switch {
		case !ok:
			return nil, fmt.Errorf("%s returns type %s from the body, but must return a string: use CEL's string()", field(p), found.Type().TypeName())
		case !fits(value):
			return nil, fmt.Errorf("%s returns %d bytes from the body: it must return 1 to %d characters", field(p), len(value), maxValue)
		}
		values = append(values, v1alpha1.ParameterValue{Name: p.Name, Value: value})
	}
	return values, nil
}

func compile(p v1alpha1.PickedParameter) (cel.Program, error) {
	env, err := language()
	if err != nil {
		return nil, fmt.Errorf("setting CEL up: %w", err)
	}
	checked, issues := env.Compile(p.Value)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("%s is not a CEL expression: line %d, column %d: %s", field(p), first.Location.Line(), first.Location.Column()+1, first.Message)
	}
	var grows string
	celast.PreOrderVisit(checked.NativeRep().Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		if e.Kind() == celast.CallKind && slices.Contains(growing, e.AsCall().FunctionName()) {
			grows = e.AsCall().FunctionName()
		}
	}))
	if grows != "" {
		return nil, fmt.Errorf("%s calls %s, which can return a string of any length: use a part of the body instead", field(p), grows)
	}
	if t := checked.OutputType(); !t.IsExactType(cel.StringType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("%s returns type %s, but must return a string: use CEL's string()", field(p), t)
	}
	program, err := env.Program(checked, cel.CostLimit(maxCost))
	if err != nil {
		return nil, fmt.Errorf("%s is not a CEL expression: %w", field(p), err)
	}
	return program, nil
}

func field(p v1alpha1.PickedParameter) string {
	return fmt.Sprintf("triggers.webhook.parameters[%s].value", p.Name)
}
