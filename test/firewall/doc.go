// Package firewall writes NetworkPolicies as rules of nftables. With them a test sees policies enforced on a cluster whose network plugin enforces
// none and whose nodes share one network namespace, as those of hack/cluster do. It understands what the policies of Loadstone are made of, and
// refuses everything else. It loads nothing.
package firewall
