package kube

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// owner is the field manager of a request. Flux reverts fields of managers whose name begins with kubectl, and would drop a waiting request.
const owner = "loadstone"

// RoundRequest is a requested round.
type RoundRequest struct {
	// Said describes what will happen.
	Said string

	client client.Client
	key    client.ObjectKey
	uid    types.UID
	token  string
	gives  bool
	every  time.Duration
}

// RequestRound requests a round of a suite, with values for some parameters. Others have their defaults.
func RequestRound(ctx context.Context, k *Flags, name string, values []v1alpha1.ParameterValue, now time.Time) (*RoundRequest, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return nil, err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return nil, err
	}
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	r := &RoundRequest{client: c, key: client.ObjectKeyFromObject(s), gives: len(values) > 0, every: PollEvery}
	if r.gives {
		err = retry.RetryOnConflict(retry.DefaultRetry, func() error { return r.give(ctx, s, values, now) })
	} else {
		r.token = now.UTC().Format(time.RFC3339Nano)
		patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, v1alpha1.AnnotationRequestedAt, r.token)
		err = c.Patch(ctx, s, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(owner))
	}
	if bad := (*Invalid)(nil); errors.As(err, &bad) {
		return nil, err
	}
	if apierrors.IsNotFound(err) {
		return nil, noSuite(r.key)
	}
	if err != nil {
		return nil, fmt.Errorf("requesting a round of BenchmarkSuite %s: %w", r.key, Explain("", err))
	}
	r.uid, r.Said = s.UID, fmt.Sprintf("benchmarksuite %s: requested a round", r.key)
	if r.gives {
		r.Said += ", with " + webhook.Given(values)
	}
	if s.Spec.Suspend != nil && *s.Spec.Suspend {
		r.Said += "; it starts when spec.suspend is false"
	}
	return r, nil
}

// give stores a request with values on its suite, like the webhook. It replaces a waiting one. Values that the suite refuses are not stored.
func (r *RoundRequest) give(ctx context.Context, s *v1alpha1.BenchmarkSuite, values []v1alpha1.ParameterValue, now time.Time) error {
	if err := r.client.Get(ctx, r.key, s); err != nil {
		return err
	}
	if _, faults := suite.Check(s, values, now); len(faults) > 0 {
		return invalid(fmt.Errorf("BenchmarkSuite %s: %s", r.key, faults[0].Message))
	}
	r.token = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %s %q", s.UID, now.UTC().Format(time.RFC3339Nano), values)))
	newest := webhook.Read(s.Annotations[v1alpha1.AnnotationWebhook]).Then(r.token, values, now, now)
	newest.ByHand = true
	if webhook.Read(newest.Text()).ID == "" {
		return invalid(fmt.Errorf("BenchmarkSuite %s: a request may set at most eight parameters, each with 1 to 1,024 characters", r.key))
	}
	after := s.DeepCopy()
	metav1.SetMetaDataAnnotation(&after.ObjectMeta, v1alpha1.AnnotationWebhook, newest.Text())
	return r.client.Patch(ctx, after, client.MergeFromWithOptions(s, client.MergeFromWithOptimisticLock{}), client.FieldOwner(owner))
}

// Values parses parameters written as NAME=VALUE.
func Values(texts []string) ([]v1alpha1.ParameterValue, error) {
	var values []v1alpha1.ParameterValue
	for _, text := range texts {
		name, value, given := strings.Cut(text, "=")
		switch {
		case !given || name == "":
			return nil, invalid(fmt.Errorf("%q does not set a parameter: write NAME=VALUE", text))
		case slices.ContainsFunc(values, func(v v1alpha1.ParameterValue) bool { return v.Name == name }):
			return nil, invalid(fmt.Errorf("the parameter %s has two values: set one", name))
		}
		values = append(values, v1alpha1.ParameterValue{Name: name, Value: value})
	}
	return values, nil
}

// Await waits at most patience for the end of the requested round; the round continues after that. With changePoints it also waits for the
// gate's change points. A round with another request's values, as with Replace and Skip, is an error.
func (r *RoundRequest) Await(ctx context.Context, patience time.Duration, changePoints bool) (v1alpha1.SuiteRound, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var round int32
	var ended *v1alpha1.SuiteRound
	says := "no round has started"
	for {
		s, runs, err := r.read(limited)
		switch {
		case apierrors.IsNotFound(err), err == nil && s.UID != r.uid:
			return v1alpha1.SuiteRound{}, fmt.Errorf("BenchmarkSuite %s was deleted while the command waited for its round", r.key)
		case err != nil && limited.Err() == nil:
			says = Explain("", err).Error()
		case err == nil:
			if round == 0 {
				round = r.answer(s, runs)
			}
			if given := valuesOf(s, round); !r.gives && len(given) > 0 {
				return v1alpha1.SuiteRound{}, fmt.Errorf(
					"round %d of BenchmarkSuite %s replaced the requested one and has the values of another request: %s. Repeat the command", round, r.key, webhook.Given(given))
			}
			if ended = endOf(s, round); ended != nil && (!changePoints || suite.Held(s, *ended, time.Now()) == 0) {
				return *ended, nil
			}
			if round == 0 && r.dropped(s) {
				return v1alpha1.SuiteRound{}, r.lost(s)
			}
			says = r.standing(s, round)
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return v1alpha1.SuiteRound{}, ErrLeft
			}
			if ended != nil {
				return *ended, nil
			}
			return v1alpha1.SuiteRound{}, fmt.Errorf("the round of BenchmarkSuite %s did not end within %s: %s", r.key, patience, says)
		case <-time.After(r.every):
		}
	}
}

// read reads the suite before its runs, so that the runs of a begun round are included.
func (r *RoundRequest) read(ctx context.Context) (*v1alpha1.BenchmarkSuite, []v1alpha1.BenchmarkRun, error) {
	s := &v1alpha1.BenchmarkSuite{}
	if err := r.client.Get(ctx, r.key, s); err != nil {
		return nil, nil, err
	}
	var runs v1alpha1.BenchmarkRunList
	err := r.client.List(ctx, &runs, client.InNamespace(r.key.Namespace), client.MatchingLabels{v1alpha1.LabelSuiteUID: string(r.uid)})
	return s, runs.Items, err
}

// answer returns the number of the round for the request; 0 if it has not begun. For a request with values the status keeps it after its runs
// are deleted. A later request without values asks for the same round.
func (r *RoundRequest) answer(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) int32 {
	if r.gives {
		if s.Status.Current.Webhook == r.token {
			return s.Status.Current.Round
		}
		if line := util.First(s.Status.History, func(l *v1alpha1.SuiteRound) bool { return l.Webhook == r.token }); line != nil {
			return line.Round
		}
	}
	if round := suite.Answering(runs, r.token); round > 0 || r.gives {
		return round
	}
	return suite.Answering(runs, s.Annotations[v1alpha1.AnnotationRequestedAt])
}

// dropped reports whether the suite finished a request without a round.
func (r *RoundRequest) dropped(s *v1alpha1.BenchmarkSuite) bool {
	if r.gives {
		return s.Status.LastHandledWebhook == r.token || r.displaced(s)
	}
	return s.Status.LastHandledRequest != "" && slices.Contains([]string{r.token, s.Annotations[v1alpha1.AnnotationRequestedAt]}, s.Status.LastHandledRequest)
}

func (r *RoundRequest) displaced(s *v1alpha1.BenchmarkSuite) bool {
	return webhook.Read(s.Annotations[v1alpha1.AnnotationWebhook]).ID != r.token
}

func (r *RoundRequest) lost(s *v1alpha1.BenchmarkSuite) error {
	switch {
	case r.gives && r.displaced(s):
		return fmt.Errorf("the request to BenchmarkSuite %s was superseded or removed: repeat the command", r.key)
	case s.Spec.Concurrency == v1alpha1.ConcurrencySkip:
		return fmt.Errorf("the request was dropped, because another round of BenchmarkSuite %s was in progress and spec.concurrency is Skip: repeat the command after that round", r.key)
	}
	return fmt.Errorf("the runs of the requested round of BenchmarkSuite %s were deleted: see status.history of the suite for its outcome", r.key)
}

// valuesOf returns a round's requested values; none if the suite does not know the round yet.
func valuesOf(s *v1alpha1.BenchmarkSuite, round int32) []v1alpha1.ParameterValue {
	if ended := endOf(s, round); ended != nil {
		return ended.Parameters
	}
	if s.Status.Current.Round != round {
		return nil
	}
	return s.Status.Current.Parameters
}

func endOf(s *v1alpha1.BenchmarkSuite, round int32) *v1alpha1.SuiteRound {
	if round == 0 || s.Status.Current.Round == round {
		return nil
	}
	return util.First(s.Status.History, func(l *v1alpha1.SuiteRound) bool { return l.Round == round })
}

// standing describes the progress of the request's round, or its wait.
func (r *RoundRequest) standing(s *v1alpha1.BenchmarkSuite, round int32) string {
	if waits, known := webhook.RoundOf(s, r.token); r.gives && known && round == 0 {
		return "no round has started: " + waits.Message
	}
	return standing(s, round)
}

func standing(s *v1alpha1.BenchmarkSuite, round int32) string {
	if round > 0 {
		return fmt.Sprintf("round %d is in progress, %s of its runs have ended", round, cmp.Or(s.Status.Current.Progress, "none"))
	}
	text := "no round has started"
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Status != metav1.ConditionTrue {
		text += fmt.Sprintf(": Ready is %s (%s): %s", c.Status, c.Reason, c.Message)
	}
	return text
}
