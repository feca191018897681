// Command adversary compares servers that each have a planted fault with an honest one, by "loadstone run" on this machine, and checks the
// verdicts. It is no part of a release.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/hack/figures"
)

// limit bounds a run, which takes about a minute, and twice that if blocks are repeated.
const limit = 10 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "adversary:", err)
		os.Exit(1)
	}
}

var errMisjudged = errors.New("a planted server was misjudged")

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) > 0 && args[0] == "serve" {
		flags := flag.NewFlagSet("serve", flag.ContinueOnError)
		fault := flags.String("fault", "", "the planted fault")
		port := flags.Int("port", 8080, "the port")
		work := flags.Duration("work", 20*time.Microsecond, "the CPU time of a request")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return serve(*fault, *port, *work)
	}
	flags := flag.NewFlagSet("adversary", flag.ContinueOnError)
	loadstone := flags.String("loadstone", "bin/loadstone", "the program to test")
	only := flags.String("only", "", "the servers to run, separated by commas (default: all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	var list []judgement
	for _, r := range chosen {
		fmt.Fprintf(progress, "adversary: %s %s\n", r.name(), r.does)
		j, err := attempt(ctx, *loadstone, r, progress)
		if err != nil {
			return err
		}
		list = append(list, j)
	}
	if _, err := io.WriteString(out, table(list)); err != nil {
		return err
	}
	wrong, open := count(list, misjudged), count(list, notJudged)
	note := fmt.Sprintf("of %d; not judged: %d", len(list), open)
	if _, err := fmt.Fprintf(out, "\n%s\n", figures.Of("planted-servers-misjudged", float64(wrong), "servers", figures.AtMost(0), note).Line()); err != nil {
		return err
	}
	if wrong > 0 {
		return errMisjudged
	}
	return nil
}

func count(list []judgement, outcome string) (n int) {
	for _, j := range list {
		if j.outcome == outcome {
			n++
		}
	}
	return n
}

// choose returns the rows with some names; all for none.
func choose(names string) ([]row, error) {
	all := rows()
	if names == "" {
		return all, nil
	}
	var out []row
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(r row) bool { return r.name() == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no planted server %q", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

func attempt(ctx context.Context, loadstone string, r row, progress io.Writer) (judgement, error) {
	self, err := os.Executable()
	if err != nil {
		return judgement{}, err
	}
	folder, err := os.MkdirTemp("", "adversary-")
	if err != nil {
		return judgement{}, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // It is in the folder for temporary files.
	file, results := filepath.Join(folder, "run.yaml"), filepath.Join(folder, "results")
	if err := os.WriteFile(file, []byte(r.spec(self)), 0o600); err != nil {
		return judgement{}, err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, loadstone, "run", "--out", results, file)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Stderr = progress
	printed, err := cmd.Output()
	// Exit codes 3 and 4 are verdicts, too. A run without a report failed.
	if code := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &code) || code.ExitCode() != 3 && code.ExitCode() != 4) {
		return judgement{}, fmt.Errorf("running %s: %w: %s", r.name(), err, printed)
	}
	found, err := filepath.Glob(filepath.Join(results, "reports", "*", "report.json"))
	if err != nil {
		return judgement{}, err
	}
	if len(found) != 1 {
		return judgement{}, fmt.Errorf("running %s left %d reports: %s", r.name(), len(found), printed)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return judgement{}, err
	}
	return judge(r, string(printed), text)
}
