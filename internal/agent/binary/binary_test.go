package binary_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/binary"
	"loadstone.dev/loadstone/internal/record"
)

const program = `
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
	char text[64];
	char *more = malloc(argc + 1);
	ASSERT(argc < 100);
	strcpy(text, argv[0]);
	printf("%d %p %s\n", argc, (void *)more, text);
	return 0;
}
`

const goProgram = `package main

import "fmt"

func main() { fmt.Println("ready") }
`

const zigProgram = `
const std = @import("std");
pub fn main() void { std.debug.print("ready\n", .{}); }
`

func write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func run(tb testing.TB, dir, compiler string, args ...string) {
	tb.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		tb.Skipf("%s is not installed: no executable can be built", compiler)
	}
	cmd := exec.CommandContext(tb.Context(), compiler, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%s %q: %v\n%s", compiler, args, err, out)
	}
}

func compiled(tb testing.TB, flags ...string) string {
	tb.Helper()
	source := write(tb, "server.c", program)
	out := strings.TrimSuffix(source, ".c")
	asserting := "-DASSERT=assert"
	if slices.Contains(flags, "-DNDEBUG") {
		asserting = "-DASSERT(x)="
	}
	run(tb, filepath.Dir(source), "gcc", append([]string{asserting, source, "-o", out}, flags...)...)
	return out
}

func facts(tb testing.TB, path string) record.Binary {
	tb.Helper()
	b, err := binary.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func answers(b record.Binary) map[string]string {
	return map[string]string{
		"optimized": string(b.Build.Optimized.Is), "debugInfo": string(b.Build.DebugInfo.Is), "coverage": string(b.Build.Coverage.Is),
		"sanitizers": string(b.Build.Sanitizers.Is), "assertions": string(b.Build.Assertions.Is), "stripped": string(b.Build.Stripped.Is),
		"pie": string(b.Build.PIE.Is), "static": string(b.Build.Static.Is), "relro": b.RELRO, "bindNow": string(b.BindNow.Is),
		"stackProtector": string(b.StackProtector.Is), "stackClash": string(b.StackClash.Is), "fortify": string(b.Fortify.Is),
		"branchTargets": string(b.BranchTargets.Is), "allocator": b.Allocator,
	}
}

func TestBinariesOfGCCShowHowTheyWereBuilt(t *testing.T) {
	for name, tc := range map[string]struct {
		flags []string
		want  map[string]string
	}{
		"optimised with debug information": {[]string{"-O2", "-g"}, map[string]string{
			"optimized": "yes", "debugInfo": "yes", "stripped": "no", "coverage": "no", "sanitizers": "no", "assertions": "yes", "static": "no",
			"allocator": "glibc", "stackClash": "no",
		}},
		"no optimisation":                     {[]string{"-O0", "-g"}, map[string]string{"optimized": "no"}},
		"the default, which is none":          {[]string{"-g"}, map[string]string{"optimized": "no"}},
		"the last -O counts":                  {[]string{"-g", "-O3", "-O0"}, map[string]string{"optimized": "no"}},
		"for size":                            {[]string{"-g", "-Os"}, map[string]string{"optimized": "yes"}},
		"flags that are not recorded":         {[]string{"-O2", "-g", "-gno-record-gcc-switches"}, map[string]string{"optimized": "unknown", "stackClash": "unknown"}},
		"compressed debug information":        {[]string{"-O2", "-g", "-gz"}, map[string]string{"optimized": "yes"}},
		"an older form of debug information":  {[]string{"-O2", "-gdwarf-4"}, map[string]string{"optimized": "yes"}},
		"debug information with wide offsets": {[]string{"-O2", "-g", "-gdwarf64"}, map[string]string{"optimized": "yes"}},
		"no debug information":                {[]string{"-O2"}, map[string]string{"optimized": "unknown", "debugInfo": "no", "assertions": "yes"}},
		"stripped": {[]string{"-O2", "-g", "-s"}, map[string]string{
			"optimized": "unknown", "debugInfo": "no", "stripped": "yes", "assertions": "yes", "coverage": "no", "sanitizers": "no", "allocator": "glibc",
		}},
		"stripped with recorded flags":   {[]string{"-O2", "-frecord-gcc-switches", "-s"}, map[string]string{"optimized": "yes", "stripped": "yes"}},
		"no assertions":                  {[]string{"-O2", "-DNDEBUG"}, map[string]string{"assertions": "no"}},
		"address sanitizer":              {[]string{"-O1", "-fsanitize=address"}, map[string]string{"sanitizers": "yes"}},
		"a stripped sanitizer":           {[]string{"-O1", "-fsanitize=undefined", "-s"}, map[string]string{"sanitizers": "yes"}},
		"coverage":                       {[]string{"-O0", "--coverage"}, map[string]string{"coverage": "yes"}},
		"stripped coverage":              {[]string{"-O0", "--coverage", "-s"}, map[string]string{"coverage": "unknown"}},
		"position-independent":           {[]string{"-fpie", "-pie"}, map[string]string{"pie": "yes"}},
		"at a fixed address":             {[]string{"-fno-pie", "-no-pie"}, map[string]string{"pie": "no", "static": "no"}},
		"static":                         {[]string{"-O2", "-static"}, map[string]string{"static": "yes", "pie": "no", "allocator": "glibc", "assertions": "unknown", "bindNow": "yes", "coverage": "no"}},
		"static and stripped":            {[]string{"-O2", "-static", "-s"}, map[string]string{"static": "yes", "allocator": "unknown", "assertions": "unknown", "stackProtector": "unknown", "coverage": "no", "sanitizers": "no"}},
		"static and without address":     {[]string{"-O2", "-static-pie", "-fpie", "-Wl,-z,relro,-z,now"}, map[string]string{"static": "yes", "pie": "yes", "relro": "full", "bindNow": "yes"}},
		"bound before it starts":         {[]string{"-Wl,-z,relro,-z,now"}, map[string]string{"relro": "full", "bindNow": "yes"}},
		"bound late":                     {[]string{"-Wl,-z,relro,-z,lazy"}, map[string]string{"relro": "partial", "bindNow": "no"}},
		"writable throughout":            {[]string{"-Wl,-z,norelro,-z,lazy"}, map[string]string{"relro": "none"}},
		"a stack protector":              {[]string{"-fstack-protector-all"}, map[string]string{"stackProtector": "yes"}},
		"no stack protector":             {[]string{"-fno-stack-protector"}, map[string]string{"stackProtector": "no"}},
		"static with a stack protector":  {[]string{"-g", "-fstack-protector-all", "-static"}, map[string]string{"stackProtector": "yes"}},
		"probed frames":                  {[]string{"-g", "-fstack-clash-protection"}, map[string]string{"stackClash": "yes"}},
		"checked calls of the C library": {[]string{"-O2", "-D_FORTIFY_SOURCE=2"}, map[string]string{"fortify": "yes"}},
		"unchecked calls":                {[]string{"-O2", "-U_FORTIFY_SOURCE"}, map[string]string{"fortify": "no"}},
		"only a part for checked jumps":  {[]string{"-fcf-protection=none"}, map[string]string{"branchTargets": "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := facts(t, compiled(t, tc.flags...))
			got := answers(b)
			for question, want := range tc.want {
				if got[question] != want {
					t.Errorf("%s: got %q, want %q: %+v", question, got[question], want, b)
				}
			}
			if len(b.SHA256) != 64 || b.Bytes == 0 || b.Format != "ELF 64-bit little-endian" || len(b.Compilers) == 0 {
				t.Errorf("got %+v", b)
			}
		})
	}
}

func TestABinaryNamesWhatItNeedsAndWhoCompiledIt(t *testing.T) {
	b := facts(t, compiled(t, "-O2", "-g", "-Wl,--build-id=0x0123456789abcdef"))
	if b.BuildID != "0123456789abcdef" || !strings.Contains(b.Interpreter, "/ld-") || len(b.Libraries) == 0 {
		t.Errorf("got %+v", b)
	}
	if len(b.Compilers) == 0 || !strings.HasPrefix(b.Compilers[0], "GNU C") || len(b.Flags) == 0 || !strings.Contains(b.Flags[0], "-O2") {
		t.Errorf("compilers %q with %q", b.Compilers, b.Flags)
	}
	if by := b.Build.Optimized.By; !strings.Contains(by, "-O2") {
		t.Errorf("optimised by %q", by)
	}
}

func TestBinariesOfGoShowHowTheyWereBuilt(t *testing.T) {
	for name, tc := range map[string]struct {
		flags []string
		want  map[string]string
	}{
		"as it comes":          {nil, map[string]string{"optimized": "yes", "debugInfo": "yes", "stripped": "no", "coverage": "no", "assertions": "no", "static": "yes", "allocator": "Go runtime"}},
		"no optimisation":      {[]string{"-gcflags=all=-N -l"}, map[string]string{"optimized": "no"}},
		"stripped and without": {[]string{"-gcflags=all=-N -l", "-ldflags=-s -w"}, map[string]string{"optimized": "no", "debugInfo": "no", "stripped": "yes"}},
		"stripped":             {[]string{"-ldflags=-s -w", "-trimpath"}, map[string]string{"optimized": "yes", "stripped": "yes", "coverage": "no", "sanitizers": "no", "stackClash": "no"}},
		"coverage":             {[]string{"-cover"}, map[string]string{"coverage": "yes"}},
		"position-independent": {[]string{"-buildmode=pie"}, map[string]string{"pie": "yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := write(t, "main.go", goProgram)
			dir := filepath.Dir(source)
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/server\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, dir, "go", append(append([]string{"build", "-o", "server"}, tc.flags...), ".")...)
			b := facts(t, filepath.Join(dir, "server"))
			got := answers(b)
			for question, want := range tc.want {
				if got[question] != want {
					t.Errorf("%s: got %q, want %q: %+v", question, got[question], want, b)
				}
			}
			if b.Go == nil || !strings.HasPrefix(b.Go.Version, "go1.") || b.Go.Path != "example.com/server" {
				t.Errorf("Go's build information is %+v", b.Go)
			}
		})
	}
}

func TestABinaryOfZigHidesItsOptimisation(t *testing.T) {
	zig := "zig"
	if _, err := exec.LookPath(zig); err != nil {
		zig = filepath.Join(os.Getenv("HOME"), ".cache/loadstone/bin/zig")
	}
	source := write(t, "server.zig", zigProgram)
	run(t, filepath.Dir(source), zig, "build-exe", "-O", "ReleaseFast", source, "-femit-bin="+filepath.Join(filepath.Dir(source), "server"))
	b := facts(t, filepath.Join(filepath.Dir(source), "server"))
	if b.Build.Optimized.Is != record.Unknown || b.Build.Assertions.Is != record.Unknown || b.Build.Static.Is != record.Yes {
		t.Errorf("got %+v", b)
	}
	if !strings.Contains(strings.Join(b.Compilers, " "), "zig") {
		t.Errorf("compilers %q", b.Compilers)
	}
}

func TestWhatIsNoExecutableIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":              "",
		"a script":             "#!/bin/sh\nexec server\n",
		"the magic alone":      "\x7fELF",
		"a header of nonsense": "\x7fELF" + strings.Repeat("\xff", 100),
	} {
		t.Run(name, func(t *testing.T) {
			if b, err := binary.Read(strings.NewReader(text), int64(len(text))); err == nil {
				t.Errorf("got %+v", b)
			}
		})
	}
	if _, err := binary.Open(filepath.Join(t.TempDir(), "nothing")); err == nil {
		t.Error("a file that is not there was read")
	}
	if _, err := binary.Open(t.TempDir()); err == nil {
		t.Error("a folder was read")
	}
}

func TestSymbolsAreLookedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		flags []string
		want  map[string]record.Truth
	}{
		"whole":    {nil, map[string]record.Truth{"main": record.Yes, "malloc": record.Yes, "mi_malloc": record.No}},
		"stripped": {[]string{"-s"}, map[string]record.Truth{"main": record.Unknown, "malloc": record.Yes, "mi_malloc": record.Unknown}},
		"static":   {[]string{"-static"}, map[string]record.Truth{"main": record.Yes, "malloc": record.Yes, "mi_malloc": record.No}},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := binary.Open(compiled(t, tc.flags...), "main", "malloc", "mi_malloc")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]record.Truth{}
			for _, s := range b.Symbols {
				got[s.Name] = s.There.Is
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASanitizerInTheFileIsNotTakenForAnother(t *testing.T) {
	got := facts(t, compiled(t, "-O1", "-fsanitize=undefined", "-static-libubsan")).Build.Sanitizers
	if got.Is != record.Yes || strings.Contains(got.By, "address") || !strings.Contains(got.By, "undefined behaviour") {
		t.Errorf("got %+v", got)
	}
}

func TestReadingTwiceGivesTheSame(t *testing.T) {
	path := compiled(t, "-O2", "-g", "--coverage", "-fsanitize=address")
	if diff := cmp.Diff(facts(t, path), facts(t, path)); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

// FuzzBrokenFiles truncates a real executable and overwrites a few of its bytes.
func FuzzBrokenFiles(f *testing.F) {
	whole, err := os.ReadFile(compiled(f, "-O2", "-g", "-frecord-gcc-switches"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{}, uint32(0))
	// Offsets of the counts and positions of segments and sections, and of the first section header.
	for _, place := range []uint32{4, 16, 18, 32, 40, 54, 56, 58, 60, 62, 64, uint32(len(whole)) - 60, uint32(len(whole)) - 120} {
		f.Add(place, []byte{0xff, 0xff, 0xff, 0x7f}, uint32(0))
		f.Add(place, []byte{0, 0, 0, 0}, uint32(7))
	}
	f.Fuzz(func(t *testing.T, place uint32, bytesOver []byte, cut uint32) {
		text := bytes.Clone(whole)
		copy(text[int(place)%len(text):], bytesOver)
		text = text[:len(text)-int(cut)%len(text)]
		b, err := binary.Read(bytes.NewReader(text), int64(len(text)))
		if err == nil && b.Bytes != int64(len(text)) {
			t.Errorf("it has %d bytes, and is said to have %d", len(text), b.Bytes)
		}
	})
}
