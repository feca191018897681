package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// awaitPause is the polling interval, long enough not to disturb a measurement.
const awaitPause = 2 * time.Second

// errNoVerdict: a run ended without the verdict that the chart's test requires.
var errNoVerdict = errors.New("the run has ended without a verdict")

func await(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("await", flag.ContinueOnError)
	namespace := f.String("namespace", os.Getenv("POD_NAMESPACE"), "the namespace of the run")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("parsing flags: %w", err)
	}
	if f.NArg() != 1 || *namespace == "" {
		return errors.New("usage: manager await --namespace=NAMESPACE RUN")
	}
	c, err := errandClient()
	if err != nil {
		return err
	}
	return ending(ctx, c, client.ObjectKey{Namespace: *namespace, Name: f.Arg(0)}, os.Stdout, awaitPause)
}

// ending prints a run's progress whenever it changes, and its result. A run without a verdict is an error.
func ending(ctx context.Context, c client.Reader, name client.ObjectKey, out io.Writer, pause time.Duration) error {
	said := ""
	for {
		var run v1alpha1.BenchmarkRun
		if err := c.Get(ctx, name, &run); err != nil {
			return fmt.Errorf("reading BenchmarkRun %s: %w", name, err)
		}
		if now := told(&run); now != said {
			said = now
			if _, err := fmt.Fprintln(out, now); err != nil {
				return fmt.Errorf("printing: %w", err)
			}
		}
		if run.Status.CompletionTime != nil {
			return judged(&run)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for BenchmarkRun %s: %w", name, ctx.Err())
		case <-time.After(pause):
		}
	}
}

func told(run *v1alpha1.BenchmarkRun) string {
	text := "measured: nothing yet"
	if done, all, ok := strings.Cut(run.Status.Progress, "/"); ok {
		text = fmt.Sprintf("measured: %s of %s", done, all)
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil && c.Message != "" {
		text += ", " + c.Message
	}
	if run.Status.Verdict != "" {
		text += "\nverdict: " + run.Status.Verdict
	}
	return text
}

func judged(run *v1alpha1.BenchmarkRun) error {
	for _, kind := range []string{v1alpha1.ConditionSucceeded, v1alpha1.ConditionConclusive} {
		c := meta.FindStatusCondition(run.Status.Conditions, kind)
		if c == nil {
			return fmt.Errorf("%w: its condition %s is absent", errNoVerdict, kind)
		}
		if c.Status != metav1.ConditionTrue {
			return fmt.Errorf("%w: %s is %s (%s): %s", errNoVerdict, kind, c.Status, c.Reason, c.Message)
		}
	}
	return nil
}
