package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/suite/rounds"
)

const (
	suiteHelp = `A BenchmarkSuite on the cluster measures a set of runs after each change, on a schedule and on request. See
docs/reference/benchmarksuite.md.`

	suiteRunHelp = `Requests a round of a suite on the cluster, even if nothing changed. The round starts immediately, or after
the current round, depending on spec.concurrency. If the suite follows image changes, the registry is asked
first which images its tags name. --set overrides parameter defaults for this round.

The command returns at once unless you set --wait. With --wait, the exit code depends on the outcome of the
round:

  - 0: passed
  - 1: failed, was replaced, has the values of another request, or did not end in time
  - 3: an objective is missed
  - 4: inconclusive

With --out, it also writes the report of the round, like loadstone suite report. It first waits for the change
points that the gate needs. They do not change the exit code.

With --output json or yaml, the standard output has only the finished round.`

	suiteReportHelp = `Downloads the report of a finished round and prints the path of junit.xml. Continuous integration shows that
file as a list of tests: the outcome of the round, the change points of gate.changePoints, and the tests of
each run. A failed or deleted run is an error in the list. report.md, next to it, is for a comment or a job
summary.

The operator provides the reports to everyone who may get the runs. The exit code is 0 for every outcome of
the round, and 1 if something cannot be read. The files then name it.`

	suiteListHelp = `Lists the suites in a namespace: readiness, current progress, and the outcome of the last round. Rounds of
pull requests do not count.`

	suiteHistoryHelp = `Shows each value of a suite by round, and the rounds with changes. See docs/how-to/find-regressions.md.
Rounds of pull requests are not included.`
)

func suiteCommand(k *kube.Flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "suite",
		Short: "Start and inspect suite rounds on the cluster",
		Long:  suiteHelp,
		Example: "  loadstone suite list\n" +
			"  loadstone suite run checkout\n" +
			"  loadstone suite report checkout\n" +
			"  loadstone suite history checkout",
		Args: noSuchCommand,
		RunE: printHelp,
	}
	c.AddCommand(suiteRunCommand(k), suiteListCommand(k), suiteReportCommand(k), suiteHistoryCommand(k))
	return c
}

type suiteRun struct {
	kube     *kube.Flags
	patience time.Duration
	dir      string
	set      []string
	output   outputFormat
}

func suiteRunCommand(k *kube.Flags) *cobra.Command {
	o := suiteRun{kube: k, output: textOutput}
	c := &cobra.Command{
		Use:               "run SUITE",
		Short:             "Start a round of a suite",
		Long:              suiteRunHelp,
		Example:           "  loadstone suite run checkout --namespace perf\n  loadstone suite run checkout --set image=registry.example/checkout:1a2b3c4",
		Args:              exactly(1, "name one suite"),
		ValidArgsFunction: completeSuites(k),
		RunE:              func(c *cobra.Command, args []string) error { return o.run(c, args[0]) },
	}
	c.Flags().DurationVar(&o.patience, "wait", 0, "wait up to `DURATION` for the end of the round, such as 2h")
	c.Flags().StringVar(&o.dir, "out", "", "with --wait: write the report of the round to `DIR`")
	c.Flags().StringArrayVar(&o.set, "set", nil, "set a parameter of the suite, as `NAME=VALUE`; repeatable")
	bindDataOutput(c, &o.output)
	return c
}

func (o suiteRun) run(c *cobra.Command, suite string) error {
	values, err := kube.Values(o.set)
	if err != nil {
		return err
	}
	switch {
	case o.patience > 0:
	case o.dir != "":
		return badInput(errors.New("--out needs --wait: the report exists only after the round"))
	case o.output != textOutput:
		return badInput(errors.New("--output needs --wait: only a finished round has an outcome"))
	}
	if o.dir != "" {
		if err := kube.ForgetRound(o.kube, suite, o.dir); err != nil {
			return err
		}
	}
	r, err := kube.RequestRound(c.Context(), o.kube, suite, values, time.Now())
	if err != nil {
		return err
	}
	// Programs read only the round from the standard output.
	said := c.OutOrStdout()
	if o.output != textOutput {
		said = c.ErrOrStderr()
	}
	if _, err := fmt.Fprintln(said, util.Printable(r.Said)); err != nil || o.patience <= 0 {
		return err
	}
	line, err := r.Await(c.Context(), o.patience, o.dir != "")
	if err != nil {
		return err
	}
	end := tellEnd(c.OutOrStdout(), o.output, line)
	if o.dir == "" {
		return end
	}
	return withReport(end, fetchRound(c.Context(), said, o.kube, suite, line.Round, o.dir))
}

// tellEnd prints a round. As text it prints only a passed one: other outcomes are an error with their exit code.
func tellEnd(out io.Writer, format outputFormat, line v1alpha1.SuiteRound) error {
	text := func(out io.Writer) error {
		if line.Outcome != v1alpha1.RoundPassed {
			return nil
		}
		_, err := fmt.Fprintln(out, util.Printable(rounds.End(line)))
		return err
	}
	return cmp.Or(printValue(out, format, line, text), roundError(line))
}

// roundError returns an error with the exit code of a round; nil if it passed.
func roundError(line v1alpha1.SuiteRound) error {
	err := errors.New(rounds.End(line))
	switch line.Outcome {
	case v1alpha1.RoundPassed:
		return nil
	case v1alpha1.RoundMissed:
		return &statusError{statusMissed, err}
	case v1alpha1.RoundInconclusive:
		return &statusError{statusInconclusive, err}
	case v1alpha1.RoundFailed, v1alpha1.RoundReplaced, v1alpha1.RoundIncomplete:
	}
	return err
}

func withReport(end, err error) error {
	if end == nil || err == nil {
		return cmp.Or(end, err)
	}
	return &statusError{status(end), fmt.Errorf("%w; %w", end, err)}
}

func suiteReportCommand(k *kube.Flags) *cobra.Command {
	var dir string
	var round int32
	c := &cobra.Command{
		Use:               "report SUITE",
		Short:             "Download the report of a round as a list of tests",
		Long:              suiteReportHelp,
		Example:           "  loadstone suite report checkout\n  loadstone suite report checkout --round 12 --out reports",
		Args:              exactly(1, "name one suite"),
		ValidArgsFunction: completeSuites(k),
		RunE: func(c *cobra.Command, args []string) error {
			return fetchRound(c.Context(), c.OutOrStdout(), k, args[0], round, dir)
		},
	}
	c.Flags().StringVar(&dir, "out", reportFolder, "write the report to `DIR`")
	c.Flags().Int32Var(&round, "round", 0, "`NUMBER` of the round (default: the last finished round, including rounds of pull requests)")
	return c
}

// fetchRound downloads the report of a round and prints the path of its JUnit file.
func fetchRound(ctx context.Context, out io.Writer, k *kube.Flags, suite string, round int32, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchDeadline)
	defer cancel()
	tests, err := kube.FetchRound(ctx, k, suite, round, dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, util.Printable(tests))
	return err
}

func suiteHistoryCommand(k *kube.Flags) *cobra.Command {
	output := textOutput
	var within int
	c := &cobra.Command{
		Use:               "history SUITE",
		Short:             "Show the values of a suite by round, and where they change",
		Long:              suiteHistoryHelp,
		Example:           "  loadstone suite history checkout --namespace perf",
		Args:              exactly(1, "name one suite"),
		ValidArgsFunction: completeSuites(k),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := kube.SuiteHistory(c.Context(), k, args[0])
			if err != nil {
				return err
			}
			err = printValue(c.OutOrStdout(), output, h, h.Print)
			if worse := h.Worse(within); worse != "" && err == nil {
				return &statusError{statusMissed, errors.New(worse)}
			}
			return err
		},
	}
	c.Flags().IntVar(&within, "fail-within", 0, "exit with code 3 if a value was found to be worse within the last `ROUNDS` rounds")
	bindDataOutput(c, &output)
	return c
}

func suiteListCommand(k *kube.Flags) *cobra.Command {
	output := textOutput
	var everywhere bool
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List suites on the cluster",
		Long:    suiteListHelp,
		Example: "  loadstone suite list --all-namespaces",
		Args:    exactly(0, "suite list takes no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			suites, err := kube.Suites(c.Context(), k, everywhere)
			if err != nil {
				return err
			}
			rows := []screen.Suite{}
			for i := range suites {
				rows = append(rows, screen.SuiteOf(&suites[i]))
			}
			return printValue(c.OutOrStdout(), output, rows, func(out io.Writer) error { return screen.Suites(out, rows) })
		},
	}
	c.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list the suites in all namespaces")
	bindDataOutput(c, &output)
	return c
}
