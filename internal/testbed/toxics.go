package testbed

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Toxic is a Toxiproxy fault of connections through a Proxy.
type Toxic struct {
	// Type is latency, bandwidth, slow_close, timeout, reset_peer, slicer or limit_data.
	Type string `json:"type"`
	// Stream is upstream (to the server) or downstream (answers).
	Stream     string         `json:"stream"`
	Attributes map[string]int `json:"attributes"`
}

// Proxy is a fault-injecting proxy: Toxiproxy in this process.
type Proxy struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
	Addr  string
}

// NewProxy starts a proxy for a server, until the test ends.
func NewProxy(t *testing.T, server string) *Proxy {
	t.Helper()
	addr, err := FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()), t.Name(), addr, server)
	if err := p.Start(); err != nil {
		t.Fatalf("starting a proxy before %s: %v", server, err)
	}
	t.Cleanup(p.Stop)
	return &Proxy{t: t, proxy: p, Addr: addr}
}

// Poison adds a fault, also to open connections.
func (p *Proxy) Poison(toxic Toxic) {
	p.t.Helper()
	body, err := json.Marshal(toxic)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.proxy.Toxics.AddToxicJson(strings.NewReader(string(body))); err != nil {
		p.t.Fatalf("adding the toxic %+v: %v", toxic, err)
	}
}

// Down ends all connections and refuses new ones.
func (p *Proxy) Down() { p.proxy.Stop() }

// Heal makes everything well.
func (p *Proxy) Heal() {
	p.t.Helper()
	p.proxy.Toxics.ResetToxics(p.t.Context())
	if p.proxy.Enabled {
		return
	}
	if err := p.proxy.Start(); err != nil {
		p.t.Fatalf("starting the proxy at %s again: %v", p.Addr, err)
	}
}
