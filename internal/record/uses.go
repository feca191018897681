package record

import (
	"cmp"
	"fmt"
	"slices"
)

// Use is a setting of an implementation that names a ConfigMap or a Secret.
type Use struct {
	// Field is the place, such as "implementations[go].files[0]".
	Field  string
	Object Object
	// Key is the key that is read; empty for all keys.
	Key string
}

func (i Implementation) Uses() []Use {
	field := fmt.Sprintf("implementations[%s]", i.Name)
	out := i.Container.uses(field)
	for _, d := range i.Dependencies {
		out = append(out, d.Container.uses(fmt.Sprintf("%s.dependencies[%s]", field, d.Name))...)
	}
	return out
}

func (c Container) uses(field string) []Use {
	var out []Use
	for n, v := range c.Env {
		if v.From != (Object{}) {
			out = append(out, Use{fmt.Sprintf("%s.env[%d].valueFrom", field, n), v.From, v.Key})
		}
	}
	for n, e := range c.EnvFrom {
		out = append(out, Use{fmt.Sprintf("%s.envFrom[%d]", field, n), e.object(), ""})
	}
	for n, f := range c.Files {
		out = append(out, Use{fmt.Sprintf("%s.files[%d]", field, n), f.From, ""})
	}
	return out
}

func (e VariableSource) object() Object {
	if e.Kind == "Secret" {
		return Object{Secret: e.Name}
	}
	return Object{ConfigMap: e.Name}
}

// KeysOf returns, in order, the keys that implementations read from a ConfigMap; nil if some setting takes all keys.
func KeysOf(implementations []Implementation, configMap string) []string {
	var keys []string
	for _, i := range implementations {
		for _, u := range i.Uses() {
			if u.Object.ConfigMap != configMap {
				continue
			}
			if u.Key == "" {
				return nil
			}
			keys = append(keys, u.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Absent says which object does not exist, and what to do.
func (u Use) Absent(namespace string) string {
	kind, name := u.Object.Named()
	return fmt.Sprintf("%s names the %s %q, which namespace %q does not have: create it there, or correct the name", u.Field, kind, name, namespace)
}

// WithoutKey says which key does not exist, and what to do.
func (u Use) WithoutKey() string {
	kind, name := u.Object.Named()
	return fmt.Sprintf("%s names the key %q, but the %s %q has no text there: add it, or correct the key", u.Field, u.Key, kind, name)
}

// Named returns the kind and the name of an object.
func (o Object) Named() (kind, name string) {
	if o.Secret != "" {
		return "Secret", o.Secret
	}
	return "ConfigMap", o.ConfigMap
}

// ConfigMap is a used ConfigMap as of the start of the run.
type ConfigMap struct {
	Name string `json:"name"`
	// Keys are those that are read; empty for all keys, and in older records.
	Keys []string `json:"keys,omitempty"`
	// SHA256 is the digest of these keys and values.
	SHA256 string `json:"sha256"`
}

// Given returns the ConfigMaps of an implementation, by name; none in older records.
func (m RunManifest) Given(i Implementation) []ConfigMap {
	var out []ConfigMap
	for _, c := range m.ConfigMaps {
		if slices.ContainsFunc(i.Uses(), func(u Use) bool { return u.Object.ConfigMap == c.Name }) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b ConfigMap) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
