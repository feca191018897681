package lint_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/cli/lint"
)

// facts are the numbers of a sample that a reader checks by eye.
type facts struct {
	Tool                  string
	Connections, Requests int64
	Seconds               float64
	Status, Failed        int64
	Mean, P99, Max        float64
	Asked                 float64
}

func factsOf(s lint.Sample) facts {
	return facts{
		s.Tool, s.Connections, s.Requests, s.Seconds.Value, s.Errors.Status, s.Errors.Sum() - s.Errors.Status,
		printed.OrZero(s.Mean()).Value, printed.OrZero(s.P99()).Value, printed.OrZero(s.Most()).Value, s.Rate(),
	}
}

// near accepts what rounding of a tool and of a histogram of three digits changes.
var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(a) })

// TestEachToolIsRead takes the numbers by eye from the files.
func TestEachToolIsRead(t *testing.T) {
	tests := map[string]facts{
		"hey.txt":             {lint.Hey, 0, 41111, 10.0213, 50, 11, 12100, 72200, 151100, 0},
		"oha.txt":             {lint.Oha, 0, 502790, 10.0042511, 0, 0, 991.4, 2601.1, 21441, 0},
		"oha.json":            {lint.Oha, 0, 502797, 10.004251, 100, 7, 991.4, 2601.1, 21441, 0},
		"bombardier.txt":      {lint.Bombardier, 64, 302117, 10, 12, 5, 2120, 4400, 31070, 0},
		"bombardier.json.txt": {lint.Bombardier, 64, 302100, 10.001234, 0, 0, 2118.4, 4400, 31070, 0},
		"autocannon.txt":      {lint.Autocannon, 10, 25000, 25000 / 2510.4, 1004, 12, 3920, 14000, 60110, 0},
		"autocannon.json":     {lint.Autocannon, 10, 25104, 10.03, 0, 0, 3920, 14000, 60000, 0},
		"h2load.txt":          {lint.H2load, 10, 10000, 6.12, 6, 4, 28900, 0, 88720, 0},
		"fortio.json":         {lint.Fortio, 8, 20000, 10.0040016, 8, 2, 1560, 4100, 20210, 2000},
		"vegeta.txt":          {lint.Vegeta, 0, 20000, 10.01, 40, 60, 2102, 12070, 60.02e6, 2000},
		"vegeta.json":         {lint.Vegeta, 0, 20000, 10.0048, 0, 0, 2102, 12070, 60020, 2000},
		"vegeta-lines.json":   {lint.Vegeta, 0, 3, 2.03, 0, 1, 11066, 30000, 30000, 1},
		"jmeter.csv":          {lint.JMeter, 2, 4, 4, 0, 1, 35000, 50000, 50000, 0},
		"jmeter.jtl":          {lint.JMeter, 2, 2, 1.03, 0, 1, 25000, 30000, 30000, 0},
		"jmeter-headless.csv": {lint.JMeter, 2, 2, 1.03, 0, 0, 25000, 30000, 30000, 0},
		"locust_stats.csv":    {lint.Locust, 0, 20000, 20000 / 66.68, 0, 25, 24625, 160e3, 300.5e3, 0},
		"k6-machine.json":     {lint.K6, 20, 60000, 30.006, 0, 12, 9500, 0, 210500, 0},
		"k6-points.json":      {lint.K6, 3, 2, 10, 0, 1, 375e3, 500e3, 500e3, 0},
		"k6-points.csv":       {lint.K6, 3, 2, 10, 0, 0, 750e3, 1e6, 1e6, 0},
		"wrk2.txt":            {lint.Wrk2, 20, 60001, 30, 0, 0, 1210, 2610, 8410, 2000},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			samples := parse(t, name, read(t, filepath.Join("brought", name)))
			if len(samples) != 1 {
				t.Fatalf("%d samples, want one", len(samples))
			}
			if diff := cmp.Diff(want, factsOf(samples[0]), near); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if len(samples[0].Unread) > 0 {
				t.Errorf("unread lines %q", samples[0].Unread)
			}
			r := lint.Analyse(samples, nil)
			for _, f := range r.Findings {
				if f.Code == lint.ThroughputMismatch || f.Code == lint.OutOfOrder || f.Code == lint.Impossible {
					t.Errorf("a good output is called impossible: %s", f.Sentence)
				}
			}
		})
	}
}

func TestVegetaResultsAreRead(t *testing.T) {
	raw := read(t, filepath.Join("..", "..", "..", "tool", "vegeta", "testdata", "status.bin"))
	// Loadstone's own output holds another file before the records.
	_, records, _ := bytes.Cut(raw, []byte(".gob\n"))
	s := parse(t, "results.bin", records)[0]
	if s.Tool != lint.Vegeta || s.Requests == 0 || len(s.Latency) != 1 || s.Seconds.Value <= 0 || s.Arrivals == nil {
		t.Errorf("sample %+v", s)
	}
	if cut := parse(t, "cut.bin", records[:len(records)*2/3])[0]; !strings.HasPrefix(cut.Failed, "vegeta's results break off after ") {
		t.Errorf("results that were cut off are %+v", cut)
	}
}

// wrapped is a text in forms that people save.
func wrapped(text string) map[string][]byte {
	prefixed := func(format string) []byte {
		var b bytes.Buffer
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			fmt.Fprintf(&b, strings.ReplaceAll(format, "#", fmt.Sprint(i%10)), line)
			b.WriteByte('\n')
		}
		return b.Bytes()
	}
	wide := func(order func(u uint16) []byte, mark bool) []byte {
		var out []byte
		if mark {
			out = order(0xFEFF)
		}
		for _, u := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
			out = append(out, order(u)...)
		}
		return out
	}
	little := func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }
	big := func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} }
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return map[string][]byte{
		"UTF-16 of Windows":           wide(little, true),
		"UTF-16 without a mark":       wide(little, false),
		"UTF-16, big end first":       wide(big, true),
		"a byte order mark":           []byte("\xef\xbb\xbf" + text),
		"CRLF":                        []byte(strings.ReplaceAll(text, "\n", "\r\n")),
		"gzip":                        packed.Bytes(),
		"colors":                      prefixed("\x1b[32m%s\x1b[0m"),
		"kubectl --prefix":            prefixed("[pod/load-x7/wrk] %s"),
		"kubectl --timestamps":        prefixed("2026-03-01T10:15:0#.123456789Z %s"),
		"kubectl with both":           prefixed("[pod/load-x7/wrk] 2026-03-01T10:15:0#.123456789Z %s"),
		"docker compose":              prefixed("loadgen-1  | %s"),
		"docker compose in color":     prefixed("\x1b[36mloadgen-1  |\x1b[0m %s"),
		"GitHub Actions":              prefixed("2026-03-01T10:15:0#.1234567Z %s"),
		"GitHub Actions and compose":  prefixed("2026-03-01T10:15:0#.1234567Z loadgen-1  | %s"),
		"gh run view --log":           prefixed("bench\tRun wrk\t2026-03-01T10:15:0#.1234567Z %s"),
		"a log of CRI":                prefixed("2026-03-01T10:15:0#.123456789+01:00 stdout F %s"),
		"syslog":                      prefixed("Mar  1 10:15:0# host wrk[123]: %s"),
		"GitLab":                      prefixed("2026-03-01T10:15:0#.123456Z 00O %s"),
		"Jenkins":                     prefixed("[2026-03-01T10:15:0#.123Z] %s"),
		"a time of the day":           prefixed("10:15:0# %s"),
		"docker's file":               prefixed(`{"log":"%s\n","stream":"stdout","time":"2026-03-01T10:15:0#.123Z"}`),
		"a prefix that nobody knows":  prefixed("load-x7 wrk   :: %s"),
		"an added part of a patch":    prefixed("+%s"),
		"a comment of Markdown":       []byte("# Results\n\n```console\n" + text + "```\n\nText.\n"),
		"progress before it":          []byte("10%\r20%\r100%\r\n" + text),
		"escape sequences of a title": []byte("\x1b]0;wrk\a" + text),
		"a list of quoted lines":      prefixed("> > %s"),
		"concurrently":                prefixed("[wrk] %s"),
	}
}

func TestWrappersAreTakenOff(t *testing.T) {
	text := string(read(t, "wrk-steady.txt"))
	for name, wrapped := range wrapped(text) {
		t.Run(name, func(t *testing.T) {
			samples := parse(t, "x.log", wrapped)
			if len(samples) != 1 || samples[0].Requests != 18406 || samples[0].Connections != 8 || len(samples[0].Latency[0].Quantiles) != 4 {
				t.Errorf("samples %+v", samples)
			}
		})
	}
}

func TestFirstLinesMayBeMissing(t *testing.T) {
	tests := map[string]struct {
		file  string
		lines int
		want  int64
	}{
		"wrk without its first line":  {"wrk-steady.txt", 1, 8},
		"wrk without its label":       {"wrk-steady.txt", 2, 0},
		"ab without its banner":       {"ab-steady.txt", 12, 4},
		"h2load without its progress": {"brought/h2load.txt", 8, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rest := read(t, tc.file)
			whole := parse(t, "x.txt", rest)[0]
			for range tc.lines {
				_, rest, _ = bytes.Cut(rest, []byte("\n"))
			}
			samples := parse(t, "x.txt", rest)
			if len(samples) != 1 || samples[0].Requests != whole.Requests || samples[0].Connections != tc.want {
				t.Errorf("samples %+v, want %d requests on %d connections", samples, whole.Requests, tc.want)
			}
		})
	}
}

func TestAlternatingLinesOfPodsAreSeveralRuns(t *testing.T) {
	one, two := strings.Split(string(read(t, "wrk-steady.txt")), "\n"), strings.Split(string(read(t, "wrk-good.txt")), "\n")
	var b strings.Builder
	for i := range max(len(one), len(two)) {
		if i < len(one) {
			b.WriteString("[pod/load-a/wrk] " + one[i] + "\n")
		}
		if i < len(two) {
			b.WriteString("[pod/load-b/wrk] " + two[i] + "\n")
		}
	}
	samples := parse(t, "pods.log", []byte(b.String()))
	if len(samples) != 2 || samples[0].Stream != "pod/load-a/wrk" || samples[0].Requests != 18406 || samples[1].Stream != "pod/load-b/wrk" || samples[1].Requests == 18406 {
		t.Errorf("samples %+v", samples)
	}
}

func TestOneUnreadableRunHidesNoOther(t *testing.T) {
	text := string(read(t, "wrk-steady.txt")) + "Summary:\n  Total: soon\n\n" + string(read(t, "ab-steady.txt"))
	samples, refused := lint.Parse("mixed.txt", strings.NewReader(text))
	if len(samples) != 2 || len(refused) != 1 || refused[0].Line != strings.Count(string(read(t, "wrk-steady.txt")), "\n")+1 {
		t.Fatalf("%d samples and the refusals %+v", len(samples), refused)
	}
	out := lint.Text(lint.Analyse(samples, refused))
	if !strings.HasPrefix(out, "Not read\nmixed.txt:") || !strings.Contains(out, "All 2 samples valid") {
		t.Errorf("printed:\n%s", out)
	}
}

func TestManyRunsOfAFileAreReadInLinearTime(t *testing.T) {
	text := strings.Repeat(string(read(t, "wrk-steady.txt")), 6000)
	samples, refused := lint.Parse("many.txt", strings.NewReader(text))
	if len(samples) != 5001 || len(refused) != 1 || !strings.Contains(refused[0].Why, "more than 5000 runs") {
		t.Errorf("%d samples and the refusals %+v", len(samples), refused)
	}
}

// TestDocumentsAfterEachOther mixes JSON and text.
func TestJSONWithinOtherTextIsRead(t *testing.T) {
	text := "$ oha --output-format json http://h/\n" + string(read(t, "brought/oha.json")) + "\n$ wrk http://h/\n" + string(read(t, "wrk-steady.txt")) +
		"```json\n" + string(read(t, "brought/autocannon.json")) + string(read(t, "brought/vegeta.json")) + "```\n"
	var tools []string
	for _, s := range parse(t, "x.md", []byte(text)) {
		tools = append(tools, s.Tool)
	}
	if diff := cmp.Diff([]string{lint.Oha, lint.Wrk, lint.Autocannon, lint.Vegeta}, tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
