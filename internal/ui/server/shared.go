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
	// service is what the chart calls the Service of shared pages.
	service = "loadstone-ui"
	// mostOfFile is how large a stored file may be that shared pages read, in bytes: anybody may ask for it.
	mostOfFile = 32 << 20
	// queries is how many requests a second are sent to the API server after burst of them at once, whoever looks at what.
	queries = 20
	burst   = 50
)

// Shared serves the pages to whoever reaches them, by the rights of an account of their own: there is no login.
type Shared struct {
	// Config leads to the API server with the token of the account, which is shown to the operator for stored files, too.
	Config *rest.Config
	// System is the namespace of the installation, and Led are the namespaces whose runs it leads; none are all.
	System string
	Led    namespaces.Led
	// Hosts are names by which browsers call the pages, besides addresses and the names of their Service.
	Hosts []string
	// Addr is where the pages are served, and Probes where whoever asks learns that they are, as host:port.
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

// listen serves at an address until a context ends.
func listen(ctx context.Context, address, what string, h *http.Server) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for %s: %w", what, err)
	}
	return serve.Until(ctx, h, what, func() error { return h.Serve(l) })
}

// Handler answers to who reads, and follows the cluster until a context ends. An API server that is away is no error: the pages say so.
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

// isOurs reports whether a request calls the pages by a name of theirs. Another site's name could lead here, and would let that site read them in the
// browser of somebody who reaches them; an address, and localhost, are nobody's. A port that is forwarded can have any number.
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

// explainShared says what an error of the API server means of shared pages, and the way out.
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
