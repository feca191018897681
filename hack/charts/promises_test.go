package main

import (
	"slices"
	"testing"
)

func TestRightsInAllNamespaces(t *testing.T) {
	const (
		role    = "---\nkind: Role\nmetadata: {name: loadstone-runs, namespace: team}\n"
		nodes   = "---\nkind: ClusterRole\nmetadata: {name: a}\nrules: [{apiGroups: [''], resources: [nodes], verbs: [list]}]\n"
		pods    = "---\nkind: ClusterRole\nmetadata: {name: b}\nrules: [{apiGroups: [''], resources: [nodes, pods], verbs: [list, watch]}]\n"
		named   = "---\nkind: ClusterRole\nmetadata: {name: a}\nrules: [{apiGroups: [''], resources: [namespaces], resourceNames: [team], verbs: [get]}]\n"
		all     = "---\nkind: ClusterRole\nmetadata: {name: a}\nrules: [{apiGroups: [''], resources: [namespaces], verbs: [get]}]\n"
		binding = "---\nkind: ClusterRoleBinding\nmetadata: {name: a}\nroleRef: {kind: ClusterRole, name: a}\n---\nkind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: b}\n"
	)
	for name, tc := range map[string]struct {
		chart string
		want  []string
	}{
		"what lies in no namespace is fine":           {chart: role + nodes + binding},
		"a role that is bound to nobody is fine":      {chart: role + pods},
		"a namespace that is named is fine":           {chart: role + named + binding},
		"all namespaces are found":                    {chart: role + all + binding, want: []string{"ClusterRole /a allows to get namespaces in all namespaces"}},
		"what lies in one is found":                   {chart: role + nodes + pods + binding, want: []string{"ClusterRole /b allows to list, watch pods in all namespaces"}},
		"a namespace without rights of ours is found": {chart: nodes + binding, want: []string{"there is no Role for the operator in namespace team"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := confinedFindings(mustParse(t, tc.chart))
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("found %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}
