package kube

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

type way struct {
	address string
	ended   <-chan struct{}
	end     func()
}

// tunnel forwards a local port to a Service's pod. client-go ends a forwarding when the pod resets a single connection,
// so another one is then opened.
type tunnel struct {
	open func(context.Context) (*way, error)

	mu      sync.Mutex
	current *way
}

// forward opens a tunnel. Requests keep the store's name, which S3 signatures cover; only the connection is redirected.
func forward(ctx context.Context, config *rest.Config, c client.Client, service client.ObjectKey, endpoint string) (*tunnel, error) {
	t := &tunnel{open: func(ctx context.Context) (*way, error) { return openWay(ctx, config, c, service, endpoint) }}
	_, err := t.way(ctx)
	return t, err
}

func (t *tunnel) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	for again := true; ; again = false {
		w, err := t.way(ctx)
		if err != nil {
			return nil, err
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, network, w.address)
		if err == nil || !again {
			return conn, err //nolint:wrapcheck // net's own errors name the address.
		}
		w.end()
		select {
		case <-w.ended:
		case <-ctx.Done():
			return nil, fmt.Errorf("forwarding a port again: %w", ctx.Err())
		}
	}
}

func (t *tunnel) way(ctx context.Context) (*way, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil {
		select {
		case <-t.current.ended:
		default:
			return t.current, nil
		}
	}
	w, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	t.current = w
	return w, nil
}

func (t *tunnel) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current.end()
}

func openWay(ctx context.Context, config *rest.Config, c client.Client, service client.ObjectKey, endpoint string) (*way, error) {
	pod, port, err := podBehind(ctx, c, service, endpoint)
	if err != nil {
		return nil, err
	}
	roundTripper, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing a forwarded port: %w", err)
	}
	host, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing a forwarded port: %w", err)
	}
	address := host.JoinPath("api/v1/namespaces", pod.Namespace, "pods", pod.Name, "portforward")
	stop, ready, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(stop) })
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: roundTripper}, http.MethodPost, address)
	f, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:" + strconv.Itoa(port)}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		return nil, fmt.Errorf("forwarding a port to pod %s: %w", pod.Name, err)
	}
	var failed error
	go func() {
		defer close(ended)
		failed = f.ForwardPorts()
	}()
	select {
	case <-ready:
	case <-ended:
		return nil, fmt.Errorf("forwarding a port to pod %s: %w", pod.Name, failed)
	case <-ctx.Done():
		end()
		return nil, fmt.Errorf("forwarding a port to pod %s: %w", pod.Name, ctx.Err())
	}
	ports, err := f.GetPorts()
	if err != nil {
		end()
		return nil, fmt.Errorf("forwarding a port to pod %s: %w", pod.Name, err)
	}
	return &way{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0].Local))), ended: ended, end: end}, nil
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
