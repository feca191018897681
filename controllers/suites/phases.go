package suites

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/reconciler"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/rounds"
)

// scope is the knowledge of one pass over a suite.
type scope struct {
	facts    suite.Facts
	decision suite.Decision
	done     bool
	hindered error
}

// Hindered implements pass.Scope.
func (s *scope) Hindered(err error) { s.hindered = err }

// States implements pass.Scope. A decision that was not carried out changes no status, except for its error.
func (s *scope) States() (before, after *v1alpha1.BenchmarkSuite) {
	after = s.facts.Suite.DeepCopy()
	switch {
	case s.done:
		after.Status = s.decision.Status
	case s.hindered != nil:
		c := reconciler.NewConditions(after.Status.Conditions, after.Generation, s.facts.Now)
		c.Set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonInProgress, s.hindered.Error())
		after.Status.Conditions = c.Sorted()
	}
	return s.facts.Suite, after
}

func owned(ctx context.Context, c client.Reader, s *v1alpha1.BenchmarkSuite) ([]v1alpha1.BenchmarkRun, error) {
	var list v1alpha1.BenchmarkRunList
	if err := c.List(ctx, &list, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelSuiteUID: string(s.UID)}); err != nil {
		return nil, fmt.Errorf("listing BenchmarkRuns: %w", err)
	}
	var runs []v1alpha1.BenchmarkRun
	for i := range list.Items {
		if run := &list.Items[i]; run.DeletionTimestamp.IsZero() && metav1.IsControlledBy(run, s) {
			runs = append(runs, *run)
		}
	}
	return runs, nil
}

// resolve asks registries for the digests of tags, unless they were asked recently.
func (r *Reconciler) resolve(ctx context.Context, s *scope) (reconciler.Step, error) {
	s.facts.Images = r.answers.of(ctx, s.facts.Suite, s.facts.Runs, s.facts.Now, func(ctx context.Context, images []string) map[string]suite.Resolution {
		return r.ask(ctx, s.facts.Suite, images)
	})
	return reconciler.GoOn, nil
}

// show validates new runs, and runs for the webhook, with a dry run.
func (r *Reconciler) show(ctx context.Context, s *scope) (reconciler.Step, error) {
	for _, run := range suite.Draft(s.facts) {
		err := r.Create(ctx, &run, client.DryRunAll)
		switch {
		case err == nil, apierrors.IsAlreadyExists(err):
		case denied(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
			s.facts.Refuse(run, refusal(err))
		default:
			return reconciler.Halt, fmt.Errorf("checking BenchmarkRun %s: %w", run.Name, err)
		}
	}
	return reconciler.GoOn, nil
}

func denied(err error) bool { return apierrors.IsForbidden(err) || reconciler.Denied(err) }

func refusal(err error) *suite.Problem {
	p := &suite.Problem{Reason: v1alpha1.ReasonInvalidSpec, Message: err.Error()}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		p.Message = status.Status().Message
	}
	if denied(err) {
		p.Reason = v1alpha1.ReasonRunDenied
	}
	return p
}

// decide uses data from the API server for changes of the cluster and the end of a round.
func (r *Reconciler) decide(ctx context.Context, s *scope) (reconciler.Step, error) {
	s.decision = suite.Decide(s.facts)
	quiet := len(s.decision.Create) == 0 && len(s.decision.Delete) == 0
	if quiet && s.decision.Status.Current.Round == s.facts.Suite.Status.Current.Round {
		return reconciler.GoOn, nil
	}
	var err error
	if s.facts.Runs, err = owned(ctx, r.Live, s.facts.Suite); err != nil {
		return reconciler.Halt, err
	}
	s.decision = suite.Decide(s.facts)
	return reconciler.GoOn, nil
}

// afterStale is the retry delay after a stale read.
const afterStale = 100 * time.Millisecond

// read reads the reports that the decision needs, and decides again. While another suite's reports are read, the decision waits.
func (r *Reconciler) read(ctx context.Context, s *scope) (reconciler.Step, error) {
	asked := s.decision.Read
	if asked == nil || !r.reading.TryLock() {
		return reconciler.GoOn, nil
	}
	defer r.reading.Unlock()
	// A stale cache would cause everything to be read again.
	var now v1alpha1.BenchmarkSuite
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(s.facts.Suite), &now); err != nil {
		return reconciler.Halt, fmt.Errorf("reading BenchmarkSuite %s: %w", s.facts.Suite.Name, err)
	}
	if now.ResourceVersion != s.facts.Suite.ResourceVersion {
		return reconciler.Again(afterStale), nil
	}
	ctx, cancel := context.WithTimeout(ctx, suite.StoreDeadline)
	defer cancel()
	h, err := rounds.History(ctx, r.Reports, s.facts.Suite, asked.Measured)
	s.facts.Reading, s.facts.Now = &suite.Reading{Round: asked.Round, History: h, Away: away(err)}, r.Now() // Reading takes its time.
	s.decision = suite.Decide(s.facts)
	return reconciler.GoOn, nil
}

func away(err error) *suite.Problem {
	switch {
	case err == nil:
		return nil
	case artifact.Mendable(err):
		return &suite.Problem{Reason: v1alpha1.ReasonStoreRefused, Message: err.Error()}
	}
	return &suite.Problem{Reason: v1alpha1.ReasonStoreUnavailable, Message: err.Error()}
}

// mostDenials is the maximum number of denied decisions per pass: a round of the suite itself, and one of the webhook.
const mostDenials = 2

// act carries the decision out. If the API server denies it, it decides again without that.
func (r *Reconciler) act(ctx context.Context, s *scope) (reconciler.Step, error) {
	refused, err := r.carryOut(ctx, s)
	for range mostDenials {
		if !refused || err != nil {
			break
		}
		if s.facts.Runs, err = owned(ctx, r.Live, s.facts.Suite); err != nil {
			break
		}
		s.decision = suite.Decide(s.facts)
		refused, err = r.carryOut(ctx, s)
	}
	switch {
	case err != nil:
		return reconciler.Halt, err
	case refused:
		return reconciler.Halt, errors.New("the API server again denies the BenchmarkRuns")
	}
	s.done = true
	if s.decision.After == 0 {
		return reconciler.Halt, nil
	}
	return reconciler.Again(s.decision.After), nil
}

// It returns true if the API server denies one; the facts then contain it.
func (r *Reconciler) carryOut(ctx context.Context, s *scope) (bool, error) {
	for i := range s.decision.Delete {
		run := &s.decision.Delete[i]
		if err := client.IgnoreNotFound(r.Delete(ctx, run, client.Preconditions{UID: &run.UID})); err != nil {
			return false, fmt.Errorf("deleting BenchmarkRun %s: %w", run.Name, err)
		}
	}
	for i := range s.decision.Create {
		run := &s.decision.Create[i]
		err := r.Create(ctx, run)
		if apierrors.IsAlreadyExists(err) {
			return false, fmt.Errorf("BenchmarkRun %s already exists and belongs to no round of this suite, or is being deleted: the round waits until it is gone", run.Name)
		}
		if denied(err) {
			s.facts.Refuse(*run, refusal(err))
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("creating BenchmarkRun %s: %w", run.Name, err)
		}
	}
	return false, nil
}
