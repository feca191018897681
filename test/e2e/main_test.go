package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/client/kube"
)

const (
	system = "loadstone-system"
	// users is the namespace in which a user of hack/cluster works: the tests make nothing there but a run that plays the user's.
	users = "default"
	// setup bounds what is done before the tests, and teardown what is done after them.
	setup, teardown = 5 * time.Minute, 5 * time.Minute
)

var (
	// loadstone is the installation under test.
	loadstone *kube.Installation
	// namespace is that of the tests: made for them, and deleted with all that is in it when they are over.
	namespace string
)

func TestMain(m *testing.M) {
	if os.Getenv("KUBECONFIG") == "" {
		fmt.Println("end-to-end tests need a cluster: KUBECONFIG is not set. `make test-cluster` brings one up.")
		if os.Getenv("CI") != "" {
			os.Exit(1)
		}
		os.Exit(0)
	}
	code, err := beside(m)
	if err != nil {
		fmt.Println("FAIL:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// beside runs the tests in a namespace of their own, beside a finished run of a user's that has the name of one of theirs, and then looks
// whether they have left that run as it was.
func beside(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), setup)
	defer cancel()
	if loadstone, err = kube.Find(ctx, system); err != nil {
		return 1, fmt.Errorf("finding Loadstone: %w", err)
	}
	defer func() { loadstone.Close() }()
	user, err := findUsersRun(ctx)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, after(user.remove)) }()
	if err := makeNamespace(ctx); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, after(deleteNamespace)) }()
	code = m.Run()
	return code, errors.Join(removed(), after(user.untouched))
}

// after does something within the time that there is for it when the tests are over.
func after(do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), teardown)
	defer cancel()
	return do(ctx)
}

// makeNamespace makes the namespace of the tests like that of the users: with the same standard for pods, which hack/deploy.sh sets.
func makeNamespace(ctx context.Context) error {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "loadstone-e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := loadstone.Client.Create(ctx, n); err != nil {
		return fmt.Errorf("making a namespace for the tests: %w", err)
	}
	namespace = n.Name
	return nil
}

// deleteNamespace returns when the namespace is gone, and with it all that a test has left in it.
func deleteNamespace(ctx context.Context) error {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := loadstone.Client.Delete(ctx, n); err != nil {
		return fmt.Errorf("deleting the namespace of the tests: %w", err)
	}
	return gone(ctx, n)
}

// gone returns when an object is there no more.
func gone(ctx context.Context, o client.Object) error {
	for {
		err := loadstone.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%T %s is still there %s after its deletion: %w", o, o.GetName(), teardown, errors.Join(err, ctx.Err()))
		case <-time.After(200 * time.Millisecond):
		}
	}
}
