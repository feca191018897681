package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestEveryReasonHasOrigin(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, 0)
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
		if v1alpha1.OriginOf(value) == 0 {
			t.Errorf("nothing says whose failure %s tells of", spec.Names[0].Name)
		}
		return true
	})
	if found < 30 {
		t.Errorf("only %d reasons were found", found)
	}
}

func TestReasonNamesOriginOfFailure(t *testing.T) {
	for word, want := range map[string]v1alpha1.Origin{
		v1alpha1.ReasonStoppedEarly:   v1alpha1.OriginNone,
		v1alpha1.ReasonServerExited:   v1alpha1.OriginImplementation,
		v1alpha1.ReasonImagePull:      v1alpha1.OriginSetup,
		v1alpha1.ReasonLoadImpossible: v1alpha1.OriginLoad,
		v1alpha1.ReasonPodLost:        v1alpha1.OriginInfrastructure,
		"NotStarted":                  0,
	} {
		if got := v1alpha1.OriginOf(word); got != want {
			t.Errorf("%s is of origin %d, want %d", word, got, want)
		}
	}
}
