// Package steps is what the steps of a run's workflow call: the endpoint that releases a trial and answers when it has ended, the token by
// which a step shows whose it is, and the key of the installation from which the tokens are derived.
package steps
