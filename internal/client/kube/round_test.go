package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

type played struct {
	t     *testing.T
	suite v1alpha1.BenchmarkSuite
	runs  []v1alpha1.BenchmarkRun
	away  error
}

func (p *played) begins(round int32, token string) {
	p.suite.Status.Current = v1alpha1.CurrentRound{Round: round, Progress: "0/1"}
	p.suite.Status.LastHandledRequest = token
	p.runs = append(p.runs, v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
		Namespace: "perf", Name: fmt.Sprint("checkout-", round),
		Labels:      map[string]string{v1alpha1.LabelSuiteUID: "0c9f", v1alpha1.LabelRound: fmt.Sprint(round)},
		Annotations: map[string]string{v1alpha1.AnnotationRound: fmt.Sprintf(`{"id": "%d", "requested": %q}`, round, token)},
	}})
}

// ends makes a round end and deletes its runs at once.
func (p *played) ends(round int32, outcome v1alpha1.RoundOutcome) {
	p.suite.Status.Current, p.runs = v1alpha1.CurrentRound{}, nil
	p.suite.Status.History = append([]v1alpha1.SuiteRound{{Round: round, Outcome: outcome}}, p.suite.Status.History...)
}

func (p *played) client() client.Client {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		p.t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(p.suite.DeepCopy())
	for i := range p.runs {
		b.WithObjects(&p.runs[i])
	}
	return b.Build()
}

func TestARoundIsWaitedFor(t *testing.T) {
	const mine, other = "2026-03-02T12:00:00Z", "2026-03-02T12:00:05Z"
	asks := func(p *played, token string) {
		p.suite.Annotations = map[string]string{v1alpha1.AnnotationRequestedAt: token}
	}
	type step = func(*played)
	nothing := func(*played) {}
	for name, tc := range map[string]struct {
		steps []step
		want  v1alpha1.SuiteRound
		fails string
	}{
		"it begins at once, and passes": {
			[]step{func(p *played) { p.begins(3, mine) }, nothing, func(p *played) { p.ends(3, v1alpha1.RoundPassed) }}, v1alpha1.SuiteRound{Round: 3, Outcome: v1alpha1.RoundPassed}, "",
		},
		"another is in progress before": {
			[]step{func(p *played) { p.begins(2, "") }, func(p *played) { p.ends(2, v1alpha1.RoundMissed) }, func(p *played) { p.begins(3, mine) }, func(p *played) { p.ends(3, v1alpha1.RoundInconclusive) }},
			v1alpha1.SuiteRound{Round: 3, Outcome: v1alpha1.RoundInconclusive},
			"",
		},
		"somebody asks after it, and one round answers both": {
			[]step{func(p *played) { asks(p, other) }, func(p *played) { p.begins(3, other) }, func(p *played) { p.ends(3, v1alpha1.RoundPassed) }},
			v1alpha1.SuiteRound{Round: 3, Outcome: v1alpha1.RoundPassed},
			"",
		},
		"a round with the values of another request answers it": {
			[]step{func(p *played) { p.begins(3, mine); p.suite.Status.Current = v1alpha1.CurrentRound{} }, func(p *played) {
				p.suite.Status.Current = v1alpha1.CurrentRound{Round: 3, Parameters: []v1alpha1.ParameterValue{{Name: "image", Value: "shop:1"}}}
			}},
			v1alpha1.SuiteRound{},
			"round 3 of BenchmarkSuite perf/checkout replaced the requested one and has the values of another request: image=shop:1. Repeat the command",
		},
		"a round with the values of another request has answered it": {
			[]step{func(p *played) { p.begins(3, mine) }, func(p *played) {
				runs := p.runs
				p.ends(3, v1alpha1.RoundPassed)
				p.runs, p.suite.Status.History[0].Parameters = runs, []v1alpha1.ParameterValue{{Name: "image", Value: "shop:1"}}
			}},
			v1alpha1.SuiteRound{},
			"round 3 of BenchmarkSuite perf/checkout replaced the requested one and has the values of another request: image=shop:1. Repeat the command",
		},
		"the API server is away for a moment": {
			[]step{
				func(p *played) { p.away = apierrors.NewInternalError(errors.New("x")) }, func(p *played) { p.away = nil; p.begins(3, mine) },
				func(p *played) { p.ends(3, v1alpha1.RoundPassed) },
			},
			v1alpha1.SuiteRound{Round: 3, Outcome: v1alpha1.RoundPassed},
			"",
		},
		"it is dropped": {
			[]step{func(p *played) { p.begins(2, "") }, func(p *played) {
				p.suite.Spec.Concurrency, p.suite.Status.LastHandledRequest = v1alpha1.ConcurrencySkip, mine
			}},
			v1alpha1.SuiteRound{},
			"the request was dropped, because another round of BenchmarkSuite perf/checkout was in progress and spec.concurrency is Skip: repeat the command after that round",
		},
		"the round that answered it is gone": {
			[]step{func(p *played) {
				p.suite.Spec.Concurrency, p.suite.Status.LastHandledRequest = v1alpha1.ConcurrencyReplace, mine
			}},
			v1alpha1.SuiteRound{},
			"the runs of the requested round of BenchmarkSuite perf/checkout were deleted: see status.history of the suite for its outcome",
		},
		"the suite is made anew": {
			[]step{func(p *played) { p.suite.UID = "ffff" }}, v1alpha1.SuiteRound{}, "BenchmarkSuite perf/checkout was deleted while the command waited for its round",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &played{t: t, suite: v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "0c9f"}}}
			asks(p, mine)
			steps := tc.steps
			c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
				Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, how ...client.GetOption) error {
					if len(steps) > 0 {
						steps[0](p)
						steps = slices.Clone(steps[1:])
					}
					if p.away != nil {
						return p.away
					}
					return p.client().Get(ctx, key, o, how...)
				},
				List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, how ...client.ListOption) error {
					return p.client().List(ctx, list, how...)
				},
			})
			r := &RoundRequest{client: c, key: client.ObjectKey{Namespace: "perf", Name: "checkout"}, uid: types.UID("0c9f"), token: mine, every: time.Millisecond}
			got, err := r.Await(t.Context(), 2*time.Minute, false)
			if tc.fails == "" && err != nil || tc.fails != "" && (err == nil || err.Error() != tc.fails) {
				t.Errorf("it ends with %v, want %q", err, tc.fails)
			}
			if got.Round != tc.want.Round || got.Outcome != tc.want.Outcome {
				t.Errorf("it ends as %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestWaitForRoundTimesOut(t *testing.T) {
	p := &played{t: t, suite: v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "0c9f"}}}
	p.suite.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonInvalidSpec, Message: "no cron line"}}
	r := &RoundRequest{client: p.client(), key: client.ObjectKey{Namespace: "perf", Name: "checkout"}, uid: "0c9f", token: "now", every: time.Millisecond}
	const want = "the round of BenchmarkSuite perf/checkout did not end within 1ms: no round has started"
	if _, err := r.Await(t.Context(), time.Millisecond, false); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("it ends with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Await(ctx, time.Minute, false); !errors.Is(err, ErrLeft) {
		t.Errorf("who is interrupted gets %v", err)
	}
	if got := standing(&p.suite, 0); got != "no round has started: Ready is False (InvalidSpec): no cron line" {
		t.Errorf("before the round it says %q", got)
	}
	p.begins(3, "now")
	if got := standing(&p.suite, 3); got != "round 3 is in progress, 0/1 of its runs have ended" {
		t.Errorf("while it goes on it says %q", got)
	}
}

// The operator finds change points after the end of the round.
func TestTheChangePointsOfARoundAreWaitedFor(t *testing.T) {
	for name, tc := range map[string]struct{ wanted, read bool }{
		"they are read":                {true, true},
		"nobody wants them":            {false, false},
		"they are not read in so long": {true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &played{t: t, suite: v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "0c9f"}}}
				p.suite.Spec.Gate.ChangePoints.WithinRounds = 5
				p.begins(3, "now")
				looks := 0
				c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
					Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, how ...client.GetOption) error {
						now := metav1.Now()
						switch looks++; {
						case looks == 2:
							p.ends(3, v1alpha1.RoundPassed)
							p.suite.Status.History[0].CompletionTime = &now
						case looks == 4 && tc.read:
							p.suite.Status.History[0].ChangePoints.CompletionTime = &now
						}
						return p.client().Get(ctx, key, o, how...)
					},
					List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, how ...client.ListOption) error {
						return p.client().List(ctx, list, how...)
					},
				})
				r := &RoundRequest{client: c, key: client.ObjectKey{Namespace: "perf", Name: "checkout"}, uid: "0c9f", token: "now", every: PollEvery}
				got, err := r.Await(t.Context(), time.Minute, tc.wanted)
				if err != nil || got.Round != 3 || (got.ChangePoints.CompletionTime != nil) != tc.read {
					t.Errorf("it ends as %+v, %v", got, err)
				}
			})
		})
	}
}

func checkout() *v1alpha1.BenchmarkSuite {
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "0c9f"}}
	s.Spec.Parameters = []v1alpha1.Parameter{{Name: "image", Default: "shop/checkout:main", Pattern: "shop/checkout:.*"}}
	s.Spec.Runs = []v1alpha1.SuiteRun{{Name: "small", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte(`{
		"implementations": [{"name": "candidate", "image": "$(image)", "port": 8080}], "loads": [{"name": "sweep", "tool": "wrk", "levels": [{"connections": 100}]}]}`)}}}}
	return s
}

func TestARequestGivesValues(t *testing.T) {
	for name, tc := range map[string]struct{ value, parameter, fails string }{
		"one that the suite takes":       {"shop/checkout:1", "image", ""},
		"one that breaks its pattern":    {"other:1", "image", "does not match its pattern shop/checkout:.*"},
		"one of no parameter":            {"1a2b3c4", "commit", "the request sets commit, but the suite has no such parameter"},
		"one that is longer than a name": {"shop/checkout:" + strings.Repeat("a", 1100), "image", "BenchmarkSuite perf/checkout: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := &played{t: t, suite: *checkout()}
			c := p.client()
			r, s := &RoundRequest{client: c, key: client.ObjectKeyFromObject(&p.suite), gives: true}, checkout()
			err := r.give(t.Context(), s, []v1alpha1.ParameterValue{{Name: tc.parameter, Value: tc.value}}, time.Now())
			if bad := (*Invalid)(nil); tc.fails == "" && err != nil || tc.fails != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), tc.fails)) {
				t.Errorf("it ends with %v, want %q", err, tc.fails)
			}
			if err := c.Get(t.Context(), r.key, s); err != nil {
				t.Fatal(err)
			}
			written := webhook.Read(s.Annotations[v1alpha1.AnnotationWebhook])
			if tc.fails != "" {
				if written.ID != "" {
					t.Errorf("%+v is written down", written)
				}
				return
			}
			if !written.ByHand || written.ID != r.token || len(written.Parameters) != 1 || written.Parameters[0].Value != tc.value || !r.displaced(&p.suite) || r.displaced(s) {
				t.Errorf("what is written down is %+v", written)
			}
			waits := r.standing(s, 0)
			s.Status.LastHandledWebhook = r.token
			if waits != "no round has started: the request waits for its round to start" || !r.dropped(s) || strings.Contains(r.lost(s).Error(), "superseded") {
				t.Errorf("it says %q, and of what was handled %v", waits, r.lost(s))
			}
			s.Annotations[v1alpha1.AnnotationWebhook] = written.Then(strings.Repeat("b", 64), nil, time.Now(), time.Now()).Text()
			if s.Status.LastHandledWebhook = ""; !r.dropped(s) || !strings.Contains(r.lost(s).Error(), "was superseded or removed: repeat the command") {
				t.Errorf("of what gave way it says %v", r.lost(s))
			}
			run := v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{
				Labels:      map[string]string{v1alpha1.LabelRound: "4"},
				Annotations: map[string]string{v1alpha1.AnnotationRound: fmt.Sprintf(`{"id": "4", "webhook": %q}`, r.token)},
			}}
			if round := r.answer(s, []v1alpha1.BenchmarkRun{run}); round != 4 {
				t.Errorf("round %d answers it", round)
			}
		})
	}
}

// The runs of a round may be deleted between two reads, but its outcome stays.
func TestTheStatusKnowsWhichRoundAnswersARequestWithValues(t *testing.T) {
	const mine = "0b7e"
	for name, tc := range map[string]struct {
		status v1alpha1.BenchmarkSuiteStatus
		round  int32
		ended  bool
	}{
		"it has ended, and its runs are gone": {
			v1alpha1.BenchmarkSuiteStatus{LastHandledWebhook: mine, History: []v1alpha1.SuiteRound{{Round: 5}, {Round: 4, Webhook: mine, Outcome: v1alpha1.RoundMissed}}}, 4, true,
		},
		"it is in progress": {v1alpha1.BenchmarkSuiteStatus{LastHandledWebhook: mine, Current: v1alpha1.CurrentRound{Round: 4, Webhook: mine}}, 4, false},
		"it was dropped":    {v1alpha1.BenchmarkSuiteStatus{LastHandledWebhook: mine, History: []v1alpha1.SuiteRound{{Round: 4, Webhook: "ffff"}}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &played{t: t, suite: *checkout()}
			p.suite.Status = tc.status
			r := &RoundRequest{client: p.client(), key: client.ObjectKeyFromObject(&p.suite), uid: "0c9f", token: mine, gives: true, every: time.Millisecond}
			if round := r.answer(&p.suite, nil); round != tc.round {
				t.Errorf("round %d answers it, want %d", round, tc.round)
			}
			if !tc.ended {
				return
			}
			if got, err := r.Await(t.Context(), 2*time.Minute, false); err != nil || got.Outcome != v1alpha1.RoundMissed {
				t.Errorf("it ends as %+v, %v", got, err)
			}
		})
	}
}

func TestValuesAreWrittenAsNameAndValue(t *testing.T) {
	for text, fails := range map[string]string{
		"image=shop:1 commit=a=b": "", "": "", "image": `"image" does not set a parameter: write NAME=VALUE`, "=shop:1": `"=shop:1" does not set a parameter`,
		"image=a image=b": "the parameter image has two values: set one",
	} {
		values, err := Values(strings.Fields(text))
		if bad := (*Invalid)(nil); fails == "" && err != nil || fails != "" && (!errors.As(err, &bad) || !strings.HasPrefix(err.Error(), fails)) {
			t.Errorf("%q ends with %v", text, err)
		}
		if fails == "" && webhook.Given(values) != strings.Join(strings.Fields(text), ", ") {
			t.Errorf("%q is %+v", text, values)
		}
	}
}
