package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/namespaces"
)

// An operator goes on without a namespace that is not there, says which, and starts anew when it is there.
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
	m, err := o.leaveOut(t.Context(), func() (client.Client, error) { return c, nil })
	if err != nil || !slices.Equal(m.names, namespaces.Led{"team-b"}) || !slices.Equal(o.led, namespaces.Led{"system", "team-a"}) {
		t.Fatalf("led are %q, missing %q, %v", o.led, m.names, err)
	}
	said := make(chan string, 1)
	m.log, m.every = funcr.New(func(_, args string) { said <- args }, funcr.Options{}), time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
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
	all, err := new(options).leaveOut(t.Context(), nil)
	if err != nil || all.Start(t.Context()) != nil {
		t.Errorf("who leads all namespaces looks for %+v, %v", all, err)
	}
}
