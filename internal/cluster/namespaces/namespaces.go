// Package namespaces restricts an operator to the namespaces of its installation: its cache and its API requests. It has no rights in others
// and ignores them. Cluster-scoped objects, such as nodes, are not affected.
package namespaces

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Led are the namespaces of an operator's runs and suites; none means all.
type Led []string

// Parse parses comma-separated names. The operator's own namespace is always included; own is empty if unknown.
func Parse(text, own string) (Led, error) {
	var l Led
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			return nil, fmt.Errorf("%q is not the name of a namespace: %s", name, strings.Join(wrong, "; "))
		}
		l = append(l, name)
	}
	if len(l) > 0 && own != "" {
		l = append(l, own)
	}
	slices.Sort(l)
	return slices.Compact(l), nil
}

// Has reports whether a namespace's runs are led.
func (l Led) Has(namespace string) bool { return len(l) == 0 || slices.Contains(l, namespace) }

// Cache returns the namespaces to cache; nil means all.
func (l Led) Cache() map[string]cache.Config {
	if len(l) == 0 {
		return nil
	}
	of := map[string]cache.Config{}
	for _, name := range l {
		of[name] = cache.Config{}
	}
	return of
}

// Split separates existing and missing namespaces. If checking is forbidden, a namespace counts as existing.
func (l Led) Split(ctx context.Context, ask client.Reader) (there, missing Led, err error) {
	for _, name := range l {
		gone, err := isGone(ctx, ask, name)
		switch {
		case err != nil && !apierrors.IsForbidden(err):
			return nil, nil, fmt.Errorf("looking for namespace %s: %w", name, err)
		case gone:
			missing = append(missing, name)
		default:
			there = append(there, name)
		}
	}
	return there, missing, nil
}

func isGone(ctx context.Context, ask client.Reader, name string) (bool, error) {
	err := ask.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

// Reader lists these namespaces one by one instead of all, which the operator may not list. An unreadable namespace fails the list, since its
// objects must not be missed; only a deleted namespace is skipped.
func (l Led) Reader(all client.Reader) client.Reader {
	if len(l) == 0 {
		return all
	}
	return reader{Reader: all, led: l}
}

// Client returns a client that reads like Reader.
func (l Led) Client(all client.Client) client.Client {
	if len(l) == 0 {
		return all
	}
	return confined{all, reader{Reader: all, led: l}}
}

type reader struct {
	client.Reader
	led Led
	// access and memory are nil, or left-out namespaces and the cache, which stands in for namespaces refused recently.
	access *Access
	memory client.Reader
}

// List implements client.Reader.
func (r reader) List(ctx context.Context, list client.ObjectList, how ...client.ListOption) error {
	var asked client.ListOptions
	if asked.ApplyOptions(how).Namespace != "" {
		return r.Reader.List(ctx, list, how...)
	}
	var all []runtime.Object
	for _, name := range r.led {
		if r.access.leavesOut(name) {
			continue
		}
		part, ok := list.DeepCopyObject().(client.ObjectList)
		if !ok {
			return fmt.Errorf("listing in namespace %s: a %T is no list", name, list)
		}
		if err := r.Reader.List(ctx, part, append(slices.Clone(how), client.InNamespace(name))...); err != nil {
			if r.forgotten(ctx, name, err) {
				continue
			}
			if r.memory != nil && apierrors.IsForbidden(err) {
				err = r.memory.List(ctx, part, append(slices.Clone(how), client.InNamespace(name))...)
			}
			if err != nil {
				return fmt.Errorf("listing in namespace %s: %w", name, err)
			}
		}
		items, err := meta.ExtractList(part)
		if err != nil {
			return fmt.Errorf("listing in namespace %s: %w", name, err)
		}
		all = append(all, items...)
	}
	return meta.SetList(list, all)
}

func (r reader) forgotten(ctx context.Context, name string, refusal error) bool {
	if !apierrors.IsForbidden(refusal) {
		return false
	}
	gone, err := isGone(ctx, r.Reader, name)
	return err == nil && gone // If unknown, it counts as existing.
}

type confined struct {
	client.Client
	reader reader
}

// List implements client.Reader.
func (c confined) List(ctx context.Context, list client.ObjectList, how ...client.ListOption) error {
	return c.reader.List(ctx, list, how...)
}
