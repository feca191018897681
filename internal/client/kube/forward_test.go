package kube

import (
	"context"
	"net"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestInCluster(t *testing.T) {
	tests := map[string]struct {
		endpoint string
		want     client.ObjectKey
	}{
		"a Service and its namespace":         {"loadstone-minio.storage.svc:9000", client.ObjectKey{Namespace: "storage", Name: "loadstone-minio"}},
		"a Service with the cluster's domain": {"minio.storage.svc.cluster.local:9000", client.ObjectKey{Namespace: "storage", Name: "minio"}},
		"a Service of the operator's own":     {"minio:9000", client.ObjectKey{Namespace: "system", Name: "minio"}},
		"this machine":                        {"localhost:9000", client.ObjectKey{}},
		"a name of the world":                 {"s3.amazonaws.com:443", client.ObjectKey{}},
		"a name of two parts":                 {"example.org:443", client.ObjectKey{}},
		"an address":                          {"10.0.0.1:9000", client.ObjectKey{}},
		"an IPv6 address":                     {"[::1]:9000", client.ObjectKey{}},
		"a Service without a port":            {"minio.storage.svc", client.ObjectKey{}},
		"nothing":                             {"", client.ObjectKey{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := inCluster(tc.endpoint, "system")
			if ok != (tc.want != client.ObjectKey{}) || ok && got != tc.want {
				t.Errorf("inCluster(%q) = %v, %v, want %v", tc.endpoint, got, ok, tc.want)
			}
		})
	}
}

func pod(name string, phase corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "storage", Name: name, Labels: map[string]string{"app": "minio"}}}
	p.Spec.Containers = []corev1.Container{{Name: "minio", Ports: []corev1.ContainerPort{{Name: "api", ContainerPort: 9001}}}}
	p.Status.Phase = phase
	return p
}

func leaving(p *corev1.Pod) *corev1.Pod {
	now := metav1.Now()
	p.DeletionTimestamp, p.Finalizers = &now, []string{"loadstone.dev/test"}
	return p
}

func TestPodBehindAService(t *testing.T) {
	named, numbered, same := intstr.FromString("api"), intstr.FromInt32(9002), intstr.IntOrString{}
	tests := map[string]struct {
		target    intstr.IntOrString
		endpoint  string
		pods      []client.Object
		wantPort  int
		wantError string
	}{
		"a port by its name":        {target: named, endpoint: "minio.storage.svc:9000", pods: []client.Object{pod("ready", corev1.PodRunning)}, wantPort: 9001},
		"a port by its number":      {target: numbered, endpoint: "minio.storage.svc:9000", pods: []client.Object{pod("ready", corev1.PodRunning)}, wantPort: 9002},
		"the port of the Service":   {target: same, endpoint: "minio.storage.svc:9000", pods: []client.Object{pod("ready", corev1.PodRunning)}, wantPort: 9000},
		"one of several that works": {target: named, endpoint: "minio.storage.svc:9000", pods: []client.Object{pod("a", corev1.PodPending), leaving(pod("b", corev1.PodRunning)), pod("ready", corev1.PodRunning)}, wantPort: 9001},
		"no pod at all":             {target: named, endpoint: "minio.storage.svc:9000", wantError: "no running pod behind Service storage/minio, port 9000"},
		"a pod that has not begun":  {target: named, endpoint: "minio.storage.svc:9000", pods: []client.Object{pod("a", corev1.PodPending)}, wantError: "no running pod behind Service storage/minio, port 9000"},
		"a port that it has not":    {target: named, endpoint: "minio.storage.svc:80", pods: []client.Object{pod("ready", corev1.PodRunning)}, wantError: "no running pod behind Service storage/minio, port 80"},
	}
	stranger := pod("stranger", corev1.PodRunning)
	stranger.Labels = map[string]string{"app": "other"}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "storage", Name: "minio"}}
			service.Spec.Selector = map[string]string{"app": "minio"}
			service.Spec.Ports = []corev1.ServicePort{{Port: 9000, TargetPort: tc.target}}
			c := fake.NewClientBuilder().WithObjects(service, stranger.DeepCopy()).WithObjects(tc.pods...).Build()
			p, port, err := podBehind(t.Context(), c, client.ObjectKeyFromObject(service), tc.endpoint)
			if err != nil || tc.wantError != "" {
				if err == nil || err.Error() != tc.wantError {
					t.Errorf("error %v, want %q", err, tc.wantError)
				}
				return
			}
			if p.Name != "ready" || port != tc.wantPort {
				t.Errorf("port %d of pod %s, want port %d of the one that is ready", port, p.Name, tc.wantPort)
			}
		})
	}
	_, _, err := podBehind(t.Context(), fake.NewClientBuilder().Build(), client.ObjectKey{Namespace: "storage", Name: "minio"}, "minio.storage.svc:9000")
	if err == nil || err.Error() != `reading Service storage/minio of the object store: services "minio" not found` {
		t.Errorf("error %v of a Service that is not there", err)
	}
}

func TestATunnelThatEndsIsOpenedAgain(t *testing.T) {
	var opened []*way
	tunnel := &tunnel{open: func(ctx context.Context) (*way, error) {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		ended := make(chan struct{})
		opened = append(opened, &way{address: listener.Addr().String(), ended: ended, end: sync.OnceFunc(func() {
			_ = listener.Close()
			close(ended)
		})})
		return opened[len(opened)-1], nil
	}}
	dial := func(wantOpened int) {
		t.Helper()
		conn, err := tunnel.dial(t.Context(), "tcp", "the store")
		if err != nil {
			t.Fatal(err)
		}
		if conn.RemoteAddr().String() != opened[len(opened)-1].address || len(opened) != wantOpened {
			t.Errorf("connected to %s after %d openings, want %d", conn.RemoteAddr(), len(opened), wantOpened)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	dial(1)
	dial(1)
	opened[0].end()
	dial(2)
	// The listener is closed, and the end not yet known.
	opened[1].address = "127.0.0.1:1"
	dial(3)
	tunnel.close()
	<-opened[2].ended
}
