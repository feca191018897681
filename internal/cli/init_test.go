package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/cli/runfile"
)

func TestInitWritesValidRun(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"an example":      {nil, []string{"  - name: old\n    command: [./server-old, \"--port=8080\"]\n    port: 8080\n", "baseline: old\n", "blocks: 10\n"}},
		"commands":        {[]string{"a=./a --name=x:y", "b=/usr/bin/b -p 80", "--port", "80"}, []string{"command: [./a, \"--name=x:y\"]", "command: [/usr/bin/b, \"-p\", \"80\"]", "baseline: a\n", "port: 80\n"}},
		"images":          {[]string{"--image", "a=r.io/a:1", "--image", "b=r.io/b:2"}, []string{"  - name: a\n    image: r.io/a:1\n    port: 8080\n"}},
		"both, and flags": {[]string{"--image", "a=r.io/a:1", "a=/a", "b=/b", "--tool", "ab", "--connections", "1,50", "--seconds", "2", "--blocks", "7", "--name", "on", "--path", "/x y"}, []string{"tool: ab\n", "- connections: 1\n    - connections: 50\n", "durationSeconds: 2\n", "blocks: 7\n", "name: \"on\"\n", "path: \"/x y\"\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := execute(t, append([]string{"init"}, tc.args...)...)
			if name == "both, and flags" { // A path with a blank is none.
				if err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), "path") {
					t.Fatalf("a path with a blank ends with %v", err)
				}
				for i := range tc.args {
					tc.args[i] = strings.Replace(tc.args[i], "/x y", "/x?y=%20", 1)
				}
				out, err = execute(t, append([]string{"init"}, tc.args...)...)
				tc.want[len(tc.want)-1] = "path: \"/x?y=%20\"\n"
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := runfile.Parse(t.Context(), []byte(out)); err != nil {
				t.Error(err)
			}
			for _, want := range tc.want {
				if !strings.Contains(out, want) {
					t.Errorf("it does not hold %q:\n%s", want, out)
				}
			}
		})
	}
}

func TestInitCommentsAreValid(t *testing.T) {
	out, err := execute(t, "init")
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"stop:", "objectives:", "- {", "placement:"} {
		if !strings.Contains(out, "  # "+field) {
			t.Errorf("it holds no comment with %s", field)
		}
		out = strings.ReplaceAll(out, "  # "+field, "  "+field)
	}
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if printed, err := execute(t, "validate", path); err != nil {
		t.Error(printed, err)
	}
}

func TestInitWarnsAboutSingleImplementation(t *testing.T) {
	const want = "there is only one implementation"
	for name, tc := range map[string]struct {
		args []string
		said bool
	}{"one": {[]string{"a=./a"}, true}, "two": {[]string{"a=./a", "y=./b"}, false}, "the example": {nil, false}} {
		t.Run(name, func(t *testing.T) {
			if out, err := execute(t, append([]string{"init"}, tc.args...)...); err != nil || strings.Contains(out, want) != tc.said {
				t.Errorf("it prints %s, %v", out, err)
			}
		})
	}
}

func TestInitRefusesInvalidInput(t *testing.T) {
	there := filepath.Join(t.TempDir(), "run.yaml")
	if out, err := execute(t, "init", "--out", there); err != nil || out != "" {
		t.Fatalf("it prints %q and ends with %v", out, err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no command":            {[]string{"a="}, `"a=" is not an implementation: write NAME=COMMAND`},
		"no name":               {[]string{"./server"}, `"./server" is not an implementation`},
		"a name that is none":   {[]string{"A=./a", "b=./b"}, "an implementation's name: use lower-case letters"},
		"one name twice":        {[]string{"a=./a", "a=./b"}, `an earlier item also has name "a"`},
		"a tool that is none":   {[]string{"--tool", "hammer"}, `unknown value "hammer"`},
		"no blocks":             {[]string{"--blocks", "-1"}, "spec.blocks"},
		"a file that is there":  {[]string{"--out", there}, "already exists: choose another file with --out"},
		"a folder that is none": {[]string{"--out", filepath.Join(there, "below.yaml")}, "writing the run file"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := execute(t, append([]string{"init"}, tc.args...)...); err == nil || status(err) != statusBadInput || !strings.Contains(err.Error(), tc.want) || out != "" {
				t.Errorf("it prints %q and ends with %v, want %q", out, err, tc.want)
			}
		})
	}
}
