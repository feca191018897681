package unwrap_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/base/unwrap"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func read(t *testing.T, text []byte) []unwrap.Line {
	t.Helper()
	r, err := unwrap.New(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []unwrap.Line
	for {
		l, ok := r.Next()
		if !ok {
			return out
		}
		out = append(out, l)
	}
}

func TestPrefixesOfLogsAreRemoved(t *testing.T) {
	tests := map[string]struct{ text, source, rest string }{
		"a pod and a time":             {"[pod/a-1/wrk] 2026-03-01T10:15:00.1Z   2 threads", "pod/a-1/wrk", "  2 threads"},
		"a time of an empty line":      {"2026-03-01T10:15:00.123456789Z ", "", ""},
		"a container of compose":       {"loadgen-1  | Running", "loadgen-1", "Running"},
		"a process of Heroku":          {"2026-03-01T10:15:00+00:00 app[web.1]: Running", "app[web.1]", "Running"},
		"a step of GitHub":             {"bench\tRun\t\ufeff2026-03-01T10:15:00.1234567Z Running", "bench\tRun", "Running"},
		"a status of hey stays":        {"[200]\t250 responses", "", "[200]\t250 responses"},
		"a status of oha stays":        {"[200] 250 responses", "", "[200] 250 responses"},
		"a row of JMeter stays":        {"1772359200000,20,Home,200", "", "1772359200000,20,Home,200"},
		"a time in a row of CSV stays": {"2026/03/01 10:15:00,20,Home", "", "2026/03/01 10:15:00,20,Home"},
		"a histogram of hey stays":     {"0.144 [1]\t|■", "", "0.144 [1]\t|■"},
		"a table of Markdown stays":    {"| a | b |", "", "| a | b |"},
		"a metric of k6 stays":         {"http_reqs....: 1 2/s", "", "http_reqs....: 1 2/s"},
		"a benchmark of Go stays":      {"BenchmarkGet-8   \t 100\t 8 ns/op", "", "BenchmarkGet-8   \t 100\t 8 ns/op"},
		"a benchmark of Rust stays":    {"test a ... bench: 10 ns/iter (+/- 1)", "", "test a ... bench: 10 ns/iter (+/- 1)"},
		"a line of Docker's file":      {`{"log":"Running \u001b[1m10s\n","stream":"stdout"}`, "", "Running \x1b[1m10s"},
		"JSON that begins with log":    {`{"log":"a", "b"`, "", `{"log":"a", "b"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if source, rest := unwrap.Prefix(tc.text); source != tc.source || rest != tc.rest {
				t.Errorf("Prefix() = %q, %q, want %q, %q", source, rest, tc.source, tc.rest)
			}
		})
	}
}

func TestEscapeSequencesAreRemoved(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                       "plain",
		"\x1b[1;32mgreen\x1b[0m text": "green text",
		"\x1b]0;title\aRunning":       "Running",
		"\x1b]0;title\x1b\\Running":   "Running",
		"cut off \x1b[3":              "cut off ",
		"at the end \x1b":             "at the end ",
		"\x1b[2K\x1b[1Gdone":          "done",
		"\x1b(Bplain":                 "Bplain",
		"\x1b[\x01broken":             "\x01broken",
	} {
		if got := unwrap.Plain(text); got != want {
			t.Errorf("Plain(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCarriageReturnsBeginLines(t *testing.T) {
	want := []unwrap.Line{{Number: 1, Text: "10%"}, {Number: 1, Text: "100%"}, {Number: 2, Text: "done"}, {Number: 3}, {Number: 4, Text: "end"}}
	if diff := cmp.Diff(want, read(t, []byte("10%\r100%\r\ndone  \r\n\nend"))); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestALongLineIsCut(t *testing.T) {
	lines := read(t, []byte(strings.Repeat("x", unwrap.MaxLine+10)+"\nnext\n"))
	if len(lines) != 2 || !lines[0].Cut || len(lines[0].Text) != unwrap.MaxLine || lines[1].Cut || lines[1].Text != "next" {
		t.Errorf("%d lines, the first cut %t", len(lines), lines[0].Cut)
	}
}

func TestCommonPrefix(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a pod and a container":   {"a-1 wrk x\na-1 wrk y\na-1 wrk z\na-1 wrk\n", "a-0 "},
		"a pod and a time":        {"a-1 [10] x\na-1 [11] y\na-1 [12] z\na-1 [13] zz\n", "a-0 [00] "},
		"too few lines":           {"// x\n// y\n", ""},
		"a comment":               {"// x\n// y\n// z\n// a\n", "// "},
		"no prefix":               {"x\ny\nz\na\n", ""},
		"rows of CSV keep theirs": {"1,a b\n1,a c\n1,a d\n1,a e\n", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := unwrap.Common(tc.text); got != tc.want {
				t.Errorf("Common() = %q, want %q", got, tc.want)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte("[pod/a/b] 2026-03-01T10:15:00Z \x1b[1mx\r\ny"))
	corpus.Add([]byte("\xff\xfea\x00\n\x00"))
	corpus.Add([]byte("\xfe\xff\x00a\xd8\x00"))
	corpus.Add([]byte("\x1f\x8bbroken"))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		r, err := unwrap.New(bytes.NewReader(text))
		if err != nil {
			return
		}
		unwrap.Common(string(r.Head()))
		for last := 1; ; {
			l, ok := r.Next()
			if !ok {
				return
			}
			if l.Number < last || strings.Contains(l.Text, "\n") {
				t.Fatalf("line %d is %q", l.Number, l.Text)
			}
			last = l.Number
		}
	})
}
