package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
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

func storeConfig(ctx context.Context, c client.Client, d *appsv1.Deployment) (artifact.Config, error) {
	s3 := artifact.Config{}
	container := d.Spec.Template.Spec.Containers[0]
	for _, arg := range container.Args {
		name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch name {
		case "s3-endpoint":
			s3.Endpoint = value
		case "s3-bucket":
			s3.Bucket = value
		case "s3-region":
			s3.Region = value
		case "s3-tls":
			s3.Secure = value != "false"
		}
	}
	for _, e := range container.Env {
		if e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil {
			continue
		}
		var secret corev1.Secret
		ref := e.ValueFrom.SecretKeyRef
		if err := c.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: ref.Name}, &secret); err != nil {
			return s3, fmt.Errorf("reading the object store's key: %w", err)
		}
		switch e.Name {
		case "S3_ACCESS_KEY":
			s3.AccessKey = string(secret.Data[ref.Key])
		case "S3_SECRET_KEY":
			s3.SecretKey = string(secret.Data[ref.Key])
		}
	}
	return s3, nil
}

// inCluster tells whether an endpoint is a Service, as NAME.NAMESPACE.svc:PORT or NAME:PORT.
func inCluster(endpoint, namespace string) (client.ObjectKey, bool) {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return client.ObjectKey{}, false
	}
	parts := strings.Split(host, ".")
	switch {
	case len(parts) == 1:
		return client.ObjectKey{Namespace: namespace, Name: parts[0]}, parts[0] != "localhost"
	case len(parts) >= 3 && parts[2] == "svc":
		return client.ObjectKey{Namespace: parts[1], Name: parts[0]}, true
	}
	return client.ObjectKey{}, false
}

// forward opens a port of this machine to the pod behind a Service. Requests keep the store's own name, which S3's
// signatures cover; only the connection goes elsewhere.
func forward(ctx context.Context, config *rest.Config, c client.Client, service client.ObjectKey, endpoint string) (http.RoundTripper, func(), error) {
	pod, port, err := podBehind(ctx, c, service, endpoint)
	if err != nil {
		return nil, nil, err
	}
	roundTripper, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("preparing a forwarded port: %w", err)
	}
	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, nil, fmt.Errorf("preparing a forwarded port: %w", err)
	}
	address := host.JoinPath("api/v1/namespaces", pod.Namespace, "pods", pod.Name, "portforward")
	stop, ready, failed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: roundTripper}, http.MethodPost, address)
	f, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:" + strconv.Itoa(port)}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return nil, nil, fmt.Errorf("forwarding a port to pod %s: %w", pod.Name, err)
	}
	go func() { failed <- f.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-failed:
		return nil, nil, fmt.Errorf("forwarding a port to pod %s: %w", pod.Name, err)
	case <-ctx.Done():
		close(stop)
		return nil, nil, fmt.Errorf("forwarding a port to pod %s: %w", pod.Name, ctx.Err())
	}
	ports, err := f.GetPorts()
	if err != nil {
		close(stop)
		return nil, nil, fmt.Errorf("forwarding a port to pod %s: %w", pod.Name, err)
	}
	local := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0].Local)))
	t := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, local)
	}}
	return t, func() { close(stop) }, nil
}

func podBehind(ctx context.Context, c client.Client, service client.ObjectKey, endpoint string) (*corev1.Pod, int, error) {
	var s corev1.Service
	if err := c.Get(ctx, service, &s); err != nil {
		return nil, 0, fmt.Errorf("reading Service %s of the object store: %w", service, err)
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(service.Namespace), client.MatchingLabels(s.Spec.Selector)); err != nil {
		return nil, 0, fmt.Errorf("looking for the pods of Service %s: %w", service, err)
	}
	_, portText, _ := net.SplitHostPort(endpoint)
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Status.Phase != corev1.PodRunning || !p.DeletionTimestamp.IsZero() {
			continue
		}
		for _, sp := range s.Spec.Ports {
			if strconv.Itoa(int(sp.Port)) == portText {
				return p, targetPort(p, sp), nil
			}
		}
	}
	return nil, 0, fmt.Errorf("no running pod behind Service %s, port %s", service, portText)
}

func targetPort(p *corev1.Pod, sp corev1.ServicePort) int {
	for _, c := range p.Spec.Containers {
		for _, cp := range c.Ports {
			if sp.TargetPort.StrVal != "" && cp.Name == sp.TargetPort.StrVal {
				return int(cp.ContainerPort)
			}
		}
	}
	if n := sp.TargetPort.IntValue(); n != 0 {
		return n
	}
	return int(sp.Port)
}
