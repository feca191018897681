package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/discover"
	"loadstone.dev/loadstone/internal/pick"
	"loadstone.dev/loadstone/internal/suite"
)

// owner is who has written a request. Flux takes away what somebody has written whose name begins with kubectl, as that of a plugin of kubectl does, and
// with it a request that still waits.
const owner = "loadstone"

// RoundRequest is a round that was asked for.
type RoundRequest struct {
	// Said is what will come of it, in a sentence.
	Said string

	client client.Client
	key    client.ObjectKey
	uid    types.UID
	// token is the value of the annotation by which it was asked for.
	token string
	every time.Duration
}

// RequestRound asks for a round of a suite.
func RequestRound(ctx context.Context, k *Flags, name string, now time.Time) (*RoundRequest, error) {
	namespace, err := k.Namespace()
	if err != nil {
		return nil, err
	}
	c, err := k.Client(ctx)
	if err != nil {
		return nil, err
	}
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	token := now.UTC().Format(time.RFC3339Nano)
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, v1alpha1.AnnotationRequestedAt, token)
	err = c.Patch(ctx, s, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(owner))
	if apierrors.IsNotFound(err) {
		return nil, noSuite(client.ObjectKeyFromObject(s))
	}
	if err != nil {
		return nil, fmt.Errorf("asking for a round of BenchmarkSuite %s/%s: %w", namespace, name, discover.Explain("", err))
	}
	said := fmt.Sprintf("benchmarksuite %s/%s: a round is asked for", namespace, name)
	if s.Spec.Suspend != nil && *s.Spec.Suspend {
		said += ", and waits until spec.suspend is false"
	}
	return &RoundRequest{Said: said, client: c, key: client.ObjectKeyFromObject(s), uid: s.UID, token: token, every: PollEvery}, nil
}

// Await waits for the end of the round that answers the request, and for no longer than patience. If that is over, the round goes on. Until it is, the
// change points are waited for, too, that the gate asks for, if they are wanted.
func (r *RoundRequest) Await(ctx context.Context, patience time.Duration, changePoints bool) (v1alpha1.SuiteRound, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var round int32
	var ended *v1alpha1.SuiteRound
	says := "no round has begun"
	for {
		s, runs, err := r.read(limited)
		switch {
		case apierrors.IsNotFound(err), err == nil && s.UID != r.uid:
			return v1alpha1.SuiteRound{}, fmt.Errorf("BenchmarkSuite %s was deleted while its round was waited for", r.key)
		case err != nil && limited.Err() == nil:
			says = discover.Explain("", err).Error()
		case err == nil:
			if round == 0 {
				round = r.answer(s, runs)
			}
			if ended = endOf(s, round); ended != nil && (!changePoints || suite.Held(s, *ended, time.Now()) == 0) {
				return *ended, nil
			}
			if round == 0 && r.dropped(s) {
				return v1alpha1.SuiteRound{}, r.lost(s)
			}
			says = standing(s, round)
		}
		select {
		case <-limited.Done():
			if ctx.Err() != nil {
				return v1alpha1.SuiteRound{}, ErrLeft
			}
			if ended != nil {
				return *ended, nil
			}
			return v1alpha1.SuiteRound{}, fmt.Errorf("the round of BenchmarkSuite %s has not ended within %s, and is waited for no longer: %s", r.key, patience, says)
		case <-time.After(r.every):
		}
	}
}

// read reads the suite, and then its runs: those of a round that the suite says it has begun are there.
func (r *RoundRequest) read(ctx context.Context) (*v1alpha1.BenchmarkSuite, []v1alpha1.BenchmarkRun, error) {
	s := &v1alpha1.BenchmarkSuite{}
	if err := r.client.Get(ctx, r.key, s); err != nil {
		return nil, nil, err
	}
	var runs v1alpha1.BenchmarkRunList
	err := r.client.List(ctx, &runs, client.InNamespace(r.key.Namespace), client.MatchingLabels{v1alpha1.LabelSuiteUID: string(r.uid)})
	return s, runs.Items, err
}

// answer is the number of the round that answers the request; 0 if it has not begun. A later request that took its place asks for the same.
func (r *RoundRequest) answer(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) int32 {
	if round := suite.Answering(runs, r.token); round > 0 {
		return round
	}
	return suite.Answering(runs, s.Annotations[v1alpha1.AnnotationRequestedAt])
}

// dropped reports whether a suite is done with a request that no round answers.
func (r *RoundRequest) dropped(s *v1alpha1.BenchmarkSuite) bool {
	return s.Status.LastHandledRequest != "" && slices.Contains([]string{r.token, s.Annotations[v1alpha1.AnnotationRequestedAt]}, s.Status.LastHandledRequest)
}

// lost says why nothing more is known of a request that a suite is done with.
func (r *RoundRequest) lost(s *v1alpha1.BenchmarkSuite) error {
	if s.Spec.Concurrency == v1alpha1.ConcurrencySkip {
		return fmt.Errorf("the request was dropped: another round of BenchmarkSuite %s was in progress, and spec.concurrency is Skip", r.key)
	}
	return fmt.Errorf("no run is left of the round of BenchmarkSuite %s that answered the request: status.history of the suite has its outcome", r.key)
}

// endOf is how a round of a suite has ended; nil if it has not.
func endOf(s *v1alpha1.BenchmarkSuite, round int32) *v1alpha1.SuiteRound {
	if round == 0 || s.Status.Current.Round == round {
		return nil
	}
	return pick.First(s.Status.History, func(l *v1alpha1.SuiteRound) bool { return l.Round == round })
}

// standing is how far a round of a suite is; without one, how the suite stands.
func standing(s *v1alpha1.BenchmarkSuite, round int32) string {
	if round > 0 {
		return fmt.Sprintf("round %d goes on, %s of its runs have ended", round, cmp.Or(s.Status.Current.Progress, "none"))
	}
	text := "no round has begun"
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); c != nil && c.Status != metav1.ConditionTrue {
		text += fmt.Sprintf(": Ready is %s (%s): %s", c.Status, c.Reason, c.Message)
	}
	return text
}
