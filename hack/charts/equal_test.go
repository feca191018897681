package main

import (
	"strings"
	"testing"
)

const policy = `
apiVersion: v1
kind: Service
metadata:
  name: a
  namespace: ours
  labels: {app.kubernetes.io/name: loadstone, helm.sh/chart: loadstone-1}
spec: {ports: [{port: 8090}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: ours}
`

func TestDifferences(t *testing.T) {
	cases := map[string]struct {
		config, chart string
		want          []string
	}{
		"labels of the tools, Helm's annotations and the namespace do not count": {
			config: policy,
			chart:  strings.Replace(strings.Split(policy, "---")[0], "  labels:", "  annotations: {helm.sh/resource-policy: keep}\n  labels:", 1),
		},
		"another port is found":               {config: policy, chart: strings.Replace(policy, "8090", "8091", 1), want: []string{"Service ours/a differs"}},
		"a label of another kind is found":    {config: policy, chart: strings.Replace(policy, "app.kubernetes.io/name", "app", 1), want: []string{"Service ours/a differs"}},
		"what config/ alone has is found":     {config: policy, want: []string{"Service ours/a is in config/ and not in the chart"}},
		"what the chart alone has is found":   {chart: policy, want: []string{"Service ours/a is in the chart and not in config/"}},
		"another namespace is another object": {config: policy, chart: strings.ReplaceAll(policy, "namespace: ours", "namespace: other"), want: []string{"Service ours/a is in config/", "Service other/a is in the chart"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := differences(mustParse(t, tc.config), mustParse(t, tc.chart))
			if len(got) != len(tc.want) {
				t.Fatalf("found %q, want %q", got, tc.want)
			}
			for i := range got {
				if !strings.Contains(got[i], tc.want[i]) {
					t.Errorf("found %q, want it to say %q", got[i], tc.want[i])
				}
			}
		})
	}
}

func mustParse(t *testing.T, s string) []object {
	t.Helper()
	list, err := parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
