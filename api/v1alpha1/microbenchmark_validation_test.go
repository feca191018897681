package v1alpha1_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// A run of programs that measure themselves, as users write it.
const programs = `
apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: RUN, namespace: default}
spec:
  implementations:
  - {name: old, image: "parsers:1", command: [/bench, --benchmark_format=json]}
  - {name: new, image: "parsers:2", command: [/bench, --benchmark_format=json]}
  baseline: old
  microbenchmark: {format: GoogleBenchmark}
`

const eitherOr = "give either loads, which are put on servers, or microbenchmark, for programs that measure themselves"

// changed is the text of an object with one part of it replaced; the part must be there.
func changed(t *testing.T, text, before, after string) string {
	t.Helper()
	if !strings.Contains(text, before) {
		t.Fatalf("%q is not in:\n%s", before, text)
	}
	return strings.ReplaceAll(text, before, after)
}

func TestABadRunOfProgramsIsRefusedWithASentence(t *testing.T) {
	c := apiServer(t)
	const own = "microbenchmark: {format: GoogleBenchmark}"
	const limit = "spec.microbenchmark.limitSeconds in body should be "
	for name, tc := range map[string]struct{ before, after, want string }{
		"loads beside programs":     {own, own + "\n  loads: [{name: sweep, tool: wrk, levels: [{connections: 1}]}]", eitherOr},
		"neither loads nor them":    {own, "blocks: 2", eitherOr},
		"programs that say nothing": {own, "microbenchmark: {}", "spec.microbenchmark.format: Required value"},
		"an unknown format":         {"GoogleBenchmark", "JUnit", `spec.microbenchmark.format: Unsupported value: "JUnit": supported values: "GoogleBenchmark", "GoTest", "JSONLines"`},
		"a format in small letters": {"GoogleBenchmark", "gotest", `spec.microbenchmark.format: Unsupported value: "gotest"`},
		"an empty format":           {"GoogleBenchmark", `""`, `spec.microbenchmark.format: Unsupported value: ""`},
		"outputs of nobody":         {own, "microbenchmark: {format: GoTest, outputs: [{cases: [{printed: a, name: b}]}]}", "outputs[0].implementation: Required value"},
		"outputs of one twice":      {own, "microbenchmark: {format: GoTest, outputs: [{implementation: old, format: GoTest}, {implementation: old, format: GoTest}]}", "Duplicate value"},
		"a case without a name":     {own, "microbenchmark: {format: GoTest, outputs: [{implementation: old, cases: [{printed: a}]}]}", "cases[0].name: Required value"},
		"a case with two names":     {own, "microbenchmark: {format: GoTest, outputs: [{implementation: old, cases: [{printed: a, name: b}, {printed: a, name: c}]}]}", "Duplicate value"},
		"no outputs":                {own, "microbenchmark: {format: GoTest, outputs: []}", "should have at least 1 items"},
		"no time at all":            {own, "microbenchmark: {format: GoTest, limitSeconds: 0}", limit + "greater than or equal to 1"},
		"time that runs backwards":  {own, "microbenchmark: {format: GoTest, limitSeconds: -5}", limit + "greater than or equal to 1"},
		"more than an hour":         {own, "microbenchmark: {format: GoTest, limitSeconds: 3601}", limit + "less than or equal to 3600"},
		"half a second":             {own, "microbenchmark: {format: GoTest, limitSeconds: 0.5}", `spec.microbenchmark.limitSeconds in body must be of type integer`},
	} {
		t.Run(name, func(t *testing.T) {
			text := changed(t, strings.Replace(programs, "RUN", "bad", 1), tc.before, tc.after)
			refused(t, create(t, c, parse(t, []byte(text))), tc.want)
		})
	}
}

func TestAGoodRunOfProgramsIsAccepted(t *testing.T) {
	c := apiServer(t)
	const own = "microbenchmark: {format: GoogleBenchmark}"
	for name, change := range map[string]string{
		"as it is":             own,
		"of go test":           "microbenchmark: {format: GoTest}",
		"of lines of JSON":     "microbenchmark: {format: JSONLines}",
		"of a second each":     "microbenchmark: {format: GoTest, limitSeconds: 1}",
		"of an hour each":      "microbenchmark: {format: GoTest, limitSeconds: 3600}",
		"with a limit tighter": own + "\n  validity: {maxSteal: \"0.01\", maxNeighbourCPU: \"0.1\"}",
	} {
		t.Run(name, func(t *testing.T) {
			if err := create(t, c, parse(t, []byte(changed(t, strings.Replace(programs, "RUN", "good", 1), own, change)))); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheProgramsOfARunStayAsTheyAre(t *testing.T) {
	c := apiServer(t)
	run := parse(t, []byte(strings.Replace(programs, "RUN", "settled", 1)))
	if err := create(t, c, run); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]string{
		"another format":     `{"spec": {"microbenchmark": {"format": "GoTest"}}}`,
		"a limit that comes": `{"spec": {"microbenchmark": {"limitSeconds": 10}}}`,
		"other arguments":    `{"spec": {"implementations": [{"name": "old", "image": "parsers:1", "command": ["/bench"]}, {"name": "new", "image": "parsers:2", "command": ["/bench", "--benchmark_format=json"]}]}}`,
		"loads in its place": `{"spec": {"microbenchmark": null, "loads": [{"name": "sweep", "tool": "wrk", "levels": [{"connections": 1}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			err := c.Patch(t.Context(), run.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(change)))
			refused(t, err, "only suspend can change in the spec of a BenchmarkRun")
		})
	}
}

// A trial of one program, as Loadstone writes it.
const programTrial = `
apiVersion: loadstone.dev/v1alpha1
kind: Trial
metadata: {name: parsers-000-old, namespace: default}
spec:
  runName: parsers
  index: 0
  block: 1
  type: Microbenchmark
  servers: [{name: old, image: "parsers:1", command: [/bench], cpus: 1, memory: 256Mi, role: Contender}]
  microbenchmark: {format: GoTest, limitSeconds: 60}
  placement: {pinning: Required, generatorPinning: Required, separateNodes: Preferred}
  start: Held
`

func TestATrialOfAProgramHoldsWhatItsTypeSays(t *testing.T) {
	c := apiServer(t)
	const own = "microbenchmark: {format: GoTest, limitSeconds: 60}"
	const sweep = "sweep: {generators: {pods: 1, cpus: 1}, cells: [{load: sweep, tool: wrk, connections: 10, generators: 1, connection: KeepAlive, threads: 1, request: {path: /}, durationSeconds: 5}]}"
	for name, tc := range map[string]struct{ before, after, want string }{
		"a program of no format":  {own, "blocks: 1", "microbenchmark is required when type is Microbenchmark, and forbidden otherwise"},
		"a sweep of a program":    {"type: Microbenchmark", "type: Sweep", "is required when type is"},
		"a program with a sweep":  {own, own + "\n  " + sweep, "sweep is required when type is Sweep, and forbidden otherwise"},
		"a type that nobody does": {"type: Microbenchmark", "type: Dance", `spec.type: Unsupported value: "Dance": supported values: "Sweep", "Microbenchmark"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := changed(t, programTrial, tc.before, tc.after)
			refused(t, create(t, c, parse(t, []byte(strings.Replace(text, "\n  blocks: 1", "", 1)))), tc.want)
		})
	}
}

func TestOfATrialOfAProgramOnlyStartChanges(t *testing.T) {
	c := apiServer(t)
	o := parse(t, []byte(programTrial))
	if err := create(t, c, o); err != nil {
		t.Fatal(err)
	}
	patch := func(change string) error {
		return c.Patch(t.Context(), o.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec": {`+change+`}}`)))
	}
	for _, field := range []string{
		`"microbenchmark": {"format": "JSONLines"}`, `"microbenchmark": {"limitSeconds": 61}`, `"microbenchmark": {"limitSeconds": null}`,
		`"servers": [{"name": "old", "image": "parsers:1", "command": ["/other"], "cpus": 1, "memory": "256Mi", "role": "Contender"}]`,
	} {
		t.Run(field, func(t *testing.T) {
			refused(t, patch(field), "only start can change in the spec of a Trial")
		})
	}
	if err := patch(`"start": "` + string(v1alpha1.StartReleased) + `"`); err != nil {
		t.Errorf("a trial of a program cannot be released: %v", err)
	}
}
