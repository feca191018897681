package discover

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/artifact"
)

// Installation is a Loadstone found in a cluster: the user's view of it, with the store that its operator writes to.
type Installation struct {
	Client client.Client
	Store  *artifact.Store
	// Close ends the forwarded port, if there is one.
	Close func()
}

// Find reads from the operator's Deployment where its object store is and which Secret opens it. Whoever may
// not read that Secret cannot fetch reports this way. A store inside the cluster is reached through a forwarded port.
func Find(ctx context.Context, namespace string) (*Installation, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster (is KUBECONFIG set?): %w", err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	var list appsv1.DeploymentList
	if err := c.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "loadstone", "app.kubernetes.io/component": "operator"}); err != nil {
		return nil, fmt.Errorf("looking for the operator: %w", err)
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("found %d operators in namespace %s: name the right one with --system-namespace", len(list.Items), namespace)
	}
	s3, err := storeConfig(ctx, c, &list.Items[0])
	if err != nil {
		return nil, err
	}
	in := &Installation{Client: c, Close: func() {}}
	var transport http.RoundTripper
	if service, ok := inCluster(s3.Endpoint, namespace); ok {
		if transport, in.Close, err = forward(ctx, config, c, service, s3.Endpoint); err != nil {
			return nil, err
		}
	}
	in.Store, err = artifact.OpenThrough(s3, transport)
	return in, err
}
