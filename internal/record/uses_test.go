package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

// configured names an object in every possible place.
func configured() record.Implementation {
	return record.Implementation{
		Name: "go",
		Container: record.Container{
			Env:     []record.Variable{{Name: "A", Value: "1"}, {Name: "B", From: record.Object{Secret: "keys"}, Key: "b"}},
			EnvFrom: []record.VariableSource{{Kind: "ConfigMap", Name: "app"}, {Kind: "Secret", Name: "keys"}},
			Files:   []record.FileMount{{Path: "/etc/app", From: record.Object{ConfigMap: "files"}}},
		},
		Dependencies: []record.Dependency{{Name: "db", Container: record.Container{
			Env: []record.Variable{{Name: "C", From: record.Object{ConfigMap: "app"}, Key: "c"}},
		}}},
	}
}

func TestEveryPlaceThatNamesAnObjectIsKnown(t *testing.T) {
	want := []record.Use{
		{Field: "implementations[go].env[1].valueFrom", Object: record.Object{Secret: "keys"}, Key: "b"},
		{Field: "implementations[go].envFrom[0]", Object: record.Object{ConfigMap: "app"}},
		{Field: "implementations[go].envFrom[1]", Object: record.Object{Secret: "keys"}},
		{Field: "implementations[go].files[0]", Object: record.Object{ConfigMap: "files"}},
		{Field: "implementations[go].dependencies[db].env[0].valueFrom", Object: record.Object{ConfigMap: "app"}, Key: "c"},
	}
	if diff := cmp.Diff(want, configured().Uses()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhichKeysOfAConfigMapAreRead(t *testing.T) {
	reads := func(keys ...string) record.Implementation {
		i := record.Implementation{Name: "go"}
		for _, k := range keys {
			i.Container.Env = append(i.Container.Env, record.Variable{From: record.Object{ConfigMap: "app"}, Key: k})
		}
		return i
	}
	for name, tc := range map[string]struct {
		given []record.Implementation
		want  []string
	}{
		"no key":                        {},
		"each key once, in order":       {[]record.Implementation{reads("c", "a"), reads("a")}, []string{"a", "c"}},
		"all, as files or envFrom take": {[]record.Implementation{reads("c"), configured()}, nil},
	} {
		if diff := cmp.Diff(tc.want, record.KeysOf(tc.given, "app")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAManifestSaysWhichConfigMapsAnImplementationWasGiven(t *testing.T) {
	m := record.RunManifest{ConfigMaps: []record.ConfigMap{{Name: "files", SHA256: "f"}, {Name: "others", SHA256: "o"}, {Name: "app", SHA256: "a"}}}
	want := []record.ConfigMap{{Name: "app", SHA256: "a"}, {Name: "files", SHA256: "f"}}
	if diff := cmp.Diff(want, m.Given(configured())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (record.RunManifest{}).Given(configured()); got != nil {
		t.Errorf("a record from before has %v", got)
	}
}
