package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// checkRepeatable finds what changes from one rendering to the next: a tool that renders the chart for each comparison,
// as Argo CD does, would install it each time. The renderings are for the oldest and the newest Kubernetes.
func (r repository) checkRepeatable(ctx context.Context) ([]string, error) {
	first, err := r.rendered(ctx, "")
	if err != nil {
		return nil, err
	}
	r.kubeVersion = oldest
	second, err := r.rendered(ctx, "")
	if err != nil {
		return nil, err
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		return []string{"(-Kubernetes " + newest + " +" + oldest + ")\n" + diff}, nil
	}
	return nil, nil
}

// checkUpgrade finds what an upgrade to another version of Loadstone would change of MinIO's pod, which holds the artifacts.
func (r repository) checkUpgrade(ctx context.Context) ([]string, error) {
	var specs []string
	for _, tag := range []string{"v1", "v2"} {
		list, err := r.chart(ctx, "images.tag="+tag)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if o.text("kind") != "StatefulSet" {
				continue
			}
			body, err := yaml.Marshal(o.at("spec"))
			if err != nil {
				return nil, fmt.Errorf("writing %s: %w", o.key(), err)
			}
			specs = append(specs, string(body))
		}
	}
	if len(specs) != 2 || !strings.Contains(specs[0], "volumeClaimTemplates") {
		return []string{"MinIO has no volume by default"}, nil
	}
	if diff := cmp.Diff(specs[0], specs[1]); diff != "" {
		return []string{"another images.tag changes MinIO (-v1 +v2)\n" + diff}, nil
	}
	return nil, nil
}

// clusters are the resources that lie in no namespace, and to which a Role can give no right.
var clusters = []string{"nodes", "subjectaccessreviews", "tokenreviews"}

// checkConfined finds rights in all namespaces that are left where the values name those of runs.
func (r repository) checkConfined(ctx context.Context) ([]string, error) {
	list, err := r.chart(ctx, "runs.namespaces={team}", "webhook.enabled=true", "ui.enabled=true")
	if err != nil {
		return nil, err
	}
	return confinedFindings(list)
}

func confinedFindings(list []object) ([]string, error) {
	bound, found := map[string]bool{}, false
	for _, o := range list {
		if o.text("kind") == "ClusterRoleBinding" {
			bound[o.text("roleRef", "name")] = true
		}
		found = found || o.key() == "Role team/loadstone-runs"
	}
	var findings []string
	if !found {
		findings = append(findings, "there is no Role for the operator in namespace team")
	}
	for _, o := range list {
		if o.text("kind") != "ClusterRole" || !bound[o.text("metadata", "name")] {
			continue
		}
		var rules []rbacv1.PolicyRule
		if err := into(o.at("rules"), &rules); err != nil {
			return nil, err
		}
		for _, rule := range rules {
			for _, resource := range rule.Resources {
				// To ask for namespaces by their names is to ask whether those are there that the values name.
				if !slices.Contains(clusters, resource) && (resource != "namespaces" || len(rule.ResourceNames) == 0) {
					findings = append(findings, o.key()+" allows to "+strings.Join(rule.Verbs, ", ")+" "+resource+" in all namespaces")
				}
			}
		}
	}
	return findings, nil
}
