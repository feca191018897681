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
	suiteHelp = `A BenchmarkSuite on the cluster measures a set of runs at each change, at scheduled times, and on request: docs/reference/benchmarksuite.md.`

	suiteRunHelp = `Asks for a round of a suite on the cluster, whatever was measured before: it begins at once, or after the round in progress as spec.concurrency
says. Where the suite follows changes of images, the registry is asked first for those behind its tags. With --set parameters have other values than
their defaults in this round. The command waits for the round only with --wait, and then exits as it has ended: 0 if it has passed, 3 if an objective is
missed, 4 if it is inconclusive, and 1 if it failed, was replaced, has the values of another request, or has not ended by then. With --out it also
writes the report of this round before it exits, as loadstone suite report does, and waits for the change points that the gate asks for; they do not
change the exit code.`

	suiteReportHelp = `Fetches the report of a round of a suite that has ended, and prints the path of junit.xml, which continuous integration shows as a list of tests: how the
round has ended, what gate.changePoints asks, and the tests of each run's own report. A run that failed, or is not there any more, is an error in it. Beside it
lies report.md, for a comment or a job's summary. The operator hands out what the runs have left to those who may get them. Whatever the round has come to,
the command exits with 0; if something cannot be read now, with 1, and the files name it.`

	suiteListHelp = `Lists the suites of a namespace of the cluster: whether each is ready, what it measures now, and how its last round has ended that
was of no pull request.`

	suiteHistoryHelp = `Shows how each value of a suite has gone from round to round, from the reports of its rounds, and from which round on it has changed:
docs/how-to/find-regressions.md. Rounds of pull requests are no part of it.`
)

// suiteCommand is all that there is for suites.
func suiteCommand(k *kube.Flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "suite",
		Short: "Ask for rounds of suites on the cluster, list suites, and show their reports and history",
		Long:  suiteHelp,
		Example: "  loadstone suite list\n" +
			"  loadstone suite run checkout\n" +
			"  loadstone suite report checkout\n" +
			"  loadstone suite history checkout",
		Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return badInput(fmt.Errorf("name what to do: %s --help lists it", c.CommandPath()))
		},
	}
	c.AddCommand(suiteRunCommand(k), suiteListCommand(k), suiteReportCommand(k), suiteHistoryCommand(k))
	return c
}

// suiteRunCommand asks for a round.
func suiteRunCommand(k *kube.Flags) *cobra.Command {
	var patience time.Duration
	var dir string
	var set []string
	c := &cobra.Command{
		Use:     "run SUITE",
		Short:   "Ask for a round of a suite",
		Long:    suiteRunHelp,
		Example: "  loadstone suite run checkout --namespace perf\n  loadstone suite run checkout --set image=registry.example/checkout:1a2b3c4",
		Args:    exactly(1, "name the suite"),
		RunE: func(c *cobra.Command, args []string) error {
			values, err := kube.Values(set)
			if err != nil {
				return err
			}
			if dir != "" && patience <= 0 {
				return badInput(errors.New("--out is for the report of the round, which is there at its end: give --wait, too"))
			}
			if dir != "" {
				if err := kube.ForgetRound(k, args[0], dir); err != nil {
					return err
				}
			}
			r, err := kube.RequestRound(c.Context(), k, args[0], values, time.Now())
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(c.OutOrStdout(), util.Printable(r.Said)); err != nil || patience <= 0 {
				return err
			}
			line, err := r.Await(c.Context(), patience, dir != "")
			if err != nil {
				return err
			}
			end := tellEnd(c.OutOrStdout(), line)
			if dir == "" {
				return end
			}
			return withReport(end, fetchRound(c, k, args[0], line.Round, dir))
		},
	}
	c.Flags().DurationVar(&patience, "wait", 0, "wait for the end of the round, for a `DURATION` at most, such as 2h")
	c.Flags().StringVar(&dir, "out", "", "with --wait: the folder `DIR` for the report of the round")
	c.Flags().StringArrayVar(&set, "set", nil, "a value for a parameter of the suite, as `NAME=VALUE`; once for each")
	return c
}

// tellEnd prints how a round has ended, and is the error that calls for the exit code of that.
func tellEnd(out io.Writer, line v1alpha1.SuiteRound) error {
	text := rounds.End(line)
	switch line.Outcome {
	case v1alpha1.RoundPassed:
		_, err := fmt.Fprintln(out, util.Printable(text))
		return err
	case v1alpha1.RoundMissed:
		return &statusError{statusMissed, errors.New(text)}
	case v1alpha1.RoundInconclusive:
		return &statusError{statusInconclusive, errors.New(text)}
	case v1alpha1.RoundFailed, v1alpha1.RoundReplaced, v1alpha1.RoundIncomplete:
	}
	return errors.New(text)
}

// withReport is how a round has ended, with its own exit code, and beside it why its report could not be fetched.
func withReport(end, err error) error {
	if end == nil || err == nil {
		return cmp.Or(end, err)
	}
	return &statusError{status(end), fmt.Errorf("%w; %w", end, err)}
}

// suiteReportCommand fetches the report of a round.
func suiteReportCommand(k *kube.Flags) *cobra.Command {
	var dir string
	var round int32
	c := &cobra.Command{
		Use:     "report SUITE",
		Short:   "Fetch the report of a round of a suite, as a list of tests",
		Long:    suiteReportHelp,
		Example: "  loadstone suite report checkout\n  loadstone suite report checkout --round 12 --out reports",
		Args:    exactly(1, "name the suite"),
		RunE:    func(c *cobra.Command, args []string) error { return fetchRound(c, k, args[0], round, dir) },
	}
	c.Flags().StringVar(&dir, "out", reportFolder, "the folder `DIR` to write to")
	c.Flags().Int32Var(&round, "round", 0, "the `NUMBER` of the round; otherwise the one that ended last, of a pull request or not")
	return c
}

// fetchRound fetches the report of a round, and prints where its tests lie.
func fetchRound(c *cobra.Command, k *kube.Flags, suite string, round int32, dir string) error {
	ctx, cancel := context.WithTimeout(c.Context(), fetchDeadline)
	defer cancel()
	tests, err := kube.FetchRound(ctx, k, suite, round, dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), util.Printable(tests))
	return err
}

// suiteHistoryCommand shows the history of a suite.
func suiteHistoryCommand(k *kube.Flags) *cobra.Command {
	output := textOutput
	var within int
	c := &cobra.Command{
		Use:     "history SUITE",
		Short:   "Show the values of a suite from round to round, and where they change",
		Long:    suiteHistoryHelp,
		Example: "  loadstone suite history checkout --namespace perf",
		Args:    exactly(1, "name the suite"),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := kube.SuiteHistory(c.Context(), k, args[0])
			if err != nil {
				return err
			}
			if output == jsonOutput {
				err = printJSON(c.OutOrStdout(), h)
			} else {
				err = h.Print(c.OutOrStdout())
			}
			if worse := h.Worse(within); worse != "" && err == nil {
				return &statusError{statusMissed, errors.New(worse)}
			}
			return err
		},
	}
	c.Flags().IntVar(&within, "fail-within", 0, "exit with code 3 if a value has become worse within the newest `ROUNDS`")
	bindOutput(c, &output)
	return c
}

// suiteListCommand lists suites.
func suiteListCommand(k *kube.Flags) *cobra.Command {
	output := textOutput
	var everywhere bool
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the suites on the cluster",
		Long:    suiteListHelp,
		Example: "  loadstone suite list --all-namespaces",
		Args:    exactly(0, "suite list takes no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			suites, err := kube.Suites(c.Context(), k, everywhere)
			if err != nil {
				return err
			}
			rows := []screen.Suite{}
			for i := range suites {
				rows = append(rows, screen.SuiteOf(&suites[i]))
			}
			if output == jsonOutput {
				return printJSON(c.OutOrStdout(), rows)
			}
			return screen.Suites(c.OutOrStdout(), rows)
		},
	}
	c.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list the suites of all namespaces")
	bindOutput(c, &output)
	return c
}
