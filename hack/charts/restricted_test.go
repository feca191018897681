package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

const confined = `
securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}
containers:
- name: c
  securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
  resources: {requests: {cpu: 50m}, limits: {memory: 64Mi}}
`

func TestPodsAreRestrictedAndRolesAreLimited(t *testing.T) {
	for _, o := range chart(t, "webhook.enabled=true", "ui.enabled=true") {
		var found []string
		switch o.text("kind") {
		case "Deployment", "StatefulSet", "Job":
			found = podFindings(into[corev1.PodSpec](t, o.at("spec", "template", "spec")))
		case "Pod":
			found = podFindings(into[corev1.PodSpec](t, o.at("spec")))
		case "Role", "ClusterRole":
			found = ruleFindings(into[[]rbacv1.PolicyRule](t, o.at("rules")))
		}
		for _, f := range found {
			t.Errorf("%s: %s", o.key(), f)
		}
	}
}

func TestPodFindings(t *testing.T) {
	cases := map[string]struct{ old, new, want string }{
		"a confined pod is fine":               {},
		"root is found":                        {"65532", "0", "not that of a restricted pod"},
		"no seccomp profile is found":          {"RuntimeDefault", "Unconfined", "not that of a restricted pod"},
		"the host's network is found":          {"containers:", "hostNetwork: true\ncontainers:", "namespace of its host"},
		"a path of the host is found":          {"containers:", "volumes: [{name: v, hostPath: {path: /}}]\ncontainers:", "volume v is a path"},
		"a toleration is found":                {"containers:", "tolerations: [{operator: Exists}]\ncontainers:", "tolerates"},
		"a pod that may go anywhere":           {"requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}", "", "keeps it off"},
		"privilege escalation is found":        {"allowPrivilegeEscalation: false", "privileged: true", "may gain privileges"},
		"a writable root is found":             {"readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "root filesystem"},
		"kept capabilities are found":          {"drop: [ALL]", "drop: [ALL], add: [NET_ADMIN]", "keeps capabilities"},
		"a CPU limit is found":                 {"memory: 64Mi", "memory: 64Mi, cpu: 1", "no CPU limit"},
		"an absent memory limit is found":      {"limits: {memory: 64Mi}", "limits: {}", "memory limit"},
		"an absent security context counts":    {"  securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}\n", "", "no security context"},
		"an init container counts like others": {"containers:", "initContainers: [{name: i}]\ncontainers:", "container i has no security context"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(confined, tc.old, tc.new, 1)
			got := strings.Join(podFindings(into[corev1.PodSpec](t, mustParse(t, body)[0])), "; ")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("found %q, want it to say %q", got, tc.want)
			}
		})
	}
}

func TestRuleFindings(t *testing.T) {
	cases := map[string]struct {
		rule rbacv1.PolicyRule
		want string
	}{
		"a named Secret is fine":     {rule: rbacv1.PolicyRule{Resources: []string{"secrets"}, ResourceNames: []string{"a"}, Verbs: []string{"get"}}},
		"an unnamed Secret is found": {rule: rbacv1.PolicyRule{Resources: []string{"pods", "secrets"}, Verbs: []string{"get"}}, want: "without naming"},
		"a wildcard verb is found":   {rule: rbacv1.PolicyRule{Resources: []string{"pods"}, Verbs: []string{"*"}}, want: "wildcard"},
		"escalation is found":        {rule: rbacv1.PolicyRule{Resources: []string{"roles"}, Verbs: []string{"escalate"}}, want: "allows escalate"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(ruleFindings([]rbacv1.PolicyRule{tc.rule}), "; ")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("found %q, want it to say %q", got, tc.want)
			}
		})
	}
}

// podFindings checks a pod: Pod Security "restricted", a read-only root, a memory limit, no CPU limit, and no measuring node.
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
