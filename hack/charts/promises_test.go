package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Argo CD renders the chart for each comparison. Random output would look like a change.
func TestTheChartRendersTheSameTwiceAndForTheOldestKubernetes(t *testing.T) {
	if diff := cmp.Diff(string(rendered(t, newest, "")), string(rendered(t, oldest, ""))); diff != "" {
		t.Errorf("(-Kubernetes %s +%s)\n%s", newest, oldest, diff)
	}
}

// MinIO's pod holds the artifacts.
func TestAnUpgradeOfLoadstoneLeavesMinIOAlone(t *testing.T) {
	var specs []any
	for _, tag := range []string{"v1", "v2"} {
		for _, o := range chart(t, "images.tag="+tag) {
			if o.text("kind") == "StatefulSet" {
				specs = append(specs, o.at("spec"))
			}
		}
	}
	if len(specs) != 2 || (object{"spec": specs[0]}).at("spec", "volumeClaimTemplates") == nil {
		t.Fatal("MinIO has no volume by default")
	}
	if diff := cmp.Diff(specs[0], specs[1]); diff != "" {
		t.Errorf("another images.tag changes MinIO (-v1 +v2)\n%s", diff)
	}
}

func TestListedNamespacesLimitRights(t *testing.T) {
	for namespace, settings := range map[string][]string{"default": nil, "team": {"runs.namespaces={team}"}} {
		for _, finding := range confinedFindings(t, chart(t, append(settings, "webhook.enabled=true", "ui.enabled=true")...), namespace) {
			t.Errorf("%q: %s", settings, finding)
		}
	}
}

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
			if got := confinedFindings(t, mustParse(t, tc.chart), "team"); !slices.Equal(got, tc.want) {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

// clusters are cluster-scoped resources. A Role cannot grant them.
var clusters = []string{"nodes"}

// confinedFindings finds rights in all namespaces, and a missing Role in one.
func confinedFindings(t *testing.T, list []object, namespace string) []string {
	t.Helper()
	bound, found := map[string]bool{}, false
	for _, o := range list {
		if o.text("kind") == "ClusterRoleBinding" {
			bound[o.text("roleRef", "name")] = true
		}
		found = found || o.key() == "Role "+namespace+"/loadstone-runs"
	}
	var findings []string
	if !found {
		findings = append(findings, "there is no Role for the operator in namespace "+namespace)
	}
	for _, o := range list {
		if o.text("kind") != "ClusterRole" || !bound[o.text("metadata", "name")] {
			continue
		}
		for _, rule := range into[[]rbacv1.PolicyRule](t, o.at("rules")) {
			for _, resource := range rule.Resources {
				// A right on named namespaces only checks that these exist.
				if !slices.Contains(clusters, resource) && (resource != "namespaces" || len(rule.ResourceNames) == 0) {
					findings = append(findings, o.key()+" allows to "+strings.Join(rule.Verbs, ", ")+" "+resource+" in all namespaces")
				}
			}
		}
	}
	return findings
}
