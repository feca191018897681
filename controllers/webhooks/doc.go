// Package webhooks receives requests to the webhooks of suites. It authenticates them and records them on the suite, for the operator to answer with
// a round. It runs as a separate process and account, because it reads suites' keys, which the operator must not.
package webhooks
