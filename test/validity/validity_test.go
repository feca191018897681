package validity_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
)

var update = flag.Bool("update", false, "write the table into docs/explanation/load-generators.md")

func TestDocumentHasTable(t *testing.T) {
	const begin, end = "<!-- table: begin -->\n", "<!-- table: end -->\n"
	file := filepath.Join("..", "..", "docs", "explanation", "load-generators.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, okBegin := strings.Cut(string(text), begin)
	got, after, okEnd := strings.Cut(rest, end)
	if !okBegin || !okEnd {
		t.Fatalf("%s does not hold the lines between which the table lies", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+matrix()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(matrix(), got); diff != "" {
		t.Errorf("the table in %s is not that of the test: run with -update (-want +got):\n%s", file, diff)
	}
}

func TestColumnsNameExistingFaults(t *testing.T) {
	for _, c := range columns {
		for name := range c.notices {
			if !slices.ContainsFunc(faults, func(f fault) bool { return f.name == name }) {
				t.Errorf("%s notices %q, which is no fault", c.name, name)
			}
		}
	}
}

func TestWhichToolNoticesWhichFault(t *testing.T) {
	testbed.Programs(t, "go")
	program := filepath.Join(t.TempDir(), "faulty")
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "../../workloads/faulty").CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	for _, c := range columns {
		t.Run(c.name, func(t *testing.T) {
			testbed.Programs(t, c.name)
			for _, f := range faults {
				t.Run(f.name, func(t *testing.T) {
					t.Parallel()
					c.meets(t, f, program)
				})
			}
		})
	}
}

// met reports whether a load met enough of a fault. A tool without a measurement waits for all of its connections.
func (c column) met(f fault, counted counts, m record.Measurement, err error) bool {
	want := c.notices[f.name]
	if f.committed == nil {
		got, _ := noticed(m, err)
		return want == "" || containsAll(got, want)
	}
	if want == noMeasurement {
		return f.committed(counted) >= int64(c.cell.Connections)
	}
	return err != nil || f.committed(counted) > 0
}

// meets runs the tool against a server with a fault.
func (c column) meets(t *testing.T, f fault, program string) {
	t.Helper()
	want := c.notices[f.name]
	var counted counts
	var m record.Measurement
	var err error
	// A slow machine delays answers and may leave too few requests, so the load is then repeated.
	testbed.Await(t, "a load that meets "+f.name+" and no late answers", func() bool {
		server := start(t, program, f.flags)
		raw := c.run(t, server.address)
		counted = server.stop(t, f)
		m, err = c.Parse(raw)
		late := m.Errors.Timeout > 0 && (!strings.Contains(want, "Timeout") || f.committed != nil && m.Errors.Timeout > f.committed(counted))
		return !late && c.met(f, counted, m, err)
	})
	got, most := noticed(m, err)
	if f.committed == nil && want != "" && containsAll(got, want) {
		// Such a fault breaks all requests in flight, so other errors may appear.
		return
	}
	if got != want {
		t.Fatalf("%s notices %s, want %s; error %v, measurement %+v, server %+v", c.name, orNothing(got), orNothing(want), err, m.Errors, counted)
	}
	if f.committed == nil || err != nil {
		return
	}
	committed := f.committed(counted)
	// Only the server counts requests that are in flight at the end, and those that the tool does not count.
	if least := committed - int64(c.cell.Connections) - c.uncounted; got != "" && (most > committed || most < least) {
		t.Errorf("%s notices %d, the server committed %d", c.name, most, committed)
	}
}

func containsAll(got, want string) bool {
	all := strings.Split(got, ", ")
	for kind := range strings.SplitSeq(want, ", ") {
		if !slices.Contains(all, kind) {
			return false
		}
	}
	return true
}

// noticed returns the kinds of errors and the count of the most frequent one. A tool may count an answer more than once.
func noticed(m record.Measurement, err error) (kinds string, most int64) {
	if err != nil {
		return noMeasurement, 0
	}
	var names []string
	for _, k := range []struct {
		name  string
		count int64
	}{
		{"Connect", m.Errors.Connect},
		{"Read", m.Errors.Read},
		{"Write", m.Errors.Write},
		{"Timeout", m.Errors.Timeout},
		{"Status", m.Errors.Status},
		{"Body", m.Errors.Body},
	} {
		if k.count > 0 {
			names = append(names, k.name)
			most = max(most, k.count)
		}
	}
	return strings.Join(names, ", "), most
}

// run loads a server and returns the raw output, as an agent would store it.
func (c column) run(t *testing.T, target string) []byte {
	t.Helper()
	dir := t.TempDir()
	for _, f := range c.Files(c.cell, tool.Target{Address: target}) {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	args := c.Args(c.cell, tool.Target{Address: target}, tool.Measure)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	// A tool may have measured despite its exit code. Its parser decides.
	raw, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("running %q: %v\n%s", args, err, raw)
	}
	for _, name := range c.Outputs(c.cell) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		raw = append(append(raw, tool.OutputHeader(name)...), text...)
	}
	return raw
}

// server is a running faulty server.
type server struct {
	address string
	cmd     *exec.Cmd
	out     *bufio.Reader
	stderr  *bytes.Buffer
}

var listening = regexp.MustCompile(`listening on \S+:(\d+), `)

func start(t *testing.T, program string, flags []string) *server {
	t.Helper()
	s := &server{stderr: &bytes.Buffer{}}
	s.cmd = exec.CommandContext(t.Context(), program, append([]string{"--port=0"}, flags...)...)
	s.cmd.Stderr = s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadString('\n')
	found := listening.FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("the server does not say where it listens: %q, %v\n%s", line, err, s.stderr)
	}
	s.address = "127.0.0.1:" + found[1]
	return s
}

// stop ends the server, if necessary, and returns its counts.
func (s *server) stop(t *testing.T, f fault) counts {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("ending the server: %v", err)
	}
	hung := time.AfterFunc(testbed.Patience, func() { _ = s.cmd.Process.Kill() })
	defer hung.Stop()
	var counted counts
	decoding := json.NewDecoder(s.out).Decode(&counted)
	err := s.cmd.Wait()
	if exits := strings.HasPrefix(strings.Join(f.flags, " "), "--exit-after"); (err != nil) != exits || decoding != nil {
		t.Errorf("the server ended with %v, %v\n%s", err, decoding, s.stderr)
	}
	return counted
}
