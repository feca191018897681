package lint_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/cli/lint"
)

var update = flag.Bool("update", false, "write the golden outputs")

// ofServer makes n repeats of a server by the names of their files.
func ofServer(name string, n int, connections int64) []lint.Sample {
	var out []lint.Sample
	for i := range n {
		s := at(connections, 1000.25+float64(10*len(name)+i), 0.95*float64(connections))
		s.File = fmt.Sprintf("%s-run%d.txt", name, i+1)
		out = append(out, s)
	}
	return out
}

func join(lists ...[]lint.Sample) []lint.Sample {
	var out []lint.Sample
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func lastLine(samples []lint.Sample) string {
	text := strings.TrimRight(lint.Text(lint.Analyse(samples, nil)), "\n")
	return text[strings.LastIndex(text, "\n")+1:]
}

func TestTheVerdictSaysWhatIsValidAndWhatCanBeCompared(t *testing.T) {
	void := []lint.Sample{with(func(s *lint.Sample) {
		s.Errors.Status = 1
		s.Requests = 5000
		s.Throughput.Value, s.Seconds.Value = 500, 10
	})}
	retouched := void[0]
	retouched.Errors.Status = 0
	suspect := []lint.Sample{with(func(s *lint.Sample) { s.Errors.Timeout = 1; s.Connections = 100; s.Latency = nil })}
	latency := []lint.Sample{with(func(s *lint.Sample) {
		s.Requests, s.Throughput.Value, s.Seconds.Value = 999*6, 999, 6
		tailed(101, 0)(s)
	})}
	wrk := ofServer("epoll", 1, 10)
	wrk[0].Tool = lint.K6
	tests := map[string]struct {
		samples []lint.Sample
		want    string
	}{
		"one good file":                              {[]lint.Sample{good()}, "Sample valid: no comparison from one run."},
		"one void file":                              {void, "Sample void: no result is usable."},
		"one doubtful file":                          {suspect, "Sample suspect: no comparison from one run."},
		"one file of doubtful latencies":             {latency, "Sample suspect in latency only: no comparison from one run."},
		"two void files":                             {join(void, void), "All 2 samples void: no result is usable."},
		"a void file and a copy without its errors":  {join(void, []lint.Sample{retouched}), "Of 2 samples, 1 suspect, 1 void: no comparison, because no run has a usable throughput."},
		"a good and a void file":                     {join([]lint.Sample{good()}, void), "Of 2 samples, 1 valid, 1 void: no comparison from one run."},
		"a file and its copy":                        {[]lint.Sample{good(), good()}, "All 2 samples valid: no comparison from one run."},
		"repeats of one implementation":              {ofServer("go", 7, 10), "All 7 samples valid: 7 runs of one load from one source; there is nothing to compare them with."},
		"one implementation at several levels":       {join(ofServer("go", 2, 10), ofServer("go", 3, 11)), "All 5 samples valid: one source under 2 loads, with at least 2 runs of each; there is nothing to compare it with."},
		"one run of each of two implementations":     {join(ofServer("go", 1, 10), ofServer("epoll", 1, 10)), "All 2 samples valid: no comparison from one run."},
		"many runs of one and one of another":        {join(ofServer("go", 7, 10), ofServer("epoll", 1, 10)), "All 8 samples valid: no comparison from one run."},
		"six runs of each of two implementations":    {join(ofServer("go", 6, 10), ofServer("epoll", 7, 10)), "All 13 samples valid: a ratio but no verdict, because there are fewer than 7 runs of each."},
		"seven runs of each of two implementations":  {join(ofServer("go", 7, 10), ofServer("epoll", 8, 10)), "All 15 samples valid: at least 7 runs of each can be compared, if only the server differed."},
		"two implementations under different loads":  {join(ofServer("go", 7, 10), ofServer("epoll", 7, 11)), "All 14 samples valid: no comparison, because no two sources ran the same load."},
		"one implementation under two of the tools":  {join(ofServer("epoll", 1, 10), wrk), "All 2 samples valid: no comparison, because no two sources ran the same load."},
		"a level of one only beside a fair pair":     {join(ofServer("go", 7, 10), ofServer("epoll", 7, 10), ofServer("go", 1, 11)), "All 15 samples valid: at least 7 runs of each can be compared, if only the server differed."},
		"a good file and one of doubtful latencies":  {join([]lint.Sample{good()}, latency), "Of 2 samples, 1 valid, 1 suspect in latency only: 2 runs of one load from one source; there is nothing to compare them with."},
		"a good file, a doubtful one and a void one": {join([]lint.Sample{good()}, suspect, void), "Of 3 samples, 1 valid, 1 suspect, 1 void: one source under 2 loads, with at least 1 run of each; there is nothing to compare it with."},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, lastLine(tc.samples)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTextIsGolden holds what people read of recorded files.
func TestTextIsGolden(t *testing.T) {
	tests := map[string][]string{
		"one-good-file":        {"wrk-steady.txt"},
		"wrk-stall":            {"planted/wrk-stall.txt"},
		"wrk-hang":             {"planted/wrk-hang.txt"},
		"wrk-and-ab-disturbed": {"planted/wrk-stall-once.txt", "planted/ab-stall.txt"},
		"ab-stall-once":        {"planted/ab-stall-once.txt"},
		"ab-stall-long":        {"planted/ab-stall-long.txt"},
		"ab-unanswered":        {"planted/ab-unanswered.txt"},
		"two-servers":          {"good/ab-epoll-c4.txt", "good/ab-gohttp-c4.txt"},
		"one-server":           {"wrk-sweep.txt"},
	}
	for name, files := range tests {
		t.Run(name, func(t *testing.T) {
			var samples []lint.Sample
			for _, f := range files {
				samples = append(samples, parseText(t, f, readText(t, f))...)
			}
			got := lint.Text(lint.Analyse(samples, nil))
			golden := filepath.Join("testdata", "golden", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("text (-golden +got):\n%s", diff)
			}
		})
	}
}
