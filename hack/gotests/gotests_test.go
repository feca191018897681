package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write creates a module with one package and changes to its folder.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module " + module + "\n\ngo 1.24\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOWORK", "off")
}

const (
	good = `package good
import "testing"
func TestGood(t *testing.T) { t.Log("quiet please") }
`
	bad = `package bad
import "testing"
func TestGood(t *testing.T) { t.Log("quiet please") }
func TestBad(t *testing.T) {
	t.Run("right", func(t *testing.T) { t.Log("quiet please") })
	t.Run("wrong one", func(t *testing.T) { t.Error("this is why") })
}
func TestWorse(t *testing.T) { panic("out of order") }
`
)

func TestPrintsFailuresWholeAndTheCommandsThatRepeatThem(t *testing.T) {
	write(t, map[string]string{
		"good/good_test.go": good, "bad/bad_test.go": bad,
		"broken/broken_test.go": "package broken\nimport \"testing\"\nfunc TestX(t *testing.T) { nothing() }\n",
	})
	var out bytes.Buffer
	err := run(&out, "again", []string{"./..."})
	if err == nil || !strings.Contains(err.Error(), "2 packages failed") {
		t.Errorf("it ends with %v, want two failed packages", err)
	}
	for _, want := range []string{"ok    good", "FAIL  bad", "this is why", "panic: out of order", "FAIL  broken", "undefined: nothing"} {
		if strings.Count(out.String(), want) < 1 {
			t.Errorf("it does not print %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "quiet please") {
		t.Errorf("it prints what tests wrote that passed:\n%s", &out)
	}
	again, err := os.ReadFile("again")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go test ./bad -run '^TestBad$'\n", "go test ./bad -run '^TestWorse$'\n", "go test ./broken\n"} {
		if strings.Count(string(again), want) != 1 {
			t.Errorf("the commands are %q, want %q once", again, want)
		}
	}
	if strings.Count(string(again), "\n") != 3 {
		t.Errorf("there are more commands than failures: %q", again)
	}
}

func TestPrintsALineForAPackageThatPasses(t *testing.T) {
	write(t, map[string]string{"good/good_test.go": good, "none/none.go": "package none\n"})
	for flag, lines := range map[string]int{"-v=false": 1, "-v": 2} {
		var out bytes.Buffer
		if err := run(&out, "again", []string{flag, "./..."}); err != nil {
			t.Fatal(err)
		}
		if strings.Count(out.String(), "\n") != lines || !strings.Contains(out.String(), "ok    good") {
			t.Errorf("with %s it prints %q, want %d lines", flag, &out, lines)
		}
	}
	if _, err := os.Stat("again"); err == nil {
		t.Error("there is a command although nothing failed")
	}
}

func TestNamesTheTestInWhichTheProcessEnded(t *testing.T) {
	t.Setenv("CGO_ENABLED", "1") // For the race detector.
	write(t, map[string]string{"gone/gone_test.go": "package gone\nimport (\"os\"; \"testing\")\nfunc TestGood(t *testing.T) {}\nfunc TestGone(t *testing.T) { os.Exit(3) }\n"})
	if err := run(new(bytes.Buffer), "again", []string{"-race", "./..."}); err == nil {
		t.Error("it passes")
	}
	again, err := os.ReadFile("again")
	if want := "go test -race ./gone -run '^TestGone$'\n"; err != nil || string(again) != want {
		t.Errorf("the commands are %q, %v, want %q", again, err, want)
	}
}

func TestGoTestStartFailureIsAnError(t *testing.T) {
	write(t, map[string]string{"good/good_test.go": good})
	if err := run(new(bytes.Buffer), "", []string{"-nonsense", "./..."}); err == nil {
		t.Error("go test refused a flag, and it passes")
	}
}
