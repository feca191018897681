// Package outbound is the operator's only way to addresses that users name: image registries, notification receivers and forges. It checks
// each address when it connects, after DNS lookup. It does not limit bodies: callers do. The object store, the API server and the agents of
// trials do not use it, because users do not choose their addresses.
package outbound
