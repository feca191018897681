package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFieldIsTheNumberAfterAKeyAtTheBeginningOfALine(t *testing.T) {
	for name, tc := range map[string]struct {
		text, key string
		want      int64
		ok        bool
	}{
		"after a blank":               {"usage_usec 12\n", "usage_usec", 12, true},
		"after a colon and a tab":     {"Threads:\t3\n", "Threads", 3, true},
		"in the last line":            {"a 1\nb 2", "b", 2, true},
		"of the first of two":         {"a 1\na 2\n", "a", 1, true},
		"not of a longer key":         {"a_total 1\na 2\n", "a", 2, true},
		"not within a line":           {"x a 1\n", "a", 0, false},
		"not of nonvoluntary as well": {"nonvoluntary_ctxt_switches:\t3\nvoluntary_ctxt_switches:\t10\n", "voluntary_ctxt_switches", 10, true},
		"nothing after it":            {"a\n", "a", 0, false},
		"a word after it":             {"a max\n", "a", 0, false},
		"a negative number":           {"a -1\n", "a", 0, false},
		"more than a number holds":    {"a 99999999999999999999\n", "a", 0, false},
		"an empty text":               {"", "a", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := field([]byte(tc.text), tc.key); ok != tc.ok || ok && got != tc.want {
				t.Errorf("field() = %d, %v; want %d, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestLineIsTheTextAfterItsKey(t *testing.T) {
	const text = "Name:\tserver\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\nmodel name\t: A CPU: of 2 GHz\nempty:\n"
	for key, want := range map[string]string{
		"Name": "server", "Cpus_allowed": "ff", "Cpus_allowed_list": "0-3,8", "model name": "A CPU: of 2 GHz", "empty": "", "model": "", "server": "",
	} {
		if got := line([]byte(text), key); got != want {
			t.Errorf("line(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestAFileIsReadAgainFromItsBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counter")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, want := range []string{"", "one", "longer than one", "x", strings.Repeat("wide ", 5000), "y"} {
		write(want)
		if got, err := f.Read(); err != nil || string(got) != want {
			t.Errorf("read %d bytes, %v; want %d", len(got), err, len(want))
		}
	}
}

// An endless file must not fill the agent's memory.
func TestAFileThatIsLargerThanAnyIsCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "endless")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 3*bufferSize)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := f.Read(); err != nil || len(got) != bufferSize {
		t.Errorf("read %d bytes, %v; want %d", len(got), err, bufferSize)
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "nothing")); err == nil {
		t.Error("a file that is not there is open")
	}
	folder, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := folder.Read(); err == nil {
		t.Errorf("a folder holds %q", got)
	}
	folder.Close()
	if got, err := folder.Read(); err == nil {
		t.Errorf("a closed file holds %q", got)
	}
	var none *File
	none.Close()
}
