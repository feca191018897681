package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

func (r repository) checkRestricted(ctx context.Context) ([]string, error) {
	list, err := r.chart(ctx, "webhook.enabled=true", "ui.enabled=true")
	if err != nil {
		return nil, err
	}
	var findings []string
	for _, o := range list {
		var found []string
		switch o.text("kind") {
		case "Deployment", "StatefulSet", "Job":
			var spec corev1.PodSpec
			if err := into(o.at("spec", "template", "spec"), &spec); err != nil {
				return nil, err
			}
			found = podFindings(spec)
		case "Pod":
			var spec corev1.PodSpec
			if err := into(o.at("spec"), &spec); err != nil {
				return nil, err
			}
			found = podFindings(spec)
		case "Role", "ClusterRole":
			var rules []rbacv1.PolicyRule
			if err := into(o.at("rules"), &rules); err != nil {
				return nil, err
			}
			found = ruleFindings(rules)
		}
		for _, f := range found {
			findings = append(findings, o.key()+": "+f)
		}
	}
	return findings, nil
}

// into reads a part of an object as what it is.
func into(part, target any) error {
	body, err := yaml.Marshal(part)
	if err != nil {
		return fmt.Errorf("writing part of an object: %w", err)
	}
	if err := yaml.UnmarshalStrict(body, target); err != nil {
		return fmt.Errorf("reading part of an object: %w", err)
	}
	return nil
}

// podFindings is what keeps a pod from being as confined as all of ours are: Pod Security "restricted", a read-only root, a memory
// limit, no CPU limit, and off the nodes that measure.
func podFindings(spec corev1.PodSpec) []string {
	var findings []string
	if s := spec.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0 || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		findings = append(findings, "its pod security context is not that of a restricted pod")
	}
	if spec.HostNetwork || spec.HostPID || spec.HostIPC {
		findings = append(findings, "it uses a namespace of its host")
	}
	for _, v := range spec.Volumes {
		if v.HostPath != nil {
			findings = append(findings, "volume "+v.Name+" is a path of its host")
		}
	}
	if len(spec.Tolerations) > 0 {
		findings = append(findings, "it tolerates taints: only measured pods may")
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		findings = append(findings, "nothing keeps it off the nodes that measure")
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, f := range containerFindings(c) {
			findings = append(findings, "container "+c.Name+" "+f)
		}
	}
	return findings
}

func containerFindings(c corev1.Container) []string {
	var findings []string
	s := c.SecurityContext
	if s == nil {
		return []string{"has no security context"}
	}
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.Privileged != nil && *s.Privileged {
		findings = append(findings, "may gain privileges")
	}
	if s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
		findings = append(findings, "may write to its root filesystem")
	}
	if s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
		findings = append(findings, "keeps capabilities")
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() || !c.Resources.Limits.Cpu().IsZero() {
		findings = append(findings, "must have a CPU request, a memory limit and no CPU limit")
	}
	return findings
}

// ruleFindings is what a role of ours may not say.
func ruleFindings(rules []rbacv1.PolicyRule) []string {
	var findings []string
	for i, rule := range rules {
		for _, list := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs} {
			if slices.Contains(list, "*") {
				findings = append(findings, fmt.Sprintf("rules[%d] has a wildcard", i))
			}
		}
		if slices.Contains(rule.Resources, "secrets") && len(rule.ResourceNames) == 0 {
			findings = append(findings, fmt.Sprintf("rules[%d] reaches Secrets without naming them", i))
		}
		for _, verb := range []string{"escalate", "bind", "impersonate"} {
			if slices.Contains(rule.Verbs, verb) {
				findings = append(findings, fmt.Sprintf("rules[%d] allows %s", i, verb))
			}
		}
	}
	return findings
}
