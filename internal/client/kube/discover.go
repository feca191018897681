package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/store/artifact"
)

const connectDeadline = 15 * time.Second

// Installation is a Loadstone in a cluster, with its operator's store.
type Installation struct {
	Client client.Client
	Store  *artifact.Store
	Close  func()
}

// queries is the rate limit in requests per second after a burst, like kubectl's.
const (
	queries = 50
	burst   = 300
)

// Connect makes a client of a cluster, and checks that it answers and serves BenchmarkRuns. Its errors, and the client's after Explain, are
// sentences with a remedy.
func Connect(ctx context.Context, config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	if err := serves(ctx, config); err != nil {
		return nil, Explain(config.Host, err)
	}
	eager := rest.CopyConfig(config)
	eager.QPS, eager.Burst = cmp.Or(config.QPS, queries), cmp.Or(config.Burst, burst)
	c, err := client.New(eager, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", Explain(config.Host, err))
	}
	// Otherwise unknown fields would be dropped silently.
	return client.WithFieldValidation(c, metav1.FieldValidationStrict), nil
}

// serves checks that a cluster has BenchmarkRuns of this program's version.
func serves(ctx context.Context, config *rest.Config) error {
	asked := rest.CopyConfig(config)
	asked.Timeout = cmp.Or(asked.Timeout, connectDeadline)
	d, err := discovery.NewDiscoveryClientForConfig(asked)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	var groups metav1.APIGroupList
	if err := d.RESTClient().Get().AbsPath("/apis").Do(ctx).Into(&groups); err != nil {
		return err
	}
	served := util.First(groups.Groups, func(g *metav1.APIGroup) bool { return g.Name == v1alpha1.GroupVersion.Group })
	if served == nil {
		return fmt.Errorf("%w at %s: %s, or choose another cluster with --context", ErrNotInstalled, config.Host, howToInstall)
	}
	for _, v := range served.Versions {
		if v.Version == v1alpha1.GroupVersion.Version {
			return nil
		}
	}
	return fmt.Errorf("%w: it does not serve %s: upgrade the older one", ErrOtherVersion, v1alpha1.GroupVersion)
}

// Find is FindIn for the cluster of $KUBECONFIG.
func Find(ctx context.Context, namespace string) (*Installation, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster (is KUBECONFIG set?): %w", err)
	}
	return FindIn(ctx, config, namespace)
}

// FindIn finds the object store and its Secret from the operator's Deployment. It fails for users who may not read that Secret. A store in the
// cluster is reached through a forwarded port.
func FindIn(ctx context.Context, config *rest.Config, namespace string) (*Installation, error) {
	c, err := Connect(ctx, config)
	if err != nil {
		return nil, err
	}
	d, err := Operator(ctx, c, namespace)
	if err != nil {
		return nil, Explain(config.Host, err)
	}
	s3, err := storeConfig(ctx, c, d)
	if err != nil {
		return nil, Explain(config.Host, err)
	}
	in := &Installation{Client: c, Close: func() {}}
	var dial artifact.Dial
	if service, ok := inCluster(s3.Endpoint, namespace); ok {
		t, err := forward(ctx, config, c, service, s3.Endpoint)
		if err != nil {
			return nil, err
		}
		dial, in.Close = t.dial, t.close
	}
	in.Store, err = artifact.OpenThrough(s3, dial)
	return in, err
}

// Operator returns the operator's Deployment.
func Operator(ctx context.Context, c client.Client, namespace string) (*appsv1.Deployment, error) {
	var list appsv1.DeploymentList
	if err := c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "operator"}); err != nil {
		return nil, fmt.Errorf("looking for the operator: %w", err)
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("found %d operators in namespace %s: choose one with --system-namespace", len(list.Items), namespace)
	}
	return &list.Items[0], nil
}

// OperatorContainer is the operator in its pod.
const OperatorContainer = "manager"

// Container returns a container by its possible names; webhooks may have added others. The first one if none has such a name.
func Container(of corev1.PodSpec, names ...string) corev1.Container {
	for _, c := range of.Containers {
		if slices.Contains(names, c.Name) {
			return c
		}
	}
	return of.Containers[0]
}

const howToInstall = "install it with helm install loadstone charts/loadstone --namespace loadstone-system --create-namespace"

// ErrUnreachable: the cluster does not answer. ErrNotInstalled: it has no Loadstone. ErrOtherVersion: its Loadstone does not know what this
// program sends.
var (
	ErrUnreachable  = errors.New("cannot reach the cluster")
	ErrNotInstalled = errors.New("found no Loadstone in the cluster")
	ErrOtherVersion = errors.New("the cluster has a different version of Loadstone")
)

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// Explain turns an API server error into a sentence with a remedy. host may be empty. Other errors are returned unchanged.
func Explain(host string, err error) error {
	var network net.Error
	var address *url.Error
	if host != "" {
		host = " at " + host
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &address):
		return fmt.Errorf("%w%s: start it, or choose another one with --context or --kubeconfig (%w)", ErrUnreachable, host, address.Err)
	case errors.As(err, &network):
		return fmt.Errorf("%w%s: start it, or choose another one with --context or --kubeconfig (%w)", ErrUnreachable, host, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the cluster%s refused your credentials: log in again, or choose another user with --user or --context", host)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("permission denied: ask the cluster administrator for permission: %w", err)
	}
	if found := unknownField.FindAllStringSubmatch(err.Error(), -1); apierrors.IsBadRequest(err) && len(found) > 0 {
		var fields []string
		for _, f := range found {
			fields = append(fields, f[1])
		}
		return fmt.Errorf("%w: it does not know %s: upgrade it with helm upgrade, or remove the field", ErrOtherVersion, strings.Join(fields, ", "))
	}
	return err
}
