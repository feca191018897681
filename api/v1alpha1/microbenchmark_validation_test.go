package v1alpha1_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
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

const eitherOr = "set either loads (for servers) or microbenchmark (for programs that measure themselves)"

// changed is the text of an object with one part of it replaced; the part must be there.
func changed(t *testing.T, text, before, after string) string {
	t.Helper()
	if !strings.Contains(text, before) {
		t.Fatalf("%q is not in:\n%s", before, text)
	}
	return strings.ReplaceAll(text, before, after)
}

func TestInvalidProgramRunIsRefusedWithMessage(t *testing.T) {
	c := apiServer(t)
	const own = "microbenchmark: {format: GoogleBenchmark}"
	const limit = "spec.microbenchmark.limitSeconds in body should be "
	for name, tc := range map[string]struct{ before, after, want string }{
		"loads beside programs":     {own, own + "\n  loads: [{name: sweep, tool: wrk, levels: [{connections: 1}]}]", eitherOr},
		"neither loads nor them":    {own, "blocks: 2", eitherOr},
		"programs that say nothing": {own, "microbenchmark: {}", "spec.microbenchmark: Invalid value: 0: spec.microbenchmark in body should have at least 1 properties"},
		"an unknown format":         {"GoogleBenchmark", "JUnit", `spec.microbenchmark.format: Unsupported value: "JUnit": supported values: "Auto", "GoogleBenchmark", "GoTest", "JSONLines", "Time"`},
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
		"half a second":             {own, "microbenchmark: {format: GoTest, limitSeconds: 0.5}", `spec.microbenchmark.limitSeconds in body must be of type int`},
	} {
		t.Run(name, func(t *testing.T) {
			text := changed(t, strings.Replace(programs, "RUN", "bad", 1), tc.before, tc.after)
			refused(t, create(t, c, parse(t, []byte(text))), tc.want)
		})
	}
}

func TestValidProgramRunIsAccepted(t *testing.T) {
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

func TestProgramsOfRunAreImmutable(t *testing.T) {
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
