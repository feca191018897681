package suites

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/notifications"
	"loadstone.dev/loadstone/internal/suite/notify"
)

// teller tells sinks, which are on this machine, as the operator does, which refuses to.
func (w *world) teller(m ctrl.Manager) *notifications.Reconciler {
	return &notifications.Reconciler{
		Client: dying{m.GetClient(), w}, Live: m.GetAPIReader(), Recorder: m.GetEventRecorder("loadstone"), Post: notifications.Poster(&http.Transport{DisableKeepAlives: true}),
		Forges: &notifications.Forges{Live: m.GetAPIReader(), Reports: w.reports, Way: w.forge, Now: time.Now},
		Now:    func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) },
	}
}

// dying is the client of an operator that dies before it writes.
type dying struct {
	client.Client
	w *world
}

func (d dying) Status() client.SubResourceWriter { return dyingWriter{d.Client.Status(), d.w} }

type dyingWriter struct {
	client.SubResourceWriter
	w *world
}

func (d dyingWriter) Patch(ctx context.Context, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
	if d.w.fails.Load() {
		return errors.New("the operator dies")
	}
	return d.SubResourceWriter.Patch(ctx, o, p, options...)
}

type sink struct {
	mu  sync.Mutex
	got []notify.Event
}

// sink gives the suite of the test a sink.
func (w *world) sink(name string, answer http.HandlerFunc) *sink {
	w.t.Helper()
	s := &sink{}
	server := httptest.NewServer(http.HandlerFunc(func(r http.ResponseWriter, q *http.Request) {
		var e notify.Event
		body, err := io.ReadAll(q.Body)
		if err == nil {
			err = json.Unmarshal(body, &e)
		}
		if err != nil {
			w.t.Errorf("%s was sent %q: %v", name, body, err)
		}
		s.mu.Lock()
		s.got = append(s.got, e)
		s.mu.Unlock()
		answer(r, q)
	}))
	w.t.Cleanup(server.Close)
	address := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	w.sinks = append(w.sinks, v1alpha1.Notification{Name: name, URL: address + "/rounds?token=secret"})
	return s
}

// ids are those of the events that came, without the suite's.
func (s *sink) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, e := range s.got {
		_, id, _ := strings.Cut(e.ID, "/")
		ids = append(ids, id)
	}
	return ids
}

func takes(http.ResponseWriter, *http.Request) {}

// told is what the status has of a sink.
func told(s *v1alpha1.BenchmarkSuite, name string) v1alpha1.NotificationStatus {
	i := slices.IndexFunc(s.Status.Notifications, func(n v1alpha1.NotificationStatus) bool { return n.Name == name })
	if i < 0 {
		return v1alpha1.NotificationStatus{}
	}
	return s.Status.Notifications[i]
}

// has reports whether a sink has taken a round.
func has(name string, round int32) func(*v1alpha1.BenchmarkSuite) bool {
	return func(s *v1alpha1.BenchmarkSuite) bool {
		return slices.ContainsFunc(told(s, name).Rounds, func(r v1alpha1.NotifiedRound) bool { return r.Round == round && r.DeliveryTime != nil })
	}
}

// known waits until the operator knows the sinks and a new second has begun: sinks do not hear of a round that ends in the second of an earlier one.
func (w *world) known() {
	w.t.Helper()
	w.await("that the sinks are known", func(s *v1alpha1.BenchmarkSuite) bool {
		early := func(n v1alpha1.NotificationStatus) bool { return time.Now().Before(n.StartTime.Time) }
		return len(s.Status.Notifications) == len(w.sinks) && !slices.ContainsFunc(s.Status.Notifications, early)
	})
}

func (w *world) warned(reason, part string) {
	w.t.Helper()
	w.await("a warning", func(*v1alpha1.BenchmarkSuite) bool {
		var events corev1.EventList
		w.must(w.c.List(w.t.Context(), &events, client.InNamespace(w.namespace)))
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return e.InvolvedObject.Kind == "BenchmarkSuite" && e.Type == corev1.EventTypeWarning && e.Reason == reason && strings.Contains(e.Message, part)
		})
	})
}

// wantIDs wants a sink to have been sent some events, and no others.
func (w *world) wantIDs(what string, s *sink, want ...string) {
	w.t.Helper()
	if got := s.ids(); !slices.Equal(got, want) {
		w.t.Errorf("%s was sent %q, want %q", what, got, want)
	}
}

func TestSinksAreToldOfRounds(t *testing.T) {
	w := newWorld(t)
	good := w.sink("good", takes)
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10), fmt.Sprintf(template, 20))
	w.await("the first round", measures(1))
	w.known()
	w.end(metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed, "p99 +23 %, at most +10 % wanted")
	s := w.await("that the sink is told", has("good", 1))
	e := good.got[0]
	if e.Type != "dev.loadstone.round.missed" || e.Subject != w.namespace+"/checkout" || e.Data.Message != "r0: p99 +23 %, at most +10 % wanted; r1: p99 +23 %, at most +10 % wanted" {
		t.Errorf("the event is %+v", e)
	}
	if g := e.Data.Gate; g == nil || g.Ready != metav1.ConditionFalse || g.Reason != v1alpha1.ReasonObjectivesMissed || len(e.Data.Runs) != 2 || !strings.HasSuffix(e.Data.Runs[1].Report, "/report.html") {
		t.Errorf("its data are %+v", e.Data)
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNotified); c.Status != metav1.ConditionTrue || c.Message != "good received round 1" {
		t.Errorf("Notified is %+v", c)
	}
	w.poke()
	w.stop()
	w.start()
	w.poke()
	late := w.sink("late", takes)
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 30))
	w.await("the second round", measures(2))
	w.known()
	w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.await("that the late sink is told", has("late", 2))
	w.await("that the good sink is told", has("good", 2))
	w.wantIDs("the good sink", good, "1/missed", "2/passed")
	w.wantIDs("the late sink", late, "2/passed")
	w.sinks = nil
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 30))
	w.await("that sinks are forgotten", func(s *v1alpha1.BenchmarkSuite) bool {
		return len(s.Status.Notifications) == 0 && meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNotified) == nil
	})
}

// A sink that never answers holds up neither a round nor other suites; one that refuses is asked again, and the suite says so.
func TestSinksThatFailHoldUpNothing(t *testing.T) {
	w := newWorld(t)
	var willing atomic.Bool
	refusing := w.sink("refusing", func(r http.ResponseWriter, _ *http.Request) {
		if !willing.Load() {
			http.Error(r, "secret", http.StatusServiceUnavailable)
		}
	})
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	slow := w.sink("slow", func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-q.Context().Done():
		case <-release:
		}
	})
	dead := w.sink("dead", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	w.await("the first round", measures(1))
	w.known()
	w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.await("that the slow sink is asked", func(*v1alpha1.BenchmarkSuite) bool { return len(slow.ids()) > 0 })
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 20))
	w.await("the second round", measures(2))
	w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	w.await("readiness", is(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonDone))
	s := w.await("that the failures are told", func(s *v1alpha1.BenchmarkSuite) bool { return told(s, "slow").FailureTime != nil })
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNotified)
	for _, part := range []string{"refusing answers 503 Service Unavailable: ", "slow does not answer: no answer within 10 s: ", "dead does not answer: the connection was closed before an answer: "} {
		if c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, part) || strings.Contains(c.Message, "secret") {
			t.Errorf("Notified is %+v, want %q", c, part)
		}
	}
	w.warned(c.Reason, "refusing answers 503 Service Unavailable")
	w.sinks = w.sinks[:1] // The others would be asked again, too, each for ten seconds.
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 20))
	w.await("that the others are forgotten", func(s *v1alpha1.BenchmarkSuite) bool { return len(s.Status.Notifications) == 1 })
	w.ahead.Add(int64(time.Minute))
	w.poke()
	first := told(s, "refusing").NextTime
	w.await("another refusal", func(s *v1alpha1.BenchmarkSuite) bool {
		next := told(s, "refusing").NextTime
		return len(refusing.ids()) > 1 && next != nil && first.Before(next)
	})
	willing.Store(true)
	w.ahead.Add(int64(15 * time.Minute))
	w.poke()
	w.await("that the sink takes both rounds", func(s *v1alpha1.BenchmarkSuite) bool { return has("refusing", 1)(s) && has("refusing", 2)(s) })
	if ids := refusing.ids(); !regexp.MustCompile(`^(1/passed ){3,}2/passed$`).MatchString(strings.Join(ids, " ")) {
		t.Errorf("the refusing sink was sent %q", ids)
	}
	if ids := dead.ids(); len(ids) == 0 || ids[0] != "1/passed" {
		t.Errorf("the sink that dies was sent %q", ids)
	}
}

// An operator that dies when it has told a sink, and has not written it down, tells it again with the same id.
func TestAnOperatorThatDiesTellsTheSameAgain(t *testing.T) {
	w := newWorld(t)
	var other atomic.Bool
	s := w.sink("good", func(http.ResponseWriter, *http.Request) { w.fails.Store(!other.Load()) })
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	w.await("the first round", measures(1))
	w.known()
	w.end(metav1.ConditionTrue, v1alpha1.ReasonDone, "all objectives met")
	suite := w.await("that the sink is told", func(*v1alpha1.BenchmarkSuite) bool { return len(s.ids()) > 0 })
	w.stop()
	if has("good", 1)(suite) {
		t.Error("an operator that dies has written")
	}
	before := len(s.ids())
	other.Store(true)
	w.fails.Store(false)
	w.start()
	w.await("that it is written down", has("good", 1))
	w.poke()
	if ids := s.ids(); len(ids) != before+1 || len(slices.Compact(ids)) != 1 {
		t.Errorf("the sink was sent %q, %d of them before", ids, before)
	}
	first, last := s.got[0], s.got[before]
	if first.ID != last.ID || first.Source != last.Source || first.Data.Message != last.Data.Message {
		t.Errorf("it was told %+v, and then %+v", first, last)
	}
}

// What nothing can be sent to is found before anything starts.
func TestASinkWithoutAnAddressStallsItsSuite(t *testing.T) {
	w := newWorld(t)
	w.sinks = []v1alpha1.Notification{{Name: "events", URL: "http://169.254.169.254/latest"}}
	w.apply(v1alpha1.ImagesAsWritten, fmt.Sprintf(template, 10))
	s := w.await("a stall", is(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonInvalidSpec))
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReady); !strings.HasPrefix(c.Message, "notifications[events].url is a loopback, link-local, multicast or metadata address") {
		t.Errorf("Ready is %+v", c)
	}
	w.wantRuns(0)
}
