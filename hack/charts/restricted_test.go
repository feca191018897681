package main

import (
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
			var spec corev1.PodSpec
			if err := into(mustParse(t, body)[0], &spec); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(podFindings(spec), "; ")
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
