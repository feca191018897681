package reason_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record/reason"
)

func TestEveryReasonOfTheAPIHasAnOrigin(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../api/v1alpha1/conditions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		found++
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if reason.Of(value) == 0 {
			t.Errorf("nothing says whose failure %s tells of", spec.Names[0].Name)
		}
		return true
	})
	if found < 30 {
		t.Errorf("only %d reasons were found", found)
	}
}

func TestAReasonTellsWhoseFailureItWas(t *testing.T) {
	for word, want := range map[string]reason.Origin{
		v1alpha1.ReasonEnoughMeasured: reason.Nobody,
		v1alpha1.ReasonServerExited:   reason.Implementation,
		v1alpha1.ReasonImagePull:      reason.Setup,
		v1alpha1.ReasonLoadImpossible: reason.Load,
		v1alpha1.ReasonPodLost:        reason.Infrastructure,
		"NotStarted":                  0,
	} {
		if got := reason.Of(word); got != want {
			t.Errorf("%s is of origin %d, want %d", word, got, want)
		}
	}
}
