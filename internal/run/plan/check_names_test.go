package plan

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestANameThatNoObjectCanHaveIsRefused(t *testing.T) {
	own := func(change func(c *v1alpha1.ContainerSettings, name string)) func(*v1alpha1.BenchmarkRunSpec, string) {
		return func(s *v1alpha1.BenchmarkRunSpec, name string) { change(&s.Implementations[1].ContainerSettings, name) }
	}
	files := func(c *v1alpha1.ContainerSettings, name string) {
		c.Files = []v1alpha1.FileMount{{Path: "/etc/app", ConfigMap: v1alpha1.ObjectReference{Name: name}}}
	}
	for name, tc := range map[string]struct {
		field string
		set   func(s *v1alpha1.BenchmarkRunSpec, name string)
	}{
		"a ConfigMap of files": {"spec.implementations[1].files[0].configMap.name", own(files)},
		"a Secret of files": {"spec.implementations[1].files[0].secret.name", own(func(c *v1alpha1.ContainerSettings, name string) {
			c.Files = []v1alpha1.FileMount{{Path: "/etc/app", Secret: v1alpha1.ObjectReference{Name: name}}}
		})},
		"an object of variables": {"spec.implementations[1].envFrom[0].name", own(func(c *v1alpha1.ContainerSettings, name string) {
			c.EnvFrom = []v1alpha1.VariableSource{{Kind: v1alpha1.KindConfigMap, Name: name}}
		})},
		"the ConfigMap of a variable": {"spec.implementations[1].env[0].valueFrom.configMapKeyRef.name", own(func(c *v1alpha1.ContainerSettings, name string) {
			c.Env = []v1alpha1.Variable{{Name: "A", ValueFrom: v1alpha1.ValueSource{ConfigMapKeyRef: v1alpha1.KeyReference{Name: name, Key: "k"}}}}
		})},
		"the Secret of a variable": {"spec.implementations[1].env[0].valueFrom.secretKeyRef.name", own(func(c *v1alpha1.ContainerSettings, name string) {
			c.Env = []v1alpha1.Variable{{Name: "A", ValueFrom: v1alpha1.ValueSource{SecretKeyRef: v1alpha1.KeyReference{Name: name, Key: "k"}}}}
		})},
		"a Secret to pull by": {"spec.implementations[1].imagePullSecrets[0].name", own(func(c *v1alpha1.ContainerSettings, name string) {
			c.ImagePullSecrets = []v1alpha1.ObjectReference{{Name: name}}
		})},
		"a ConfigMap of a dependency": {"spec.implementations[1].dependencies[0].files[0].configMap.name", func(s *v1alpha1.BenchmarkRunSpec, name string) {
			d := v1alpha1.Dependency{Name: "db", Image: "db:1"}
			files(&d.ContainerSettings, name)
			s.Implementations[1].Dependencies = []v1alpha1.Dependency{d}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, bad := range []string{"a/b", "50%", ".", "..", "App", "a_b", "a..b", "-a"} {
				_, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { tc.set(s, bad) }), Options{Name: "r", UID: "u"})
				if want := tc.field + ` is "` + bad + `", which no object can be named: use lower-case letters`; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
			if _, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { tc.set(s, "app-1.example") }), Options{Name: "r", UID: "u"}); err != nil {
				t.Errorf("a name that objects can have: %v", err)
			}
		})
	}
}

// Every field that names a measured object must be known, including future ones.
func TestEachFieldThatNamesAConfigMapOrASecretBorrowsItsContent(t *testing.T) {
	names, seen, found := regexp.MustCompile(`(?i)configmap|secret|from$`), map[reflect.Type]bool{}, 0
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		if of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			look(of.Elem())
			return
		}
		if of.Kind() != reflect.Struct || seen[of] || !strings.HasPrefix(of.PkgPath(), "loadstone.dev/") {
			return
		}
		seen[of] = true
		for f := range of.Fields() {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			holds := []string{"bodyFrom", "valueFrom", "imagePullSecrets"} // The first two hold fields that name one.
			if names.MatchString(field) && !slices.Contains(holds, field) {
				if found++; !slices.Contains(borrowed, field) {
					t.Errorf("%s.%s is none of the fields that borrow", of.Name(), field)
				}
			}
			look(f.Type)
		}
	}
	look(reflect.TypeFor[v1alpha1.BenchmarkRunSpec]())
	if found < 7 {
		t.Errorf("only %d fields are found", found)
	}
}
