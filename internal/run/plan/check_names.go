package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
)

type named struct{ field, name string }

// checkNames refuses names that no object can have, since a client's error for them differs from that for a missing
// object. Locally there are no objects; ConfigMaps of loads, which are folders there, are checked when read.
func checkNames(spec v1alpha1.BenchmarkRunSpec, local bool) *Violation {
	if local {
		return nil
	}
	var all []named
	for i, impl := range spec.Implementations {
		field := fmt.Sprintf("spec.implementations[%d]", i)
		all = append(all, namesOf(field, impl.ContainerSettings)...)
		for n, d := range impl.Dependencies {
			all = append(all, namesOf(fmt.Sprintf("%s.dependencies[%d]", field, n), d.ContainerSettings)...)
		}
	}
	return kind.Each(all, func(_ int, n named) *Violation { return CheckName(n.field, n.name) })
}

// CheckName refuses an impossible object name; empty is allowed.
func CheckName(field, name string) *Violation {
	if name == "" || len(validation.IsDNS1123Subdomain(name)) == 0 {
		return nil
	}
	return kind.Invalid("%s is %q, which no object can be named: use lower-case letters, digits, '-' and '.', with a letter or digit at both ends and around each '.'", field, name)
}

func namesOf(container string, own v1alpha1.ContainerSettings) []named {
	var out []named
	add := func(name, format string, args ...any) {
		out = append(out, named{container + "." + fmt.Sprintf(format, args...), name})
	}
	for n, v := range own.Env {
		add(v.ValueFrom.ConfigMapKeyRef.Name, "env[%d].valueFrom.configMapKeyRef.name", n)
		add(v.ValueFrom.SecretKeyRef.Name, "env[%d].valueFrom.secretKeyRef.name", n)
	}
	for n, e := range own.EnvFrom {
		add(e.Name, "envFrom[%d].name", n)
	}
	for n, f := range own.Files {
		add(f.ConfigMap.Name, "files[%d].configMap.name", n)
		add(f.Secret.Name, "files[%d].secret.name", n)
	}
	for n, s := range own.ImagePullSecrets {
		add(s.Name, "imagePullSecrets[%d].name", n)
	}
	return out
}

// PullSecrets returns the names of the Secrets for pulling a run's images.
func PullSecrets(spec v1alpha1.BenchmarkRunSpec) []string {
	var names []string
	add := func(own v1alpha1.ContainerSettings) {
		for _, s := range own.ImagePullSecrets {
			names = append(names, s.Name)
		}
	}
	for _, impl := range spec.Implementations {
		add(impl.ContainerSettings)
		for _, d := range impl.Dependencies {
			add(d.ContainerSettings)
		}
	}
	return names
}

// borrowed are the fields that name a ConfigMap or Secret whose content is measured, at any depth. imagePullSecrets
// is not one.
var borrowed = []string{"configMap", "configMapKeyRef", "secret", "secretKeyRef", "envFrom"}

// Borrows reports whether a run measures contents of ConfigMaps or Secrets, which can change while the spec does not.
func Borrows(spec v1alpha1.BenchmarkRunSpec) bool {
	text, _ := json.Marshal(spec) // It came as JSON.
	var tree any
	return json.Unmarshal(text, &tree) != nil || borrows(tree)
}

func borrows(node any) bool {
	switch node := node.(type) {
	case []any:
		return slices.ContainsFunc(node, borrows)
	case map[string]any:
		for field, value := range node {
			if slices.Contains(borrowed, field) || borrows(value) {
				return true
			}
		}
	}
	return false
}
