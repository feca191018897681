package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/cli/runfile"
)

func TestVsSavesValidRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "server.tar"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"a free port for each server": {
			[]string{"./old --port {port}", "./new --port={port}"},
			[]string{`- name: old\n    command: \[./old, "--port", "(\d+)"\]\n    port: (\d+)\n`, `- name: new\n    command: \[./new, "--port=(\d+)"\]\n`, `baseline: old\n`, `blocks: 7\n`, `- connections: 10\n`},
		},
		"a fixed port":               {[]string{"./old", "./new -v", "--port", "81"}, []string{`command: \[./old\]\n    port: 81\n`, `command: \[./new, "-v"\]\n    port: 81\n`}},
		"one program twice":          {[]string{"/bin/Server_1 a {port}", "/bin/Server_1 b {port}"}, []string{`name: server-1-1\n`, `name: server-1-2\n`}},
		"names":                      {[]string{"base=./x {port}", "head=./x {port}"}, []string{`name: base\n`, `name: head\n`, `baseline: base\n`}},
		"images":                     {[]string{"r.io/team/server:1.4", "./server.tar", "--port", "80"}, []string{`name: server-1-4\n    image: r.io/team/server:1.4\n    port: 80\n`, `name: server\n    image: ./server.tar\n`}},
		"quotes":                     {[]string{`./a 'x y' "z" {port}`, "./b {port}"}, []string{`command: \[./a, "x y", z, "\d+"\]\n`}},
		"another load":               {[]string{"./a {port}", "./b {port}", "--path", "/x", "--connections", "1,50"}, []string{`path: /x\n`, `- connections: 1\n    - connections: 50\n`}},
		"timed commands":             {[]string{"--time", "sort a.txt", "gsort -n a.txt"}, []string{`command: \[sort, a.txt\]\n    memory: \d+[MG]i\n`, `format: Time\n`}},
		"a long name, and a number":  {[]string{"--time", "./a-very-long-name-of-a-program", "./1"}, []string{`name: a-very-long-name-of\n`, `name: i1\n`}},
		"a command that has a colon": {[]string{"./a {port} x:y", "./b {port}"}, []string{`command: \[./a, "\d+", x:y\]\n`}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.yaml")
			if out, err := execute(t, append([]string{"vs", "--save", file}, tc.args...)...); err != nil || out != "" {
				t.Fatalf("it prints %q and ends with %v", out, err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := runfile.Parse(t.Context(), text); err != nil {
				t.Error(err)
			}
			for _, want := range tc.want {
				if !regexp.MustCompile(want).Match(text) {
					t.Errorf("it does not hold %q:\n%s", want, text)
				}
			}
		})
	}
}

func TestVsRefusesInvalidInput(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"one implementation":         {[]string{"./a {port}"}, "name at least two implementations"},
		"no port":                    {[]string{"./a", "./b"}, `"./a" does not say its port: write {port} where the port belongs`},
		"an image without a port":    {[]string{"a:1", "a:2"}, "the image a:1 needs the port that its server listens on: add --port PORT"},
		"an address":                 {[]string{"http://a", "http://b"}, `"http://a" is an address, and Loadstone measures only servers that it starts`},
		"shell syntax":               {[]string{"--time", "ls | wc", "ls"}, `"ls | wc" has shell syntax (|), and commands run without a shell: put it in a script`},
		"an open quote":              {[]string{"--time", "ls 'a", "ls"}, `"ls 'a" has a quote that is not closed`},
		"nothing":                    {[]string{"--time", " ", "ls"}, `" " is empty: write a command`},
		"a flag of servers":          {[]string{"--time", "ls", "ls -l", "--port", "1"}, "--port is for servers, and --time for other commands: remove one of them"},
		"one name twice":             {[]string{"a=./x {port}", "b=./x {port}", "a=./y {port}", "--port", "x"}, `invalid argument "x" for "--port"`},
		"response times of commands": {[]string{"--time", "ls", "ls -l", "--response-times"}, "--response-times is for servers, and --time for other commands"},
		"response times, only saved": {[]string{"./a {port}", "./b {port}", "--response-times", "--save", "x"}, "--response-times measures the rate first, and --save measures nothing"},
		"a port that is too large":   {[]string{"./a", "./b", "--port", "70000"}, "spec.implementations[0].port"},
		"a path without a slash":     {[]string{"./a {port}", "./b {port}", "--path", "x"}, "path"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := execute(t, append([]string{"vs"}, tc.args...)...); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), tc.want) || out != "" {
				t.Errorf("it prints %q and ends with %v, want %q", out, err, tc.want)
			}
		})
	}
}

// Whether the verdict counts depends on the machine; the measurements and the output do not.
func TestVsTimesCommands(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := filepath.Join(t.TempDir(), "results")
	out, err := loadstone(ctx, "vs", "--time", "short=/bin/sh -c 'exit 0'", "long=/bin/sh -c 'sleep 0.05'", "--out", results).CombinedOutput()
	if got := statusAfter(err); got != 0 && got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, out)
	}
	for _, want := range []string{"14 trials, at most ", "block 7/7", "process Time ", "process CPU time ", "report: "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not print %q: %s", want, out)
		}
	}
	leavesNothing(t, results)
}

func TestVsSaysWhyNothingCanBeCompared(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := servers(t)
	if err := buildFaulty(); err != nil {
		t.Fatal(err)
	}
	good, faulty := filepath.Join(dir, "gohttp")+" --port={port}", filepath.Join(serverFolder, "faulty")+" --port={port}"
	for name, tc := range map[string]struct{ other, want string }{
		"a server that ends":      {"/bin/false {port}", "ServerExited"},
		"another body":            {faulty + " --answer=" + strings.Repeat("x", 1000), "do different work: GET / is answered with a body of 1,000 B and 10 B. Correct the server or the request"},
		"an error":                {faulty + " --error-every=1", "GET / answered 500 instead of 200"},
		"a body that is not kept": {faulty + " --wrong-length-every=2", "for a body that differs each time, set expect: {bodies: Any}"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := loadstone(ctx, "vs", good, tc.other, "--out", filepath.Join(t.TempDir(), "results")).CombinedOutput()
			if got := statusAfter(err); got != statusFailed || !bytes.Contains(out, []byte(tc.want)) || !bytes.Contains(out, []byte("nothing was measured, because the rehearsal failed: ")) {
				t.Errorf("it ends with status %d: %s\nwant %s", got, out, tc.want)
			}
		})
	}
}

func TestRateForResponseTimes(t *testing.T) {
	for throughput, want := range map[float64]int32{2: 1, 20: 14, 999: 690, 12_345: 8600, 80_000: 10_000} {
		if got := rateFor(throughput); got != want {
			t.Errorf("rateFor(%v) = %d, want %d", throughput, got, want)
		}
	}
}

func TestVsComparesResponseTimes(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	server := filepath.Join(servers(t), "gohttp") + " --port={port}"
	results := filepath.Join(t.TempDir(), "results")
	c := loadstone(ctx, "vs", "a="+server, "b="+server, "--response-times", "--out", results)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// One trial has the load at the rate. The others are like it.
	told, rate := regexp.MustCompile(`the lowest throughput in a short test was \d+ requests/s: response times are compared at (\d+) requests/s$`), ""
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := told.FindStringSubmatch(lines.Text()); m != nil {
			rate = m[1]
		}
		if strings.HasPrefix(lines.Text(), "block 1/7 ") {
			if rate == "" || !strings.Contains(lines.Text(), "response-times-10-r"+rate+" ") {
				t.Errorf("the rate is %q, and a trial prints %q", rate, lines.Text())
			}
			break
		}
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	rest, err := io.ReadAll(out)
	if got := statusAfter(errors.Join(err, c.Wait())); got != statusInterrupted || rate == "" {
		t.Errorf("it ends with status %d: %s", got, rest)
	}
	leavesNothing(t, results)
}
