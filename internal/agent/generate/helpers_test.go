package generate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const (
	testTrial = "0b5e9c1e-trial"
	patience  = 5 * time.Minute
)

type bench struct {
	t         *testing.T
	generator *Generator
	dir       string
}

func newBench(t *testing.T, makeGenerator func(Config) *Generator) *bench {
	t.Helper()
	config := Config{Trial: testTrial, Node: "node-a", Dir: t.TempDir(), Cgroup: "/sys/fs/cgroup", Network: "/proc/self/net"}
	return &bench{t: t, generator: makeGenerator(config), dir: config.Dir}
}

type outcome struct {
	record.GeneratorResult
	failures, files []string
}

func (o outcome) message() string {
	text := ""
	for _, f := range o.failures {
		if f != "" {
			text = f
		}
	}
	return text
}

func (b *bench) measure(start protocol.Start) outcome {
	b.t.Helper()
	return b.follow(start, func(record.Cell) {})
}

// again measures until enough was measured: a timetable does not wait for a busy machine.
func (b *bench) again(start protocol.Start, enough func(outcome) bool) outcome {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		start.At = time.Now().Add(500 * time.Millisecond)
		result := b.measure(start)
		if enough(result) || time.Now().After(end) {
			return result
		}
	}
}

func audited(o outcome) bool {
	return !slices.ContainsFunc(o.Cells, func(c record.CellRun) bool { return c.Error != "" || c.Audit != nil && c.Audit.Requests == 0 })
}

// auditedThroughout also requires an audit of each cell's measured time.
func auditedThroughout(o outcome) bool {
	return audited(o) && !slices.ContainsFunc(o.Cells, func(c record.CellRun) bool { return c.MeasuredAudit == nil || c.MeasuredAudit.Requests == 0 })
}

func (b *bench) follow(start protocol.Start, done func(record.Cell)) outcome {
	b.t.Helper()
	var o outcome
	result, files, err := b.generator.Measure(b.t.Context(), start, func(c record.Cell, failure string) {
		o.failures = append(o.failures, failure)
		done(c)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	r, ok := result.(record.GeneratorResult)
	if !ok {
		b.t.Fatalf("the record is a %T", result)
	}
	o.GeneratorResult, o.files = r, files
	return o
}

func (b *bench) wantFiles(o outcome, want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, o.files); diff != "" {
		b.t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range want {
		if _, err := os.Stat(filepath.Join(b.dir, name)); err != nil {
			b.t.Error(err)
		}
	}
}
