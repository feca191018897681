package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/pods"
	"loadstone.dev/loadstone/controllers/pods/podstest"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

var recheckNoon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// apiServer has pods, and something befalls them at an instant, of which a kubelet tells a second later.
type apiServer struct {
	client.Reader
	pods  []*corev1.Pod
	tells time.Time
	how   func(*apiServer)
	err   error
}

func (s *apiServer) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if s.how != nil && !time.Now().Before(s.tells) {
		s.how(s)
	}
	for _, p := range s.pods {
		list.(*corev1.PodList).Items = append(list.(*corev1.PodList).Items, *p)
	}
	return s.err
}

func TestAServerIsNotBlamedForWhatWasDoneToIt(t *testing.T) {
	const wrong = "WrongResponse: the connection was refused"
	ends := func(code int32, reason string) func(*apiServer) {
		return func(s *apiServer) {
			s.pods[1].Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
		}
	}
	for name, tc := range map[string]struct {
		how  func(*apiServer)
		err  error
		kind conduct.Kind
		want string
	}{
		"its server runs as it did":      {nil, nil, conduct.Permanent, wrong},
		"its server is killed":           {ends(137, "Error"), nil, conduct.Transient, "PodLost: implementations[go] was killed by another process"},
		"its server exits":               {ends(1, "Error"), nil, conduct.Permanent, "ServerExited: implementations[go] exited (exit code 1, Error)"},
		"its server exceeds its memory":  {ends(137, "OOMKilled"), nil, conduct.Permanent, "ServerExited: implementations[go] was killed because it exceeded its memory"},
		"its pod is deleted":             {func(s *apiServer) { s.pods[1].DeletionTimestamp = &metav1.Time{Time: recheckNoon} }, nil, conduct.Transient, "PodLost: pod x-000-go-1-s0 was deleted by another client"},
		"its pod is gone":                {func(s *apiServer) { s.pods = s.pods[:1] }, nil, conduct.Transient, "PodLost: pod x-000-go-1-s0 was deleted by another client"},
		"its pod is another of the name": {func(s *apiServer) { s.pods[1].UID = "another" }, nil, conduct.Transient, "PodLost: pod x-000-go-1-s0 was deleted by another client"},
		"nobody can say":                 {nil, errors.New("etcd"), 0, ""},
		"it has failed for a while only": {ends(1, "Error"), nil, conduct.Transient, wrong},
	} {
		t.Run("where "+name, func(t *testing.T) {
			a := pods.Attempt{Work: sweep.Sweep{Implementations: []record.Implementation{{Name: "go", MemoryBytes: 64 << 20}}}, Now: recheckNoon}
			live := &apiServer{how: tc.how, err: tc.err}
			for _, member := range []string{record.MemberGenerator(0), record.MemberServer(0)} {
				p := podstest.Running("x-000-go", member, recheckNoon)
				a.Pods, live.pods = append(a.Pods, p), append(live.pods, p.DeepCopy())
			}
			f := conduct.PermanentFailure(v1alpha1.ReasonWrongResponse, "the connection was refused")
			if tc.want == wrong {
				f.Kind = tc.kind
			}
			synctest.Test(t, func(t *testing.T) {
				live.tells = time.Now().Add(time.Second)
				got, err := recheck(t.Context(), live, a, f)
				if !errors.Is(err, tc.err) || (got == nil) != (tc.err != nil) {
					t.Fatalf("got %+v, %v", got, err)
				}
				if got != nil && (got.Kind != tc.kind || !strings.HasPrefix(got.Reason+": "+got.Message, tc.want)) {
					t.Errorf("got %+v, want %s", got, tc.want)
				}
			})
		})
	}
}

func TestAnOperatorThatEndsBlamesNobody(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := recheck(ctx, nil, pods.Attempt{}, conduct.PermanentFailure(v1alpha1.ReasonWrongResponse, "refused"))
	if f != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", f, err)
	}
}
