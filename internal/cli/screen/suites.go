package screen

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// Suite is a suite in a list of suites.
type Suite struct {
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

// SuiteOf is a suite as a list shows it. One whose spec the operator has not seen yet is neither ready nor not.
func SuiteOf(s *v1alpha1.BenchmarkSuite) Suite {
	one := Suite{
		Namespace: s.Namespace, Name: s.Name, Ready: string(metav1.ConditionUnknown), Reason: v1alpha1.ReasonPending,
		Measuring: s.Status.Current.Progress, Last: s.Status.LastRound, Good: s.Status.LastGood, History: s.Status.History,
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.ObservedGeneration == s.Generation {
		one.Ready, one.Reason, one.Message = string(c.Status), c.Reason, c.Message
	}
	return one
}

// Suites prints a table of suites.
func Suites(out io.Writer, suites []Suite) error {
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
