package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadstone.dev/loadstone/internal/profiler"
)

func TestTheAgentIsBroughtAloneUnlessProfilersAreAskedFor(t *testing.T) {
	none := func(string) string { return "" }
	folder := t.TempDir()
	path := filepath.Join(folder, "agent")
	if err := run(t.Context(), os.Stdout, []string{"bring", path}, none); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("it is %v, %v", info, err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside it lie %v, %v", entries, err)
	}
	if _, err := os.Stat("/" + profiler.ToolboxFolder); err == nil {
		t.Skip("this machine has a toolbox")
	}
	err = run(t.Context(), os.Stdout, []string{"bring", path, filepath.Join(folder, "toolbox")}, none)
	if err == nil || !strings.Contains(err.Error(), "copying the profilers") {
		t.Errorf("an image without profilers brings them: %v", err)
	}
}
