package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/config/crd"
	"loadstone.dev/loadstone/internal/base/util"
)

// etcd refuses objects of more than 1.5 MiB. The suite's spec and the records of its field managers need room, too.
const mostOfStatus = 1 << 20

// largest returns the most bytes that a value of a schema can have as JSON, with strings of four-byte characters. The lists in budgets are limited
// in bytes, and messages too.
func largest(t *testing.T, path string, s apiextensionsv1.JSONSchemaProps, budgets map[string]int) int {
	t.Helper()
	switch s.Type {
	case "object":
		size := len("{}")
		for name, p := range s.Properties {
			size += len(name) + len(`"":,`) + largest(t, path+"."+name, p, budgets)
		}
		return size
	case "array":
		if s.MaxItems == nil {
			t.Fatalf("%s has no maxItems", path)
		}
		item := len(",") + largest(t, path+"[]", *s.Items.Schema, budgets)
		if budget, ok := budgets[path]; ok {
			if path == "status.history" {
				return max(budget, 3*item) // The newest, the judging and the requested round stay, whatever their size.
			}
			return max(budget, item)
		}
		return len("[]") + int(*s.MaxItems)*item
	case "string":
		switch {
		case len(s.Enum) > 0:
			return len(slices.MaxFunc(s.Enum, func(a, b apiextensionsv1.JSON) int { return len(a.Raw) - len(b.Raw) }).Raw)
		case s.Format == "date-time":
			return len(`"2026-03-02T12:00:00Z"`)
		case path == "status.conditions[].message":
			return len(`""`) + maxCondition
		case s.MaxLength == nil:
			t.Fatalf("%s has no maxLength", path)
		case strings.HasSuffix(path, ".message"):
			return len(`""`) + int(*s.MaxLength)
		}
		return len(`""`) + 4*int(*s.MaxLength)
	case "integer":
		return len("-9223372036854775808")
	}
	t.Fatalf("%s is a %s", path, s.Type)
	return 0
}

func TestLargestStatusFitsIntoEtcd(t *testing.T) {
	var kind apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.BenchmarkSuite, &kind); err != nil {
		t.Fatal(err)
	}
	status := kind.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	without := largest(t, "status", status, nil)
	if without <= mostOfStatus {
		t.Errorf("without limits in bytes the status has at most %d bytes: the limits are not needed", without)
	}
	const beforeBytes = 32 << 10 // That of notify.
	if size := largest(t, "status", status, map[string]int{
		"status.history": linesBytes, "status.goodRounds": goodBytes, "status.inputs.images": imagesBytes, "status.measuredBefore": beforeBytes,
	}); size > mostOfStatus {
		t.Errorf("the status may have %d bytes, want at most %d", size, mostOfStatus)
	}
}

// long is a value of the largest size.
var long = strings.Repeat("\U0001F680", 1024)

func TestLongParametersShortenTheHistory(t *testing.T) {
	d := &decision{Facts: Facts{Suite: &v1alpha1.BenchmarkSuite{}}}
	var values []v1alpha1.ParameterValue
	for i := range 8 {
		values = append(values, v1alpha1.ParameterValue{Name: fmt.Sprint("p", i), Value: long})
	}
	for i := range 15 {
		d.lines = append(d.lines, v1alpha1.SuiteRound{Round: int32(15 - i), Parameters: values, Outcome: v1alpha1.RoundPassed, Inputs: "x", CompletionTime: &metav1.Time{}})
	}
	kept := d.remembered()
	if size := util.Size(kept); size > linesBytes || len(kept) < 2 || kept[0].Round != 15 {
		t.Errorf("%d rounds of %d bytes are kept, from round %d", len(kept), size, kept[0].Round)
	}
	d.lines = d.lines[:1]
	if kept := d.remembered(); len(kept) != 1 {
		t.Errorf("of one round, %d are kept", len(kept))
	}
}

func TestLongPrefixesShortenTheGoodRounds(t *testing.T) {
	var known []v1alpha1.GoodRound
	for i := range maxGood {
		g := v1alpha1.GoodRound{Round: int32(maxGood - i)}
		for run := range 16 {
			g.Runs = append(g.Runs, v1alpha1.GoodRun{Name: fmt.Sprint(run), Prefix: strings.Repeat("p", 256), Report: strings.Repeat("r", 512), Run: v1alpha1.PastRun{ManifestSHA256: strings.Repeat("0", 64)}})
		}
		known = append(known, g)
	}
	kept := goodRounds(known, nil)
	if text, err := json.Marshal(kept); err != nil || len(text) > goodBytes || len(kept) < 2 || kept[0].Round != maxGood {
		t.Errorf("%d good rounds of %d bytes are kept, %v", len(kept), len(text), err)
	}
}
