// Package firewall translates NetworkPolicies to nftables rules. So tests can enforce policies on a cluster without a suitable network plugin and
// with one network namespace for all nodes, such as hack/cluster. It understands the policies of Loadstone and refuses others. It does not load the
// rules.
package firewall
