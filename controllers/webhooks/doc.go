// Package webhooks takes requests to the webhooks of suites. It finds out who has signed them, and writes down on the suite what they ask for; the
// operator answers with a round. It runs in a process and under an account of its own, which reads the keys of suites, as the operator may not.
// What a request has to be stands in package webhook.
package webhooks
