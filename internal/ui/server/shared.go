package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/serve"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/ui"
)

const (
	service = "loadstone-ui"
	// mostOfFile bounds stored files on shared pages, in bytes, since anyone may request them.
	mostOfFile = 32 << 20
	// queries is the rate limit in requests per second to the API server, after burst.
	queries = 20
	burst   = 50
)

// Shared serves the pages without login, with a service account's rights.
type Shared struct {
	// Config has the service account's token, which also authorizes stored files at the operator.
	Config *rest.Config
	// System is the installation's namespace. Led are the namespaces whose runs it leads; none means all.
	System string
	Led    namespaces.Led
	// Hosts are allowed host names, in addition to addresses and the Service's names.
	Hosts []string
	// Addr serves the pages, Probes the health checks, as host:port.
	Addr, Probes string
}

// Start serves until a context ends.
func (s Shared) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages, err := s.Handler(ctx)
	if err != nil {
		return err
	}
	alive := http.NewServeMux()
	alive.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	ended := make(chan error, 2)
	go func() { ended <- listen(ctx, s.Addr, "the pages", serverOf(ctx, pages)) }()
	go func() { ended <- listen(ctx, s.Probes, "probes", serverOf(ctx, alive)) }()
	err = <-ended
	cancel()
	return errors.Join(err, <-ended)
}

func listen(ctx context.Context, address, what string, h *http.Server) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for %s: %w", what, err)
	}
	return serve.Until(ctx, h, what, func() error { return h.Serve(l) })
}

// Handler serves the pages and follows the cluster until ctx ends. An unavailable API server is not an error: pages report it.
func (s Shared) Handler(ctx context.Context) (http.Handler, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	bounded := rest.CopyConfig(s.Config)
	bounded.QPS, bounded.Burst = queries, burst
	c, err := client.NewWithWatch(bounded, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	operator, err := download.NewClient(s.Config, s.System)
	if err != nil {
		return nil, err
	}
	pages := newSite(ctx, ui.Frame{Cluster: "in namespace " + s.System, Shared: true, Led: s.Led}, c, handed{operator.Within(mostOfFile)})
	go pages.runs.follow(ctx)
	go pages.suites.follow(ctx)
	return answering(s.isOurs, "these pages do not answer to this name: name it in the chart value ui.hosts", pages.routes()), nil
}

// isOurs reports whether a request uses an allowed host name. Otherwise another site's name could point here and let that site read pages in a
// visitor's browser. IP addresses and localhost are safe. Any port is allowed, for port forwarding.
func (s Shared) isOurs(host string) bool {
	name := host
	if without, _, err := net.SplitHostPort(host); err == nil {
		name = without
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return true
	}
	inside := service + "." + s.System
	return slices.Contains([]string{"localhost", inside, inside + ".svc", inside + ".svc.cluster.local"}, name) || slices.Contains(s.Hosts, name)
}

func explainShared(err error) error {
	var address *url.Error
	var network net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &address):
		return fmt.Errorf("the API server does not answer, and is asked again (%w)", address.Err)
	case errors.As(err, &network):
		return fmt.Errorf("the API server does not answer, and is asked again (%w)", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the API server does not know the account of these pages: restart the Deployment %s (%w)", service, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the account of these pages lacks a right, which helm upgrade gives it; a namespace that is gone is taken out of runs.namespaces: %w", err)
	}
	return err
}
