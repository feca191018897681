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
	// users is the namespace of a hack/cluster user. The tests only create one run there, to simulate the user's.
	users           = "default"
	setup, teardown = 5 * time.Minute, 5 * time.Minute
)

var (
	// loadstone is the installation under test.
	loadstone *kube.Installation
	// namespace is created for the tests and deleted after them.
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

// beside runs the tests in a separate namespace, with a user's finished run of the same name as a test's. It then checks that this run is unchanged.
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

// after runs a function with the time limit for cleanup.
func after(do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), teardown)
	defer cancel()
	return do(ctx)
}

// makeNamespace creates the tests' namespace with the users' Pod Security level, which hack/deploy.sh sets.
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

// deleteNamespace returns when the namespace and its content are gone.
func deleteNamespace(ctx context.Context) error {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := loadstone.Client.Delete(ctx, n); err != nil {
		return fmt.Errorf("deleting the namespace of the tests: %w", err)
	}
	return gone(ctx, n)
}

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
