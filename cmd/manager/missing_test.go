package main

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/testbed"
)

// An operator works without a missing namespace, reports it, and restarts when it exists.
func TestAMissingNamespaceIsLookedFor(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	namespace := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(namespace("system"), namespace("team-a")).Build()
	o := options{namespace: "system", led: namespaces.Led{"system", "team-a", "team-b"}}
	m, err := o.leaveOut(t.Context(), func() (client.Client, error) { return c, nil }, time.Millisecond)
	if err != nil || !slices.Equal(m.names, namespaces.Led{"team-b"}) || !slices.Equal(o.led, namespaces.Led{"system", "team-a"}) {
		t.Fatalf("led are %q, missing %q, %v", o.led, m.names, err)
	}
	said := make(chan string, 1)
	m.log, m.every = funcr.New(func(_, args string) { said <- args }, funcr.Options{}), time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	if text := <-said; !strings.Contains(text, "team-b") {
		t.Errorf("it says %s", text)
	}
	if err := c.Create(ctx, namespace("team-b")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, errThereNow) || !strings.HasSuffix(err.Error(), ": team-b") {
		t.Errorf("it ends with %v", err)
	}
	all, err := new(options).leaveOut(t.Context(), nil, time.Millisecond)
	if err != nil || all.Start(t.Context()) != nil {
		t.Errorf("who leads all namespaces looks for %+v, %v", all, err)
	}
}

// locks is an API server that forbids lists in some namespaces.
type locks struct {
	mu sync.Mutex
	in []string
	// opens is the number of refusals before lists in a namespace succeed; others stay locked.
	opens map[string]int
}

func (l *locks) set(names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in = names
}

func (l *locks) List(ctx context.Context, c client.WithWatch, list client.ObjectList, how ...client.ListOption) error {
	var asked client.ListOptions
	l.mu.Lock()
	where := asked.ApplyOptions(how).Namespace
	locked := slices.Contains(l.in, where)
	if left, ok := l.opens[where]; locked && ok {
		locked = left > 0
		l.opens[where]--
	}
	l.mu.Unlock()
	if locked {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "benchmarkruns"}, "", errors.New("no Role"))
	}
	return c.List(ctx, list, how...)
}

// newLocks is an operator of three namespaces and its own, and its API server. One of them is being deleted.
func newLocks(t *testing.T) (*locks, *options, client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	l := &locks{}
	b := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{List: l.List})
	for _, name := range []string{"system", "team-a", "team-b"} {
		b.WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	now := metav1.Now()
	b.WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-c", DeletionTimestamp: &now, Finalizers: []string{"what is in it"}}})
	return l, &options{namespace: "system", led: namespaces.Led{"system", "team-a", "team-b", "team-c"}}, b.Build()
}

// An operator leads readable namespaces, reports others with a remedy, and restarts when a Role is back.
func TestANamespaceWithoutItsRoleHoldsUpNoOther(t *testing.T) {
	l, o, c := newLocks(t)
	l.set("system", "team-b", "team-c")
	m, err := o.leaveOut(t.Context(), func() (client.Client, error) { return c, nil }, time.Millisecond)
	if err != nil || !slices.Equal(m.locked, namespaces.Led{"team-b", "team-c"}) || !slices.Equal(o.led, namespaces.Led{"system", "team-a"}) {
		t.Fatalf("led are %q, locked %q, %v", o.led, m.locked, err)
	}
	l.set("team-b", "team-c")
	said := make(chan string, 10)
	m.log, m.every = funcr.New(func(_, args string) { said <- args }, funcr.Options{}), time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	for _, want := range [][]string{{"the API server does not know them yet", "upgrade the chart", "team-b"}, {"take the finalizers", "team-c"}} {
		text := <-said
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("it says %s, which lacks %q", text, part)
			}
		}
	}
	l.set()
	if err := <-ended; !errors.Is(err, errThereNow) || !strings.HasSuffix(err.Error(), ": team-b") {
		t.Errorf("it ends with %v", err)
	}
}

// A run in an omitted namespace may measure in parallel, so a just started API server gets time to learn its Roles.
func TestAnOperatorLeavesOutNoNamespaceAtOneRefusal(t *testing.T) {
	for name, tc := range map[string]struct {
		opens  map[string]int
		locked namespaces.Led
	}{
		"one that is open at the second try is led":                       {map[string]int{"team-a": 1}, namespaces.Led{"team-b"}},
		"one that is open at the last try is led":                         {map[string]int{"team-b": refusals - 1}, namespaces.Led{"team-a"}},
		"all are led, when the API server knows its Roles":                {map[string]int{"team-a": 2, "team-b": 3}, nil},
		"one that is refused as often as it is asked is left out":         {map[string]int{"team-a": refusals}, namespaces.Led{"team-a", "team-b"}},
		"those that have no Role are left out, and nobody waits for ever": {nil, namespaces.Led{"team-a", "team-b"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, o, c := newLocks(t)
			l.opens = tc.opens
			l.set("team-a", "team-b")
			m, err := o.leaveOut(t.Context(), func() (client.Client, error) { return c, nil }, time.Millisecond)
			if err != nil || !slices.Equal(m.locked, tc.locked) {
				t.Fatalf("left out are %q, %v, want %q", m.locked, err, tc.locked)
			}
			for _, name := range []string{"system", "team-a", "team-b", "team-c"} {
				if slices.Contains(o.led, name) == slices.Contains(tc.locked, name) {
					t.Errorf("led are %q, and left out %q", o.led, m.locked)
				}
			}
		})
	}
}

// An operator waiting for Roles is not ready, and the kubelet kills one that is not ready in time.
func TestTheWaitForRolesFitsTheStartUpProbe(t *testing.T) {
	text, err := os.ReadFile("../../charts/loadstone/templates/operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	probe := regexp.MustCompile(`(?s)startupProbe:.*?periodSeconds: 1\n *failureThreshold: (\d+)\n`).FindSubmatch(text)
	if probe == nil {
		t.Fatal("the chart has no start-up probe of each second")
	}
	seconds, err := strconv.Atoi(string(probe[1]))
	if all := (refusals - 1) * refusedWait; err != nil || all > time.Duration(seconds)*time.Second/2 {
		t.Errorf("it waits %s, and is to be ready within %d s, %v", all, seconds, err)
	}
}

// A canceled start does not wait.
func TestAStartThatIsEndedLeavesOutNothing(t *testing.T) {
	l, o, c := newLocks(t)
	l.set("team-a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.leaveOut(ctx, func() (client.Client, error) { return c, nil }, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// An unreadable namespace blocks the whole queue, so the operator gives it up, but not after one refusal.
func TestAnOperatorGivesUpANamespaceThatIsLocked(t *testing.T) {
	l, o, c := newLocks(t)
	m, err := o.leaveOut(t.Context(), func() (client.Client, error) { return c, nil }, time.Millisecond)
	if err != nil || len(m.locked) > 0 || len(o.led) != 4 {
		t.Fatalf("led are %q, locked %q, %v", o.led, m.locked, err)
	}
	m.led = append(m.led, "gone")
	look := func(before ...string) namespaces.Led {
		t.Helper()
		refused, err := m.look(t.Context(), before)
		if err != nil {
			t.Errorf("it ends with %v", err)
		}
		return refused
	}
	l.set("team-a", "gone")
	if got := look(); !slices.Equal(got, namespaces.Led{"team-a"}) {
		t.Errorf("at the first look, refused are %q", got)
	}
	l.set("team-b")
	if got := look("team-a"); !slices.Equal(got, namespaces.Led{"team-b"}) {
		t.Errorf("at the second look, refused are %q", got)
	}
	if _, err := m.look(t.Context(), namespaces.Led{"team-b"}); !errors.Is(err, errLocked) || !strings.HasSuffix(err.Error(), ": team-b") {
		t.Errorf("at the third look, it ends with %v", err)
	}
	l.set()
	if got := look("team-b"); len(got) > 0 {
		t.Errorf("when all can be read, refused are %q", got)
	}
}
