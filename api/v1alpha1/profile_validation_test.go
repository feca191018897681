package v1alpha1_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// A run whose servers are profiled when its blocks have been measured, as users write it.
const profiled = `
apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: RUN, namespace: default}
spec:
  implementations:
  - {name: go, image: "gohttp:dev", command: [/gohttp], port: 8080}
  - {name: epoll, image: "epoll:dev", command: [/epoll], port: 8080}
  baseline: go
  loads: [{name: sweep, tool: wrk, levels: [{connections: 10}]}]
  profiles: [{name: costs, tool: callgrind}]
`

func TestInvalidProfileIsRefusedWithMessage(t *testing.T) {
	c := apiServer(t)
	const own, loads = "{name: costs, tool: callgrind}", "loads: [{name: sweep, tool: wrk, levels: [{connections: 10}]}]"
	const word = "a profile's name: use lower-case letters, digits and '-'; start and end with a letter or digit"
	for name, tc := range map[string]struct{ before, after, want string }{
		"of programs that measure themselves": {loads, "microbenchmark: {format: GoTest}", "profiles need loads: a profile sends the request of a load"},
		"without a tool":                      {own, "{name: costs}", "spec.profiles[0].tool: Required value"},
		"without a name":                      {own, "{tool: callgrind}", "spec.profiles[0].name: Required value"},
		"with a tool that nobody knows":       {"callgrind", "gdb", `spec.profiles[0].tool: Unsupported value: "gdb"`},
		"with samples of the CPU":             {"callgrind", "perf-record", `spec.profiles[0].tool: Unsupported value: "perf-record"`},
		"with a name in capitals":             {"name: costs", "name: Costs", word},
		"with a name that ends with a hyphen": {"name: costs", "name: costs-", word},
		"with a name of 21 letters":           {"name: costs", "name: abcdefghijklmnopqrstu", "spec.profiles[0].name: Too long"},
		"with a name that is there twice":     {own, own + ", {name: costs, tool: strace}", `spec.profiles[1]: Duplicate value: {"name":"costs"}`},
		"of an implementation twice":          {own, "{name: costs, tool: callgrind, implementations: [go, go]}", `spec.profiles[0].implementations[1]: Duplicate value: "go"`},
		"of no implementation":                {own, "{name: costs, tool: callgrind, implementations: []}", "spec.profiles[0].implementations in body should have at least 1 items"},
		"of no request":                       {own, "{name: costs, tool: callgrind, requests: 0}", "spec.profiles[0].requests in body should be greater than or equal to 1"},
		"over no connection":                  {own, "{name: costs, tool: callgrind, connections: 0}", "spec.profiles[0].connections in body should be greater than or equal to 1"},
		"never":                               {own, "{name: costs, tool: callgrind, repeats: 0}", "spec.profiles[0].repeats in body should be greater than or equal to 1"},
		"in no time":                          {own, "{name: costs, tool: callgrind, limitSeconds: 4}", "spec.profiles[0].limitSeconds in body should be greater than or equal to 5"},
		"in more than an hour":                {own, "{name: costs, tool: callgrind, limitSeconds: 3601}", "spec.profiles[0].limitSeconds in body should be less than or equal to 3600"},
	} {
		t.Run(name, func(t *testing.T) {
			text := changed(t, strings.Replace(profiled, "RUN", "bad", 1), tc.before, tc.after)
			refused(t, create(t, c, parse(t, []byte(text))), tc.want)
		})
	}
}

func TestValidProfileIsAcceptedAndImmutable(t *testing.T) {
	c := apiServer(t)
	for _, tool := range []v1alpha1.ProfileTool{
		v1alpha1.ToolMemcheck, v1alpha1.ToolMassif, v1alpha1.ToolMassifHeap, v1alpha1.ToolMassifPages, v1alpha1.ToolCallgrind, v1alpha1.ToolCachegrind, v1alpha1.ToolStrace,
		v1alpha1.ToolPerfStat,
	} {
		t.Run(string(tool), func(t *testing.T) {
			if err := create(t, c, parse(t, []byte(changed(t, strings.Replace(profiled, "RUN", "good", 1), "callgrind", string(tool))))); err != nil {
				t.Error(err)
			}
		})
	}
	run := parse(t, []byte(strings.Replace(profiled, "RUN", "settled", 1)))
	if err := create(t, c, run); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]string{
		"another tool":   `{"spec": {"profiles": [{"name": "costs", "tool": "strace"}]}}`,
		"one more":       `{"spec": {"profiles": [{"name": "costs", "tool": "callgrind"}, {"name": "calls", "tool": "strace"}]}}`,
		"none any more":  `{"spec": {"profiles": null}}`,
		"fewer requests": `{"spec": {"profiles": [{"name": "costs", "tool": "callgrind", "requests": 5}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := c.Patch(t.Context(), run.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(change)))
			refused(t, err, "only suspend can change in the spec of a BenchmarkRun")
		})
	}
}
