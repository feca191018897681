package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/client/kube"
)

const (
	// listDeadline bounds a list. After watchSeconds a watch ends, and objects are listed again.
	listDeadline = 30 * time.Second
	watchSeconds = 300
	// again is the delay before retrying a cluster that did not answer or ended a watch.
	again  = time.Second
	seldom = 30 * time.Second
)

type mirror struct {
	client    client.WithWatch
	namespace string
	labels    client.MatchingLabels
	what      string
	list      func() client.ObjectList
	changed   func()
	explain   func(error) error
	// parts are mirrors of one namespace each that this one combines; empty for a simple mirror.
	parts []*mirror

	// first is closed after the first answer or failure.
	first   chan struct{}
	mu      sync.Mutex
	objects map[client.ObjectKey]client.Object
	err     error
	since   time.Time
}

func newMirror(c client.WithWatch, namespace, what string, list func() client.ObjectList, changed func()) *mirror {
	explain := func(err error) error { return kube.Explain("", err) }
	return &mirror{client: c, namespace: namespace, what: what, list: list, changed: changed, explain: explain, first: make(chan struct{})}
}

// newMirrors mirrors namespaces one by one: permission for some does not include listing all.
func newMirrors(c client.WithWatch, namespaces []string, what string, list func() client.ObjectList, changed func()) *mirror {
	m := newMirror(c, "", what, list, changed)
	for _, name := range namespaces {
		m.parts = append(m.parts, newMirror(c, name, what+" of namespace "+name, list, changed))
	}
	return m
}

func (m *mirror) explains(how func(error) error) {
	m.explain = how
	for _, p := range m.parts {
		p.explains(how)
	}
}

func (m *mirror) follow(ctx context.Context) {
	var parts sync.WaitGroup
	for _, p := range m.parts {
		parts.Go(func() { p.follow(ctx) })
	}
	if m.parts != nil {
		parts.Wait()
		return
	}
	wait := again
	for ctx.Err() == nil {
		err := m.pass(ctx)
		if ctx.Err() != nil {
			return
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			err = nil // The cluster no longer knows the watch's start.
		}
		if err != nil {
			m.fail(err)
			wait = min(2*wait, seldom)
		} else {
			wait = again
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

func (m *mirror) pass(ctx context.Context) error {
	list := m.list()
	limited, cancel := context.WithTimeout(ctx, listDeadline)
	defer cancel()
	if err := m.client.List(limited, list, client.InNamespace(m.namespace), m.labels); err != nil {
		return err
	}
	objects, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	m.replace(objects)
	seconds := int64(watchSeconds)
	o := &client.ListOptions{Namespace: m.namespace, Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), TimeoutSeconds: &seconds}}
	w, err := m.client.Watch(ctx, m.list(), o, m.labels)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-w.ResultChan():
			if !open {
				return nil
			}
			if e.Type == watch.Error {
				return apierrors.FromObject(e.Object)
			}
			m.take(e)
		}
	}
}

func (m *mirror) replace(objects []runtime.Object) {
	all := map[client.ObjectKey]client.Object{}
	for _, o := range objects {
		if o, ok := o.(client.Object); ok {
			all[client.ObjectKeyFromObject(o)] = o
		}
	}
	m.mu.Lock()
	m.objects, m.err = all, nil
	m.answered()
	m.mu.Unlock()
	m.changed()
}

func (m *mirror) take(e watch.Event) {
	o, ok := e.Object.(client.Object)
	if !ok {
		return
	}
	m.mu.Lock()
	switch e.Type {
	case watch.Added, watch.Modified:
		m.objects[client.ObjectKeyFromObject(o)] = o
	case watch.Deleted:
		delete(m.objects, client.ObjectKeyFromObject(o))
	case watch.Bookmark, watch.Error:
	}
	m.mu.Unlock()
	m.changed()
}

func (m *mirror) fail(err error) {
	m.mu.Lock()
	isNew := m.err == nil || m.err.Error() != err.Error()
	if m.err == nil {
		m.since = time.Now()
	}
	m.err = err
	m.answered()
	m.mu.Unlock()
	if isNew {
		m.changed()
	}
}

// answered closes first, once. The mutex must be held.
func (m *mirror) answered() {
	select {
	case <-m.first:
	default:
		close(m.first)
	}
}

// failure returns why the data is out of date, or nil.
func (m *mirror) failure() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// trouble says why the data is out of date or incomplete; empty if it is neither.
func (m *mirror) trouble() string {
	var first string
	more := 0
	for _, p := range m.parts {
		switch text := p.trouble(); {
		case first == "":
			first = text
		case text != "":
			more++
		}
	}
	if more > 0 {
		first += fmt.Sprintf("; other namespaces with such a problem: %d", more)
	}
	if m.parts != nil {
		return first
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.err == nil:
		return ""
	case m.objects == nil:
		return fmt.Sprintf("%s are not shown, since they cannot be read: %v", m.what, m.explain(m.err))
	}
	return fmt.Sprintf("%s have not been read since %s: %v", m.what, m.since.UTC().Format("15:04:05 UTC"), m.explain(m.err))
}

func (m *mirror) isPartial() bool {
	if m.parts != nil {
		return slices.ContainsFunc(m.parts, (*mirror).isPartial)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects == nil
}

func seen[T any](ctx context.Context, m *mirror) ([]T, error) {
	if m.parts == nil {
		return seenIn[T](ctx, m)
	}
	var all []T
	var refusal error
	read := false
	for _, p := range m.parts {
		some, err := seenIn[T](ctx, p)
		if err != nil {
			refusal = err
			continue
		}
		all, read = append(all, some...), true
	}
	if !read {
		return nil, refusal
	}
	return all, nil
}

func seenIn[T any](ctx context.Context, m *mirror) ([]T, error) {
	select {
	case <-m.first:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects == nil {
		return nil, m.err
	}
	var all []T
	for _, o := range m.objects {
		if v, ok := any(o).(*T); ok {
			all = append(all, *v)
		}
	}
	return all, nil
}
