package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/kube"
)

const (
	suiteHelp = `A BenchmarkSuite on the cluster measures a set of runs at each change, at scheduled times, and on request: docs/benchmarksuite.md.`

	suiteRunHelp = `Asks for a round of a suite on the cluster, whatever was measured before: it begins at once, or after the round in progress as spec.concurrency
says. The registry is asked first for the images behind the suite's tags. The command waits for the round only with --wait, and then exits as it has
ended: 0 if it has passed, 3 if an objective is missed, 4 if it is inconclusive, and 1 if it failed, was replaced, or has not ended by then.`

	suiteListHelp = `Lists the suites of a namespace of the cluster: whether each is ready, what it measures now, and how its last round has ended that
was of no pull request.`

	suiteHistoryHelp = `Shows how each value of a suite has gone from round to round, from the reports of its rounds, and from which round on it has changed:
docs/benchmarksuite.md, History and change points. Rounds of pull requests are no part of it.`
)

// suiteCommand is all that there is for suites.
func suiteCommand(k *kube.Flags) *cobra.Command {
	c := &cobra.Command{
		Use:   "suite",
		Short: "Ask for rounds of suites on the cluster, list them, and show their history",
		Long:  suiteHelp,
		Example: "  loadstone suite list\n" +
			"  loadstone suite run checkout\n" +
			"  loadstone suite history checkout",
		Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return badInput(fmt.Errorf("name what to do: %s --help lists it", c.CommandPath()))
		},
	}
	c.AddCommand(suiteRunCommand(k), suiteListCommand(k), suiteHistoryCommand(k))
	return c
}

// suiteRunCommand asks for a round.
func suiteRunCommand(k *kube.Flags) *cobra.Command {
	var patience time.Duration
	c := &cobra.Command{
		Use:     "run SUITE",
		Short:   "Ask for a round of a suite",
		Long:    suiteRunHelp,
		Example: "  loadstone suite run checkout --namespace perf",
		Args:    exactly(1, "name the suite"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := kube.RequestRound(c.Context(), k, args[0], time.Now())
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(c.OutOrStdout(), r.Said); err != nil || patience <= 0 {
				return err
			}
			line, err := r.Await(c.Context(), patience)
			if err != nil {
				return err
			}
			return tellEnd(c.OutOrStdout(), line)
		},
	}
	c.Flags().DurationVar(&patience, "wait", 0, "wait for the end of the round, for a `DURATION` at most, such as 2h")
	return c
}

// tellEnd prints how a round has ended, and is the error that calls for the exit code of that.
func tellEnd(out io.Writer, line v1alpha1.SuiteRound) error {
	text := fmt.Sprintf("round %d: %s", line.Round, strings.ToLower(string(line.Outcome)))
	if line.Message != "" {
		text += ": " + line.Message
	}
	switch line.Outcome {
	case v1alpha1.RoundPassed:
		_, err := fmt.Fprintln(out, text)
		return err
	case v1alpha1.RoundMissed:
		return &statusError{statusMissed, errors.New(text)}
	case v1alpha1.RoundInconclusive:
		return &statusError{statusInconclusive, errors.New(text)}
	case v1alpha1.RoundFailed, v1alpha1.RoundReplaced, v1alpha1.RoundIncomplete:
	}
	return errors.New(text)
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

// listedSuite is a suite as list shows it.
type listedSuite struct {
	Namespace string                `json:"namespace"`
	Name      string                `json:"name"`
	Ready     string                `json:"ready"`
	Reason    string                `json:"reason"`
	Message   string                `json:"message,omitempty"`
	Measuring string                `json:"measuring,omitempty"`
	Last      v1alpha1.SuiteRound   `json:"lastRound,omitzero"`
	Good      v1alpha1.SuiteRound   `json:"lastGood,omitzero"`
	History   []v1alpha1.SuiteRound `json:"history,omitempty"`
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
			suites, err := listSuites(c.Context(), k, everywhere)
			if err != nil {
				return err
			}
			if output == jsonOutput {
				return printJSON(c.OutOrStdout(), suites)
			}
			return printSuites(c.OutOrStdout(), suites)
		},
	}
	c.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list the suites of all namespaces")
	bindOutput(c, &output)
	return c
}

func listSuites(ctx context.Context, k *kube.Flags, everywhere bool) ([]listedSuite, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return nil, err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return nil, err
	}
	if everywhere {
		namespace = ""
	}
	var list v1alpha1.BenchmarkSuiteList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("listing BenchmarkSuites: %w", discover.Explain("", err))
	}
	out := []listedSuite{}
	for _, s := range list.Items {
		one := listedSuite{
			Namespace: s.Namespace, Name: s.Name, Ready: string(metav1.ConditionUnknown), Reason: v1alpha1.ReasonPending,
			Measuring: s.Status.Current.Progress, Last: s.Status.LastRound, Good: s.Status.LastGood, History: s.Status.History,
		}
		if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.ObservedGeneration == s.Generation {
			one.Ready, one.Reason, one.Message = string(c.Status), c.Reason, c.Message
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b listedSuite) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

func printSuites(out io.Writer, suites []listedSuite) error {
	if len(suites) == 0 {
		_, err := fmt.Fprintln(out, "there is no suite")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAMESPACE\tNAME\tREADY\tREASON\tMEASURING\tLAST\tMESSAGE")
	for _, s := range suites {
		last := "-"
		if s.Last.Round > 0 {
			last = fmt.Sprintf("%d %s", s.Last.Round, s.Last.Outcome)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Namespace, s.Name, s.Ready, s.Reason, cmp.Or(s.Measuring, "-"), last, cmp.Or(s.Message, "-"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing suites: %w", err)
	}
	return nil
}
