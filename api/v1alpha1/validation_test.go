package v1alpha1_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/testbed"
)

func apiServer(t *testing.T) client.Client {
	t.Helper()
	config := testbed.Cluster(t, filepath.Join("..", ".."))
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// As users write it: what Go's types would leave out, such as a zero, must come to the server.
const minimal = `
apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: RUN, namespace: default}
spec:
  implementations:
  - {name: go, image: "gohttp:dev", port: 8080}
  - {name: epoll, image: "epoll:dev", port: 8080, role: Reference}
  - {name: zco, image: "zco:dev", port: 8080}
  baseline: go
  loads:
  - {name: sweep, tool: wrk, levels: [{connections: 10}, {connections: 100}]}
`

// edit replaces text of the minimal run; every old text must be there.
func edit(t *testing.T, name string, oldNew ...string) *unstructured.Unstructured {
	t.Helper()
	text := strings.Replace(minimal, "RUN", name, 1)
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(text, oldNew[i]) {
			t.Fatalf("%q is not in the minimal run", oldNew[i])
		}
		text = strings.ReplaceAll(text, oldNew[i], oldNew[i+1])
	}
	return parse(t, []byte(text))
}

func parse(t *testing.T, text []byte) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(text, &o.Object); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return o
}

func create(t *testing.T, c client.Client, o *unstructured.Unstructured) error {
	t.Helper()
	err := c.Create(t.Context(), o)
	if err == nil {
		t.Cleanup(func() {
			if err := c.Delete(context.WithoutCancel(t.Context()), o); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		})
	}
	return err
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v\nwant a refusal that says %q", err, want)
	}
}

func TestInvalidSpecIsRefusedWithMessage(t *testing.T) {
	c := apiServer(t)
	const load = "{name: sweep, tool: wrk,"
	tests := map[string]struct {
		name   string
		oldNew []string
		want   string
	}{
		"an unknown tool":                        {oldNew: []string{"tool: wrk", "tool: hammer"}, want: `spec.loads[0].tool: Unsupported value: "hammer": supported values: "wrk"`},
		"no baseline among several":              {oldNew: []string{"baseline: go\n", "\n"}, want: "baseline is required with more than one implementation: name the one to compare with"},
		"a baseline that is no implementation":   {oldNew: []string{"baseline: go", "baseline: rust"}, want: "baseline must be the name of one of the implementations"},
		"a baseline that is a reference":         {oldNew: []string{"baseline: go", "baseline: epoll"}, want: "baseline must be a Contender: choose another implementation, or remove its role Reference"},
		"two implementations of one name":        {oldNew: []string{"name: zco", "name: epoll"}, want: `spec.implementations[2]: Duplicate value: {"name":"epoll"}`},
		"no implementation":                      {oldNew: []string{"implementations:", "implementations: []\n  x:"}, want: "spec.implementations: Invalid value: 0: spec.implementations in body should have at least 1 items"},
		"a name that no pod could have":          {oldNew: []string{"name: zco", "name: Zco_1"}, want: "an implementation's name: use lower-case letters, digits and '-'; start and end with a letter or digit"},
		"an unknown role":                        {oldNew: []string{"role: Reference", "role: Judge"}, want: `spec.implementations[1].role: Unsupported value: "Judge"`},
		"no image":                               {oldNew: []string{`image: "zco:dev", `, ""}, want: "an implementation needs an image, or (on one machine) a command"},
		"an unknown expectation":                 {oldNew: []string{"role: Reference", "build: {coverage: Never}"}, want: `spec.implementations[1].build.coverage: Unsupported value: "Never": supported values: "Required", "Forbidden"`},
		"a claim about nothing that is known":    {oldNew: []string{"role: Reference", "claims: [{subject: Colour, value: red}]"}, want: `spec.implementations[1].claims[0].subject: Unsupported value: "Colour"`},
		"a claim about no property":              {oldNew: []string{"role: Reference", "claims: [{subject: Property, value: fast}]"}, want: "value: a Property is one of assertions,"},
		"a claim about no flag":                  {oldNew: []string{"role: Reference", "claims: [{subject: Flag, value: O2}]"}, want: "value: a Flag starts with '-', such as -O2"},
		"a claim with a path and no answer":      {oldNew: []string{"role: Reference", "claims: [{subject: Symbol, value: main, path: /}]"}, want: "path is only for claims about a Response: remove it"},
		"a claim about an answer to no path":     {oldNew: []string{"role: Reference", "claims: [{subject: Response, value: a, path: version}]"}, want: "path must start with '/'"},
		"a claim with a blank at its end":        {oldNew: []string{"role: Reference", `claims: [{subject: Symbol, value: "main "}]`}, want: "value: use printable ASCII without leading or trailing spaces"},
		"an expectation of nothing":              {oldNew: []string{"role: Reference", "build: {}"}, want: "spec.implementations[1].build in body should have at least 1 properties"},
		"port 0":                                 {oldNew: []string{"port: 8080", "port: 0"}, want: "spec.implementations[0].port in body should be greater than or equal to 1"},
		"no CPUs for a server":                   {oldNew: []string{"role: Reference", "cpus: 0"}, want: "spec.implementations[1].cpus in body should be greater than or equal to 1"},
		"no CPUs for the generator":              {oldNew: []string{load, load + " generators: {cpus: 0},"}, want: "spec.loads[0].generators.cpus in body should be greater than or equal to 1"},
		"memory that is no quantity":             {oldNew: []string{"role: Reference", "memory: plenty"}, want: "spec.implementations[1].memory"},
		"an empty command":                       {oldNew: []string{"role: Reference", "command: []"}, want: "spec.implementations[1].command in body should have at least 1 items"},
		"two loads of one name":                  {oldNew: []string{"  loads:\n", "  loads:\n  - {name: sweep, tool: wrk, levels: [{connections: 1}]}\n"}, want: `spec.loads[1]: Duplicate value: {"name":"sweep"}`},
		"a load's name with a dot":               {oldNew: []string{"name: sweep", "name: a.b"}, want: "a load's name: use lower-case letters, digits and '-'"},
		"a level twice":                          {oldNew: []string{"{connections: 100}", "{connections: 10}"}, want: "two levels have the same connections and requestsPerSecond"},
		"level 0":                                {oldNew: []string{"{connections: 100}", "{connections: 0}"}, want: "spec.loads[0].levels[1].connections in body should be greater than or equal to 1"},
		"a negative level":                       {oldNew: []string{"{connections: 100}", "{connections: -1}"}, want: "spec.loads[0].levels[1].connections in body should be greater than or equal to 1"},
		"more connections than ports":            {oldNew: []string{"{connections: 100}", "{connections: 400001}"}, want: "spec.loads[0].levels[1].connections in body should be less than or equal to 400000"},
		"no levels":                              {oldNew: []string{"levels: [{connections: 10}, {connections: 100}]", "levels: []"}, want: "spec.loads[0].levels in body should have at least 1 items"},
		"a duration of 0":                        {oldNew: []string{load, load + " durationSeconds: 0,"}, want: "spec.loads[0].durationSeconds in body should be greater than or equal to 1"},
		"a negative warm-up":                     {oldNew: []string{load, load + " warmupSeconds: -1,"}, want: "spec.loads[0].warmupSeconds in body should be greater than or equal to 0"},
		"levels that threads cannot share":       {oldNew: []string{load, load + " generators: {cpus: 3},"}, want: "every level's connections must be a multiple of generators.pods times generators.cpus: wrk gives each thread the same number and would drop the remainder"},
		"a mix for a tool that sends none":       {oldNew: []string{load, "{name: sweep, tool: ab, requests: [{weight: 1}, {weight: 1, path: /a}],"}, want: "requests needs tool wrk or k6: other tools send only one request"},
		"a mix beside a request":                 {oldNew: []string{load, load + " request: {path: /}, requests: [{weight: 1}, {weight: 1, path: /a}],"}, want: "request and requests exclude each other: move request into requests with a weight, or remove requests"},
		"a mix beside a script":                  {oldNew: []string{load, load + " script: {configMap: a, key: b.lua}, requests: [{weight: 1}, {weight: 1, path: /a}],"}, want: "requests and script exclude each other, because the script makes the requests: remove one"},
		"a mix of one":                           {oldNew: []string{load, load + " requests: [{weight: 1}],"}, want: "spec.loads[0].requests in body should have at least 2 items"},
		"a mix without a weight":                 {oldNew: []string{load, load + " requests: [{weight: 1}, {path: /a}],"}, want: "spec.loads[0].requests[1].weight: Required value"},
		"a weight of 0":                          {oldNew: []string{load, load + " requests: [{weight: 1}, {weight: 0, path: /a}],"}, want: "spec.loads[0].requests[1].weight in body should be greater than or equal to 1"},
		"HTTP/2 with wrk":                        {oldNew: []string{load, load + " protocol: HTTP2,"}, want: "protocol HTTP2 needs tool k6 or h2load: wrk and ab support only HTTP/1, and vegeta does not report the version of responses"},
		"streams in HTTP/1.1":                    {oldNew: []string{load, load + " streamsPerConnection: 10,"}, want: "streamsPerConnection above 1 needs protocol HTTP2: HTTP/1.1 sends one request at a time per connection"},
		"HTTP/2, a connection each request":      {oldNew: []string{load, "{name: sweep, tool: k6, protocol: HTTP2, connection: PerRequest,"}, want: "protocol HTTP2 excludes connection PerRequest: remove connection, or use HTTP1"},
		"HTTP/3":                                 {oldNew: []string{load, load + " protocol: HTTP3,"}, want: `spec.loads[0].protocol: Unsupported value: "HTTP3": supported values: "HTTP1", "HTTP2"`},
		"a path without a slash in a mix":        {oldNew: []string{load, load + " requests: [{weight: 1}, {weight: 1, path: a}],"}, want: "path must start with '/'"},
		"a path without a slash":                 {oldNew: []string{load, load + " request: {path: plaintext},"}, want: "path must start with '/' and contain only printable ASCII without spaces: percent-encode everything else"},
		"a path that would end the request line": {oldNew: []string{load, load + ` request: {path: "/ HTTP/1.1\r\nHost: elsewhere"},`}, want: "path must start with '/'"},
		"a path with a newline at its end":       {oldNew: []string{load, load + ` request: {path: "/\n"},`}, want: "path must start with '/'"},
		"an address instead of a path":           {oldNew: []string{load, load + ` request: {path: "http://elsewhere/"},`}, want: "path must start with '/'"},
		"a status that HTTP has not":             {oldNew: []string{load, load + " request: {expect: {status: 99}},"}, want: "spec.loads[0].request.expect.status in body should be greater than or equal to 100"},
		"a duet of three":                        {oldNew: []string{"baseline: go", "baseline: go\n  order: SlicedDuet"}, want: "order SlicedDuet needs exactly two implementations: create one run per pair"},
		"an unknown order":                       {oldNew: []string{"baseline: go", "baseline: go\n  order: Chaos"}, want: `spec.order: Unsupported value: "Chaos": supported values: "Blocks", "SlicedDuet"`},
		"a prefix with a slash at its end":       {oldNew: []string{"baseline: go", "baseline: go\n  artifacts: {prefix: suites/}"}, want: "prefix: use path elements of letters, digits, '_', '-' and single dots, separated by '/', without a slash at either end"},
		"a prefix that climbs":                   {oldNew: []string{"baseline: go", "baseline: go\n  artifacts: {prefix: a/../b}"}, want: "prefix: use path elements"},
		"no patience":                            {oldNew: []string{"baseline: go", "baseline: go\n  patienceSeconds: 0"}, want: "spec.patienceSeconds in body should be greater than or equal to 1"},
		"patience for more than a day":           {oldNew: []string{"baseline: go", "baseline: go\n  patienceSeconds: 86401"}, want: "spec.patienceSeconds in body should be less than or equal to 86400"},
		"no blocks":                              {oldNew: []string{"baseline: go", "baseline: go\n  blocks: 0"}, want: "spec.blocks in body should be greater than or equal to 1"},
		"a seed below 1":                         {oldNew: []string{"baseline: go", "baseline: go\n  seed: 0"}, want: "spec.seed in body should be greater than or equal to 1"},
		"a seed that JSON cannot keep":           {oldNew: []string{"baseline: go", "baseline: go\n  seed: 9007199254740992"}, want: "spec.seed in body should be less than or equal to 9007199254740991"},
		"a wish that is neither":                 {oldNew: []string{"baseline: go", "baseline: go\n  placement: {pinning: Maybe}"}, want: `spec.placement.pinning: Unsupported value: "Maybe"`},
		"a placement that says nothing":          {oldNew: []string{"baseline: go", "baseline: go\n  placement: {}"}, want: "spec.placement in body should have at least 1 properties"},
		"a request that says nothing":            {oldNew: []string{load, load + " request: {expect: {}},"}, want: "spec.loads[0].request.expect in body should have at least 1 properties"},
		"a stop without a width":                 {oldNew: []string{"baseline: go", "baseline: go\n  stop: {}"}, want: "spec.stop.maxWidth: Required value"},
		"a timeout too short for anything":       {oldNew: []string{"baseline: go", "baseline: go\n  timeoutSeconds: 5"}, want: "spec.timeoutSeconds in body should be greater than or equal to 30"},
		"a limit that lets more errors pass":     {oldNew: []string{"baseline: go", "baseline: go\n  validity: {maxErrorRate: \"0.01\"}"}, want: "validity.maxErrorRate must be a decimal from 0 to 0.001"},
		"a limit that is a word":                 {oldNew: []string{"baseline: go", "baseline: go\n  validity: {maxNeighbourCPU: few}"}, want: "validity.maxNeighbourCPU must be a decimal from 0 to 0.15"},
		"a limit below 0":                        {oldNew: []string{"baseline: go", "baseline: go\n  validity: {maxSteal: \"-0.01\"}"}, want: "validity.maxSteal must be a decimal from 0 to 0.05"},
		"a long name":                            {name: "a234567890123456789012345678x", want: "metadata.name of a BenchmarkRun: at most 28 characters, because trial and pod names contain it"},
		"a name with dots":                       {name: "v1.2", want: "metadata.name of a BenchmarkRun: no dots, because trial and pod names contain it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.name == "" {
				tc.name = "bad"
			}
			refused(t, create(t, c, edit(t, tc.name, tc.oldNew...)), tc.want)
		})
	}
}

func TestValidSpecIsAccepted(t *testing.T) {
	c := apiServer(t)
	const load = "{name: sweep, tool: wrk,"
	tests := map[string][]string{
		"the minimal one": nil,
		"one implementation needs no baseline": {
			"baseline: go\n", "\n", "  - {name: epoll, image: \"epoll:dev\", port: 8080, role: Reference}\n", "", "  - {name: zco, image: \"zco:dev\", port: 8080}\n", "",
		},
		"every field": {
			load, load + ` generators: {cpus: 10}, request: {path: "/a?b=c%20d&e=~{}", expect: {status: 204, body: ""}}, warmupSeconds: 0, durationSeconds: 1,`,
			"baseline: go", "baseline: go\n  order: Blocks\n  blocks: 7\n  seed: 9007199254740991\n  timeoutSeconds: 30\n  placement: {pinning: Preferred, separateNodes: Required}\n  validity: {maxErrorRate: \"0\", maxNeighbourCPU: \"0.15\", maxSteal: \"0.001\"}\n  artifacts: {prefix: suites/zco_1.2/x-y}",
			"role: Reference", `role: Reference, cpus: 2, memory: 64Mi, command: [/epoll, "--port=8080"]`,
		},
	}
	for name, oldNew := range tests {
		t.Run(name, func(t *testing.T) {
			run := edit(t, "a23456789012345678901234567x", oldNew...)
			if err := create(t, c, run); err != nil {
				t.Fatal(err)
			}
			if n, _, _ := unstructured.NestedInt64(run.Object, "status", "observedGeneration"); n != -1 {
				t.Errorf("observedGeneration is %d before the first look: a new run must not look current", n)
			}
		})
	}
}

func TestSamplesAreAccepted(t *testing.T) {
	c := apiServer(t)
	var samples []string
	for _, folder := range []string{"samples", "suites"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "config", folder, "*.yaml"))
		if err != nil || len(found) == 0 {
			t.Fatalf("config/%s has no samples: %v", folder, err)
		}
		samples = append(samples, found...)
	}
	for _, path := range samples {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			run := parse(t, text)
			run.SetNamespace("default")
			if err := create(t, c, run); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRunSpecIsImmutable(t *testing.T) {
	c := apiServer(t)
	const sentence = "only suspend can change in the spec of a BenchmarkRun: delete the run, or create one with another name"
	run := edit(t, "fixed", "role: Reference", "memory: 64Mi")
	if err := create(t, c, run); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]string{
		"a field that was absent":      `{"spec": {"blocks": 3}}`,
		"a field that was there":       `{"spec": {"baseline": "zco"}}`,
		"a field that goes":            `{"spec": {"baseline": null, "implementations": [{"name": "go", "image": "gohttp:dev", "port": 8080}]}}`,
		"a list that grows":            `{"spec": {"loads": [{"name": "l", "tool": "wrk", "levels": [{"connections": 1}]}]}}`,
		"the order of the levels":      `{"spec": {"loads": [{"name": "sweep", "tool": "wrk", "levels": [{"connections": 100}, {"connections": 10}]}]}}`,
		"the order of implementations": `{"spec": {"implementations": [{"name": "zco", "image": "zco:dev", "port": 8080}, {"name": "go", "image": "gohttp:dev", "port": 8080}, {"name": "epoll", "image": "epoll:dev", "port": 8080, "memory": "64Mi"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := c.Patch(t.Context(), run.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(change)))
			refused(t, err, sentence)
		})
	}
	label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"a": "b"}}}`))
	if err := c.Patch(t.Context(), run.DeepCopy(), label); err != nil {
		t.Errorf("a label is no question: %v", err)
	}
}

// fixed are two values of each field of a run's spec that cannot be changed, as they are written in JSON.
var fixed = map[string][2]string{
	"implementations":         {`[{"name": "go", "image": "a", "port": 1}, {"name": "zco", "image": "b", "port": 1}]`, `[{"name": "go", "image": "a", "port": 1}, {"name": "zco", "image": "c", "port": 1}]`},
	"baseline":                {`"go"`, `"zco"`},
	"loads":                   {`[{"name": "l", "tool": "wrk", "levels": [{"connections": 1}]}]`, `[{"name": "l", "tool": "wrk", "levels": [{"connections": 2}]}]`},
	"microbenchmark":          {`{"format": "GoTest"}`, `{"format": "JSONLines"}`},
	"profiles":                {`[{"name": "calls", "tool": "strace"}]`, `[{"name": "calls", "tool": "perf-stat"}]`},
	"blocks":                  {`3`, `4`},
	"stop":                    {`{"maxWidth": "0.1"}`, `{"maxWidth": "0.2"}`},
	"latencyPercentiles":      {`["50"]`, `["99"]`},
	"order":                   {`"Blocks"`, `"SlicedDuet"`},
	"seed":                    {`1`, `2`},
	"objectives":              {`[{"metric": "Throughput", "min": "1"}]`, `[{"metric": "Throughput", "min": "2"}]`},
	"placement":               {`{"pinning": "Required"}`, `{"pinning": "Preferred"}`},
	"validity":                {`{"maxSteal": "0.01"}`, `{"maxSteal": "0.02"}`},
	"artifacts":               {`{"prefix": "a"}`, `{"prefix": "b"}`},
	"timeoutSeconds":          {`60`, `61`},
	"patienceSeconds":         {`60`, `61`},
	"ttlSecondsAfterFinished": {`0`, `1`},
}

// The rule names each field, and would let one be changed that it forgets.
func TestOnlySuspendOfRunSpecChanges(t *testing.T) {
	for f := range reflect.TypeFor[v1alpha1.BenchmarkRunSpec]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if _, known := fixed[name]; known == (name == "suspend") {
			t.Errorf("whether spec.%s can be changed is not known: name it in the rule of the spec, and here", name)
		}
	}
	c := apiServer(t)
	// made is a run with initial values in some fields.
	made := func(name string, has func(field string) bool) *unstructured.Unstructured {
		var fields []string
		for field, values := range fixed {
			if has(field) {
				fields = append(fields, fmt.Sprintf("%q: %s", field, values[0]))
			}
		}
		run := parse(t, fmt.Appendf(nil, `{"apiVersion": "loadstone.dev/v1alpha1", "kind": "BenchmarkRun", "metadata": {"name": %q, "namespace": "default"}, "spec": {%s}}`, name, strings.Join(fields, ", ")))
		if err := create(t, c, run); err != nil {
			t.Fatal(err)
		}
		return run
	}
	patch := func(run *unstructured.Unstructured, field, value string) error {
		return c.Patch(t.Context(), run.DeepCopy(), client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec": {%q: %s}}`, field, value)))
	}
	needs := func(field string) bool { return field == "implementations" || field == "baseline" }
	full := made("full", func(field string) bool { return field != "microbenchmark" })
	program := made("program", func(field string) bool { return needs(field) || field == "microbenchmark" })
	least := made("least", func(field string) bool { return needs(field) || field == "loads" })
	for field, values := range fixed {
		has := full
		if field == "microbenchmark" {
			has = program
		}
		t.Run(field, func(t *testing.T) {
			const sentence = "only suspend can change in the spec of a BenchmarkRun"
			refused(t, patch(has, field, values[1]), sentence)
			if field != "implementations" {
				refused(t, patch(has, field, "null"), sentence)
			}
			if !needs(field) && field != "loads" {
				refused(t, patch(least, field, values[0]), sentence)
			}
		})
	}
	for _, run := range []*unstructured.Unstructured{full, program, least} {
		for _, value := range []string{"true", "false", "null", "false", "true", "null"} {
			if err := patch(run, "suspend", value); err != nil {
				t.Errorf("suspend of %s cannot become %s: %v", run.GetName(), value, err)
			}
		}
		refused(t, c.Patch(t.Context(), run.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"suspend": true, "seed": 7}}`))), "only suspend can change")
	}
}

const trial = `
apiVersion: loadstone.dev/v1alpha1
kind: Trial
metadata: {name: quick-000-go, namespace: default}
spec: {runName: quick, index: 0, block: 1, start: Held}
`

func TestOnlyStartOfTrialSpecChanges(t *testing.T) {
	c := apiServer(t)
	for name, text := range map[string]string{"of-a-block": trial, "of-a-profile": strings.Replace(trial, "block: 1, ", "", 1)} {
		o := parse(t, []byte(strings.Replace(text, "quick-000-go", name, 1)))
		if err := create(t, c, o); err != nil {
			t.Fatal(err)
		}
		patch := func(change string) error {
			return c.Patch(t.Context(), o.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(change)))
		}
		fields := []string{`"runName": "other"`, `"index": 1`, `"block": 2`}
		if text == trial {
			fields = append(fields, `"block": null`)
		}
		for _, field := range fields {
			t.Run(name+" "+field, func(t *testing.T) {
				refused(t, patch(`{"spec": {`+field+`}}`), "only start can change in the spec of a Trial: the plan comes from its BenchmarkRun")
			})
		}
		refused(t, patch(`{"spec": {"start": "Now"}}`), `spec.start: Unsupported value: "Now": supported values: "Held", "Released"`)
		if err := patch(`{"spec": {"start": "Released"}}`); err != nil {
			t.Errorf("a trial %s cannot be released: %v", name, err)
		}
	}
}

// An older version copied its plan into each trial. The API server prunes the copy; the reference to the plan remains.
func TestTrialOfAnOlderVersionIsPruned(t *testing.T) {
	c := apiServer(t)
	o := parse(t, []byte(strings.Replace(trial, "start: Held", `start: Held, type: Sweep, servers: [{name: go, image: "go:1", port: 80}], placement: {pinning: Required}`, 1)))
	if err := create(t, c, o); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"runName": "quick", "index": int64(0), "block": int64(1), "start": "Held"}
	if diff := cmp.Diff(want, o.Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

// Absent values must not be written: a refused zero would block the whole status.
func TestEmptyStatusIsOmitted(t *testing.T) {
	for name, tc := range map[string]struct {
		object any
		want   string
	}{
		"BenchmarkRun": {v1alpha1.BenchmarkRunStatus{}, "{}"},
		"Trial":        {v1alpha1.TrialStatus{}, "{}"},
	} {
		got, err := json.Marshal(tc.object)
		if err != nil || string(got) != tc.want {
			t.Errorf("an empty status of %s is %s, %v", name, got, err)
		}
	}
	for _, o := range []any{v1alpha1.BenchmarkRun{}, v1alpha1.Trial{}} {
		got, err := json.Marshal(o)
		if err != nil || strings.Contains(string(got), "status") {
			t.Errorf("an object without a status is %s, %v", got, err)
		}
	}
}
