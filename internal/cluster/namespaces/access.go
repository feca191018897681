package namespaces

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// look is the interval of the checks, and lookPatience limits each request.
	look         = 10 * time.Second
	lookPatience = 5 * time.Second
	// grace is how long a namespace is refused before it counts as unreadable. A just started API server may not know its Roles yet, and a
	// run may be measuring there.
	grace = 30 * time.Second
)

// Access knows which led namespaces the operator may read. An unreadable namespace looks empty to the cache and to Reader, and so does not block
// the runs of others. When it can be read again, the cache lists it again.
type Access struct {
	led   Led
	ask   client.Reader
	log   logr.Logger
	kinds []client.ObjectList

	mu sync.Mutex
	// refused is since when a namespace is refused. locked are the unreadable ones.
	refused map[string]time.Time
	locked  map[string]bool
	changed map[string]chan struct{}
}

// NewAccess returns an Access to namespaces. All count as readable at first. It asks for lists of the kinds, without a cache.
func NewAccess(led Led, ask client.Reader, log logr.Logger, kinds ...client.ObjectList) *Access {
	a := &Access{led: led, ask: ask, log: log, kinds: kinds, refused: map[string]time.Time{}, locked: map[string]bool{}, changed: map[string]chan struct{}{}}
	for _, name := range led {
		a.changed[name] = make(chan struct{})
	}
	return a
}

// Start checks the namespaces until ctx ends. Call it before you wait for the cache.
func (a *Access) Start(ctx context.Context, now func() time.Time) {
	if len(a.led) > 0 {
		wait.UntilWithContext(ctx, func(ctx context.Context) { a.Look(ctx, now()) }, look)
	}
}

// Look checks all namespaces once.
func (a *Access) Look(ctx context.Context, now time.Time) {
	for _, name := range a.led {
		err := a.readable(ctx, name)
		if err != nil && !apierrors.IsForbidden(err) {
			continue // Of an API server that is unavailable, nothing is known.
		}
		if locked, changed := a.note(name, err != nil, now); changed && locked {
			a.say(ctx, name, err)
		} else if changed {
			a.log.Info("A namespace can be read again", "namespace", name)
		}
	}
}

func (a *Access) readable(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	for _, kind := range a.kinds {
		list, ok := kind.DeepCopyObject().(client.ObjectList)
		if !ok {
			return fmt.Errorf("listing in namespace %s: a %T is no list", name, kind)
		}
		if err := a.ask.List(ctx, list, client.InNamespace(name), client.Limit(1)); err != nil {
			return err
		}
	}
	return nil
}

// note records whether a namespace was refused.
func (a *Access) note(name string, refused bool, now time.Time) (locked, changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !refused {
		delete(a.refused, name)
	} else if a.refused[name].IsZero() {
		a.refused[name] = now
	}
	locked = refused && now.Sub(a.refused[name]) >= grace
	if locked == a.locked[name] || refused && !locked {
		return locked, false
	}
	a.locked[name] = locked
	close(a.changed[name])
	a.changed[name] = make(chan struct{})
	return locked, true
}

func (a *Access) say(ctx context.Context, name string, refusal error) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	var n corev1.Namespace
	err := a.ask.Get(ctx, client.ObjectKey{Name: name}, &n)
	switch {
	case apierrors.IsNotFound(err):
		a.log.Info("Leaving out a namespace that does not exist: create it and upgrade the chart, or remove it from the chart value runs.namespaces", "namespace", name)
	case err == nil && n.DeletionTimestamp != nil:
		a.log.Info("Leaving out a namespace that is being deleted and whose rights are already deleted: when nothing measures there, remove the finalizers of its "+
			"BenchmarkRuns and Trials", "namespace", name)
	default:
		a.log.Error(refusal, "Leaving out a namespace that cannot be read. Its runs wait, and others continue. Upgrade the chart, which creates the Role and the "+
			"RoleBinding loadstone-runs again", "namespace", name)
	}
}

// state reports whether a namespace is unreadable, and returns a channel that is closed at the next change; nil for namespaces that are not led.
func (a *Access) state(name string) (locked bool, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.locked[name], a.changed[name]
}

func (a *Access) leavesOut(name string) bool {
	if a == nil {
		return false
	}
	locked, _ := a.state(name)
	return locked
}

// Reader lists the led namespaces like Led.Reader, without the unreadable ones. For namespaces that were refused only recently, it returns
// the objects in the cache. So one refusal neither forgets a measuring run nor blocks others.
func (a *Access) Reader(all, memory client.Reader) client.Reader {
	if len(a.led) == 0 {
		return all
	}
	return reader{all, a.led, a, memory}
}

// asked is the key of a context's *string. Wrap stores the namespace of a request there.
type asked struct{}

// Wrap lets Informer know the namespace of each request, which client-go does not tell.
func (a *Access) Wrap(way http.RoundTripper) http.RoundTripper { return observed{way} }

type observed struct{ way http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(q *http.Request) (*http.Response, error) {
	if to, ok := q.Context().Value(asked{}).(*string); ok {
		parts := strings.Split(q.URL.Path, "/")
		if i := slices.Index(parts, "namespaces"); i >= 0 && i+1 < len(parts) {
			*to = parts[i+1]
		}
	}
	return o.way.RoundTrip(q)
}

// Informer is the NewInformer of a cache whose HTTP client passes through Wrap.
func (a *Access) Informer(of toolscache.ListerWatcher, o runtime.Object, resync time.Duration, by toolscache.Indexers) toolscache.SharedIndexInformer {
	s := &source{access: a, of: toolscache.ToListerWatcherWithContext(of)}
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}, o, resync, by)
}

// source lists and watches one kind in one namespace, or nothing while that is unreadable.
type source struct {
	access *Access
	of     toolscache.ListerWatcherWithContext

	mu        sync.Mutex
	namespace string
	empty     bool
}

// errAgain makes client-go list again.
var errAgain = apierrors.NewResourceExpired("the namespace has become readable or unreadable")

func (s *source) state() (locked, empty bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	locked, changed = s.access.state(s.namespace)
	return locked, s.empty, changed
}

func (s *source) request(ctx context.Context, send func(context.Context) error) error {
	var to string
	err := send(context.WithValue(ctx, asked{}, &to))
	s.mu.Lock()
	defer s.mu.Unlock()
	if to != "" {
		s.namespace = to
	}
	return err
}

func (s *source) list(ctx context.Context, how metav1.ListOptions) (all runtime.Object, err error) {
	locked, _, _ := s.state()
	if !locked {
		err = s.request(ctx, func(ctx context.Context) (err error) {
			all, err = s.of.ListWithContext(ctx, how)
			return err
		})
		locked, _, _ = s.state() // At the first request, the namespace was unknown.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.empty = locked
	if locked {
		return &metav1.List{}, nil
	}
	return all, err
}

// watch watches until the namespace becomes readable or unreadable. While it is unreadable, nothing happens there.
func (s *source) watch(ctx context.Context, how metav1.ListOptions) (w watch.Interface, err error) {
	initial := how.SendInitialEvents != nil && *how.SendInitialEvents
	locked, empty, changed := s.state()
	switch {
	case locked && initial:
		return nil, apierrors.NewBadRequest("the namespace cannot be read: list it") // The caller then lists.
	case locked != empty && !initial:
		return nil, errAgain
	case locked:
		w = watch.NewFake()
	default:
		err = s.request(ctx, func(ctx context.Context) (err error) {
			w, err = s.of.WatchWithContext(ctx, how)
			return err
		})
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.empty = s.empty && !initial
		s.mu.Unlock()
	}
	if changed == nil { // At the first request, the namespace was unknown.
		if locked, _, changed = s.state(); locked {
			w.Stop()
			return nil, errAgain
		}
	}
	if changed == nil {
		return w, nil
	}
	c := &cut{of: w, events: make(chan watch.Event), stopped: make(chan struct{})}
	go c.pass(changed)
	return c, nil
}

// cut is a watch that ends at a change, so that its caller lists again.
type cut struct {
	of      watch.Interface
	events  chan watch.Event
	once    sync.Once
	stopped chan struct{}
}

// Stop implements watch.Interface.
func (c *cut) Stop() { c.once.Do(func() { close(c.stopped) }) }

// ResultChan implements watch.Interface.
func (c *cut) ResultChan() <-chan watch.Event { return c.events }

func (c *cut) pass(changed <-chan struct{}) {
	defer close(c.events)
	defer c.of.Stop()
	for {
		var next watch.Event
		select {
		case e, ok := <-c.of.ResultChan():
			if !ok {
				return
			}
			next = e
		case <-changed:
			changed, next = nil, watch.Event{Type: watch.Error, Object: &errAgain.ErrStatus}
		case <-c.stopped:
			return
		}
		select {
		case c.events <- next:
		case <-c.stopped:
			return
		}
	}
}
