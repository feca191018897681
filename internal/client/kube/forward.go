package kube

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/internal/store/artifact"
)

// inCluster reports whether an endpoint is a Service (NAME.NAMESPACE.svc:PORT or NAME:PORT), which users reach only by port forwarding.
func inCluster(endpoint, namespace string) (client.ObjectKey, bool) {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil || net.ParseIP(host) != nil {
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

// forward forwards a local port to a Service's pod. Requests keep the store's name, which S3 signatures cover; only the connection is
// redirected.
func forward(ctx context.Context, config *rest.Config, c client.Client, service client.ObjectKey, endpoint string) (artifact.Dial, func(), error) {
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
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, local)
	}
	return dial, func() { close(stop) }, nil
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
