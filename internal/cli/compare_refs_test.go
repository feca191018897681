package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a Git repository with branches main and slow, whose script bench prints a case of 100 and 200 ns, and changes into it.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	// Nothing of the user's configuration.
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=n", "-c", "user.email=n@example", "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	commit := func(nanos string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "source"), []byte("#!/bin/sh\necho \"BenchmarkSort 1000 "+nanos+" ns/op\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		run("add", "source")
		run("commit", "--quiet", "--message", nanos)
	}
	run("init", "--quiet", "--initial-branch", "main")
	commit("100")
	run("checkout", "--quiet", "-b", "slow")
	commit("200")
	return dir
}

func TestCompareRefsMeasuresBothCommits(t *testing.T) {
	skipUnmeasured(t, cannotMeasure())
	dir := repository(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	results := filepath.Join(t.TempDir(), "results")
	out, err := loadstone(ctx, "compare-refs", "main", "HEAD", "--build", "cp source bench", "--format", "GoTest", "--out", results, "--", "./bench").CombinedOutput()
	// The bound of 5 % is missed, unless other programs of the machine void the processes.
	if got := statusAfter(err); got != statusMissed && got != statusInconclusive {
		t.Fatalf("it ends with status %d: %s", got, out)
	}
	for _, want := range []string{"building main (", "building HEAD (", "main  BenchmarkSort Time 100 ns", "head  BenchmarkSort Time 200 ns", "report: "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not print %q: %s", want, out)
		}
	}
	if list, err := git(t.Context(), "worktree", "list"); err != nil || strings.Contains(list, "\n") {
		t.Errorf("it leaves the folders %s, %v", list, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bench")); err == nil {
		t.Error("it has built in the user's folder")
	}
}

func TestCompareRefsRefusesInvalidInput(t *testing.T) {
	dir := repository(t)
	refused := func(want string, code int, args ...string) {
		t.Helper()
		out, err := execute(t, append([]string{"compare-refs"}, args...)...)
		if err == nil || status(err) != code || !strings.Contains(err.Error(), want) {
			t.Errorf("%v prints %q and ends with %v, want %q", args, out, err, want)
		}
		if list, err := git(t.Context(), "worktree", "list"); err == nil && strings.Contains(list, "\n") {
			t.Errorf("%v leaves the folders %s", args, list)
		}
	}
	server := []string{"--", "./server", "--port={port}"}
	refused("name two commits, and the command after two dashes", statusBadInput, "main", "slow")
	refused("name two commits, and the command after two dashes", statusBadInput, append([]string{"main"}, server...)...)
	refused(`this repository has no commit "gone": correct the name, or fetch it`, statusBadInput, append([]string{"main", "gone"}, server...)...)
	refused("HEAD and slow are the same commit", statusBadInput, append([]string{"HEAD", "slow"}, server...)...)
	refused(`"./server" does not say its port`, statusBadInput, "main", "HEAD", "--", "./server")
	refused("--max-slowdown -1: use a percentage above 0", statusBadInput, append([]string{"main", "HEAD", "--max-slowdown", "-1"}, server...)...)
	refused("--path is for servers, and --format for other commands", statusBadInput, "main", "HEAD", "--format", "GoTest", "--path", "/x", "--", "./bench")
	refused(") does not build: test -e nothing: exit status 1", statusFailed, append([]string{"main", "HEAD", "--build", "test -e nothing"}, server...)...)
	refused("there is no program", statusBadInput, "main", "HEAD", "--format", "GoTest", "--", "./bench")
	if err := os.WriteFile(filepath.Join(dir, "source"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	refused("the working tree has changes in no commit", statusBadInput, append([]string{"main", "HEAD"}, server...)...)
	t.Chdir(t.TempDir())
	refused("the current folder is in no Git repository: change to one", statusBadInput, append([]string{"main", "HEAD"}, server...)...)
}
