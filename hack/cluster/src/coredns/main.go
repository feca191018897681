// Command coredns is CoreDNS with the plugins for a cluster's own names. Without the forward plugin, it asks nothing for other names.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

// Plugins see a query in this order.
func init() {
	dnsserver.Directives = []string{"health", "ready", "errors", "cache", "kubernetes"}
}

func main() { coremain.Run() }
