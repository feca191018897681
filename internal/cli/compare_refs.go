package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cli/runfile"
)

const compareRefsHelp = `Compares two commits of a Git repository on this machine. BASE and HEAD are branches, tags or commits. The
command checks each out into its own folder, builds it with --build, and measures both in alternation. At the
end it removes the folders. Uncommitted changes are not measured: commit or stash them first.

COMMAND starts a server. Write {port} where the port belongs. With --format, COMMAND is a program that measures
itself, such as a test binary of Go with benchmarks. With --format Time, the wall time, CPU time and peak memory
of any command are compared. Both commands run in the current folder of their commit.

The comparison is a gate for the CPU time per request, or the time of each case. The exit code is 0 only if HEAD
is proven to be at most 5 % slower than BASE. It is 3 if HEAD is proven to be slower than that, and 4 if the
data cannot decide. --max-slowdown sets another bound.`

const buildLimit = 30 * time.Minute

func compareRefsCommand() *cobra.Command {
	v := runfile.Versus{LimitSeconds: vsLimitSeconds, Memory: quarterOfMemory(), FreePort: unusedPort}
	v.Name, v.Blocks, v.Seconds = "refs", vsBlocks, vsSeconds
	here := localRun{output: textOutput}
	var build, format string
	slowdown := 5.0
	c := &cobra.Command{
		Use:   "compare-refs BASE HEAD -- COMMAND...",
		Short: "Compare two commits of a Git repository on this machine",
		Long:  compareRefsHelp,
		Example: "  loadstone compare-refs main HEAD --build 'go build -o server ./cmd/server' -- ./server --port={port}\n" +
			"  loadstone compare-refs v1.4 v1.5 --build 'go test -c -o bench ./pkg' --format GoTest -- ./bench -test.bench=.",
		RunE: func(c *cobra.Command, args []string) error {
			at := c.ArgsLenAtDash()
			if at != 2 || len(args) < 3 {
				return badInput(fmt.Errorf("name two commits, and the command after two dashes: %s", c.UseLine()))
			}
			if slowdown <= 0 {
				return badInput(fmt.Errorf("--max-slowdown %v: use a percentage above 0", slowdown))
			}
			v.Format, v.MaxRatio = v1alpha1.CaseFormat(format), strconv.FormatFloat(1+slowdown/100, 'g', 6, 64)
			return compareRefs(c, &v, here, build, [2]string{args[0], args[1]}, args[2:])
		},
	}
	f := c.Flags()
	f.StringVar(&build, "build", "", "`COMMAND` that builds a commit, run in its folder")
	f.StringVar(&format, "format", "", "`FORMAT` of a program that measures itself: Auto, GoTest, GoogleBenchmark, JSONLines or Time")
	f.Float64Var(&slowdown, "max-slowdown", slowdown, "largest slowdown that passes, in `PERCENT`")
	bindVersus(&v, f)
	f.StringVar(&here.out, "out", "", "write plan, raw output, manifests and report to `DIR` (default loadstone-results/refs-TIME)")
	f.BoolVar(&here.open, "open", false, "open the report in a browser")
	bindOutput(c, &here.output, textOutput, jsonOutput)
	return c
}

func compareRefs(c *cobra.Command, v *runfile.Versus, here localRun, build string, refs [2]string, command []string) error {
	if err := refuseHere(c.OutOrStdout(), here.output); err != nil {
		return err
	}
	ctx := c.Context()
	r, err := findRefs(ctx, refs)
	if err != nil {
		return badInput(err)
	}
	for _, ref := range r.refs {
		if err := v.AddCommand(runfile.Label(ref.name), command); err != nil {
			return badInput(err)
		}
	}
	file, _, err := versus(c, v, "--format", nil)
	if err != nil {
		return err
	}
	defer func() {
		if err := r.remove(context.WithoutCancel(ctx)); err != nil {
			fmt.Fprintf(util.PrintableWriter(c.ErrOrStderr()), "loadstone: %v\n", err)
		}
	}()
	at := localOptions{Folder: ".", Folders: map[string]string{}}
	for i, ref := range r.refs {
		folder, err := r.checkOut(ctx, ref)
		if err != nil {
			return err
		}
		at.Folders[v.Implementations[i].Name] = folder
		if err := buildRef(ctx, c.ErrOrStderr(), ref, folder, build); err != nil {
			return err
		}
	}
	return runAll(c, []string{"this comparison"}, here.output, func(ctx context.Context, out io.Writer, name string) (readyRun, error) {
		return here.prepareFile(ctx, out, name, at, file)
	})
}

type gitRef struct{ name, commit string }

func (r gitRef) short() string { return r.name + " (" + r.commit[:12] + ")" }

type checkouts struct {
	refs        []gitRef
	below, root string
	folders     []string
}

// findRefs looks up two commits in the repository of the current folder. The error is a sentence.
func findRefs(ctx context.Context, names [2]string) (*checkouts, error) {
	r := &checkouts{}
	var err error
	if r.below, err = git(ctx, "rev-parse", "--show-prefix"); err != nil {
		return nil, fmt.Errorf("the current folder is in no Git repository: change to one: %w", err)
	}
	for _, name := range names {
		commit, err := git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
		if err != nil {
			return nil, fmt.Errorf("this repository has no commit %q: correct the name, or fetch it: git fetch origin", name)
		}
		r.refs = append(r.refs, gitRef{name, commit})
	}
	if r.refs[0].commit == r.refs[1].commit {
		return nil, fmt.Errorf("%s and %s are the same commit, %.12s: name two different ones", names[0], names[1], r.refs[0].commit)
	}
	changed, err := git(ctx, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return nil, err
	}
	current, err := git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	if changed != "" && (current == r.refs[0].commit || current == r.refs[1].commit) {
		return nil, errors.New("the working tree has changes in no commit, and only commits are compared: commit them, or put them aside with git stash")
	}
	return r, nil
}

func (r *checkouts) checkOut(ctx context.Context, ref gitRef) (string, error) {
	if r.root == "" {
		root, err := os.MkdirTemp("", "loadstone-refs-")
		if err != nil {
			return "", fmt.Errorf("making a folder for the commits: %w", err)
		}
		r.root = root
	}
	folder := filepath.Join(r.root, ref.commit)
	r.folders = append(r.folders, folder)
	if _, err := git(ctx, "worktree", "add", "--quiet", "--detach", folder, ref.commit); err != nil {
		return "", fmt.Errorf("checking out %s: %w", ref.short(), err)
	}
	below := filepath.Join(folder, r.below)
	if _, err := os.Stat(below); err != nil {
		return "", badInput(fmt.Errorf("%s has no folder %s: run the command in a folder that both commits have", ref.short(), r.below))
	}
	return below, nil
}

func (r *checkouts) remove(ctx context.Context) error {
	if r.root == "" {
		return nil
	}
	var errs []error
	for _, folder := range r.folders {
		if _, err := git(ctx, "worktree", "remove", "--force", folder); err != nil {
			errs = append(errs, fmt.Errorf("removing a folder of a commit: %w", err))
		}
	}
	return errors.Join(append(errs, os.RemoveAll(r.root))...)
}

// buildRef builds a commit. The end of the output of a build that fails goes to the log.
func buildRef(ctx context.Context, log io.Writer, ref gitRef, folder, command string) error {
	if command == "" {
		return nil
	}
	words, err := runfile.Words(command)
	if err != nil {
		return badInput(fmt.Errorf("--build: %w", err))
	}
	fmt.Fprintf(log, "building %s\n", ref.short())
	ctx, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(util.PrintableWriter(log), "%s\n", bytes.TrimSpace(out[max(len(out)-maxBuildOutput, 0):]))
		return &statusError{statusFailed, fmt.Errorf("%s does not build: %s: %w", ref.short(), command, err)}
	}
	return nil
}

const maxBuildOutput = 2000

// git runs git in the current folder, and returns its output. The error has the first line of its complaint.
func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, line)
	}
	return strings.TrimSpace(string(out)), nil
}
