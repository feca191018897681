package workloads_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var compiled = regexp.MustCompile(`(?m)^.*\b(?:cc|c\+\+) .*\.(?:c|cc|cpp)\b.*$`)

func TestFramesTouchEachOfTheirPages(t *testing.T) {
	makefiles, err := filepath.Glob("*/Makefile")
	if err != nil || len(makefiles) == 0 {
		t.Fatalf("there are %d Makefiles: %v", len(makefiles), err)
	}
	found := 0
	for _, makefile := range makefiles {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		command := exec.CommandContext(ctx, "make", "-nB", "-C", filepath.Dir(makefile), "CC=cc", "CXX=c++", "OUT="+t.TempDir())
		command.WaitDelay = time.Second
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", makefile, err, out)
		}
		for _, line := range compiled.FindAllString(string(out), -1) {
			found++
			if !strings.Contains(line, "-fstack-clash-protection") && !strings.Contains(line, "-fsanitize=") {
				t.Errorf("%s builds what may step over a guard page: %s", makefile, line)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d lines compile anything", found)
	}
}
