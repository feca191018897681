package argo

import (
	"context"
	"crypto/ed25519"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/internal/base/serve"
	"loadstone.dev/loadstone/internal/cluster/facts"
)

// Endpoint is what the steps of a workflow call:
//
//	POST /v1/trials/NAMESPACE/NAME   Authorization: the run's token
//
// It releases the trial and answers when the trial has ended: 200 with its outcome, also for one that failed for good, so
// that the others continue. 503 means "ask again": the operator is about to end. The trial's name makes the call idempotent. Only the leader
// answers; other operators pass calls to it, because the Service selects all.
type Endpoint struct {
	client.Client
	Key  ed25519.PrivateKey
	Addr string
	// Fence knows the leader. Nil: this operator leads.
	Fence *leader.Fence

	mu sync.Mutex
	// changed is closed, and replaced, whenever a trial changes.
	changed chan struct{}
	ending  context.Context
}

// outcome is the body of a 200.
type outcome struct {
	Trial     string `json:"trial"`
	Succeeded bool   `json:"succeeded"`
	Reason    string `json:"reason"`
}

var _ manager.LeaderElectionRunnable = (*Endpoint)(nil)

// NeedLeaderElection implements manager.LeaderElectionRunnable: others pass calls to the leader.
func (e *Endpoint) NeedLeaderElection() bool { return false }

// SetupWithManager registers the endpoint and watches trials.
func (e *Endpoint) SetupWithManager(ctx context.Context, m ctrl.Manager) error {
	e.changed = make(chan struct{})
	informer, err := m.GetCache().GetInformer(ctx, &v1alpha1.Trial{})
	if err != nil {
		return fmt.Errorf("watching trials: %w", err)
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(any, any) { e.wake() }, DeleteFunc: func(any) { e.wake() },
	})
	if err != nil {
		return fmt.Errorf("watching trials: %w", err)
	}
	return m.Add(e)
}

func (e *Endpoint) wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.changed)
	e.changed = make(chan struct{})
}

func (e *Endpoint) next() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed
}

// Start serves until the operator ends; open calls then get 503 at once.
func (e *Endpoint) Start(ctx context.Context) error {
	e.ending = ctx
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", e.Addr)
	if err != nil {
		return fmt.Errorf("listening for workflow steps: %w", err)
	}
	s := &http.Server{Handler: e.handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	return serve.Until(ctx, s, "workflow steps", func() error { return s.Serve(l) })
}

func (e *Endpoint) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/trials/{namespace}/{name}", e.step)
	return mux
}

// passedHeader marks a call from another operator: it is not passed again.
const passedHeader = "Loadstone-Passed"

// dialDeadline bounds a connection to the leader.
const dialDeadline = 5 * time.Second

// toLeader uses no proxy of the environment.
var toLeader = &http.Transport{DialContext: (&net.Dialer{Timeout: dialDeadline}).DialContext, IdleConnTimeout: time.Minute}

// step answers a call as the leader, or passes it on.
func (e *Endpoint) step(w http.ResponseWriter, q *http.Request) {
	if e.Fence == nil || e.Fence.Check() == nil {
		e.trial(w, q)
		return
	}
	ip, moved := e.Fence.Leader()
	_, port, err := net.SplitHostPort(e.Addr)
	if err != nil || ip == "" || q.Header.Get(passedHeader) != "" {
		http.Error(w, "no operator leads: retry", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithCancel(q.Context())
	defer cancel()
	go func() {
		select {
		case <-moved:
			cancel()
		case <-ctx.Done():
		}
	}()
	proxy := &httputil.ReverseProxy{
		Transport: toLeader,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: net.JoinHostPort(ip, port)})
			r.Out.Header.Set(passedHeader, "1")
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			ctrl.Log.WithName("endpoint").Info("Could not pass a workflow step to the leader", "address", ip, "reason", err.Error())
			http.Error(w, "the leader does not answer: retry", http.StatusServiceUnavailable)
		},
	}
	proxy.ServeHTTP(w, q.WithContext(ctx))
}

func (e *Endpoint) trial(w http.ResponseWriter, q *http.Request) {
	if q.ContentLength != 0 {
		// Nothing reads the body, which may be endless, so the server would not notice that the caller is gone.
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
		http.Error(w, "the request of a step must have no body", http.StatusRequestEntityTooLarge)
		return
	}
	key := client.ObjectKey{Namespace: q.PathValue("namespace"), Name: q.PathValue("name")}
	log := ctrl.Log.WithName("endpoint").WithValues("trial", key)
	var released types.UID
	for {
		changed := e.next()
		t, code, err := e.release(q.Context(), key, q.Header.Get("Authorization"), released)
		if err != nil {
			log.Info("Refused a workflow step", "status", code, "reason", err.Error())
			http.Error(w, http.StatusText(code), code)
			return
		}
		if t.Status.CompletionTime != nil {
			e.answer(w, t)
			return
		}
		released = t.UID
		select {
		case <-changed:
		case <-q.Context().Done():
			return
		case <-e.ending.Done():
			http.Error(w, "the operator is shutting down: retry", http.StatusServiceUnavailable)
			return
		}
	}
}

// release checks the run's token and releases the trial, unless this call has already released it and the cache is stale.
func (e *Endpoint) release(ctx context.Context, key client.ObjectKey, token string, released types.UID) (*v1alpha1.Trial, int, error) {
	var t v1alpha1.Trial
	if err := e.Get(ctx, key, &t); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, http.StatusNotFound, err
		}
		return nil, http.StatusServiceUnavailable, err
	}
	want := Token(e.Key, t.Labels[v1alpha1.LabelRunUID])
	if subtle.ConstantTimeCompare([]byte(strings.TrimPrefix(token, "Bearer ")), []byte(want)) != 1 {
		return nil, http.StatusForbidden, errors.New("the token does not belong to the trial's run")
	}
	if t.Spec.Start == v1alpha1.StartReleased || t.UID == released || t.Status.CompletionTime != nil {
		return &t, 0, nil
	}
	before := t.DeepCopy()
	t.Spec.Start = v1alpha1.StartReleased
	if err := e.Patch(ctx, &t, client.MergeFrom(before)); err != nil {
		return nil, http.StatusServiceUnavailable, fmt.Errorf("releasing trial: %w", err)
	}
	return &t, 0, nil
}

func (e *Endpoint) answer(w http.ResponseWriter, t *v1alpha1.Trial) {
	reason, _ := facts.Outcome(t)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(outcome{Trial: t.Name, Succeeded: t.Status.ManifestKey != "", Reason: reason})
}
