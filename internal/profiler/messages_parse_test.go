package profiler_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/profiler/lines"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func parseMessages(t *testing.T, name string) profiler.Messages {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "messages", name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := profiler.ParseMessages(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAnUnknownInstructionHasItsAddress(t *testing.T) {
	m := parseMessages(t, "illegal.log")
	if !strings.HasPrefix(m.UnknownInstruction, "0x") || !strings.HasPrefix(m.UnknownBytes, "0x62 0xF1") || m.Signal != "SIGILL" || m.Tool != "Memcheck" {
		t.Errorf("messages %+v", m)
	}
}

func TestStacksThatAreSwitchedAreCounted(t *testing.T) {
	if m := parseMessages(t, "switching.log"); m.StackSwitches != 3 || m.MaxStackFrame < 1<<20 {
		t.Errorf("messages %+v", m)
	}
}

func TestALoaderWithoutSymbolsIsNamed(t *testing.T) {
	if m := parseMessages(t, "stripped.log"); m.MissingSymbols != "ld-linux-x86-64.so.2" {
		t.Errorf("messages %+v", m)
	}
}

func TestACrashOfValgrindIsQuoted(t *testing.T) {
	if m := parseMessages(t, "crash.log"); m.Tool != "Callgrind" || !strings.Contains(m.Crash, "vgCallgrind_post_signal") {
		t.Errorf("messages %+v", m)
	}
}

func TestAnOrdinaryRunHasNothingToSay(t *testing.T) {
	if m := parseMessages(t, "planted.log"); m != (profiler.Messages{Tool: "Memcheck"}) {
		t.Errorf("messages %+v", m)
	}
	if m, err := profiler.ParseMessages(strings.NewReader("")); err != nil || m != (profiler.Messages{}) {
		t.Errorf("messages of an empty file %+v, error %v", m, err)
	}
}

func TestTooManyErrorsAreNoted(t *testing.T) {
	m, err := profiler.ParseMessages(strings.NewReader("==7== More than 1000 different errors detected.  I'm not reporting any more.\n"))
	if err != nil || !m.TooManyErrors {
		t.Errorf("messages %+v, error %v", m, err)
	}
}

func TestALineWithoutAnEndIsRefused(t *testing.T) {
	if _, err := profiler.ParseMessages(strings.NewReader(strings.Repeat("x", lines.MaxLine+1))); !errors.Is(err, lines.ErrLarge) {
		t.Errorf("error %v", err)
	}
}

func FuzzParseMessages(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	corpus.Add([]byte("==1== Memcheck, a memory error detector\n==1== valgrind: Unrecognised instruction at address 0x10912d.\nAssertion 'x' failed"))
	corpus.Fuzz(func(t testing.TB, text []byte) {
		if m, _ := profiler.ParseMessages(bytes.NewReader(text)); m.StackSwitches < 0 || m.MaxStackFrame < 0 {
			t.Errorf("messages %+v", m)
		}
	})
}
