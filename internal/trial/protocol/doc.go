// Package protocol is how the operator speaks to its agents: small JSON over HTTP inside the cluster.
//
//	GET  /v1/state                         -> State   readable by everyone; it holds no secrets
//	POST /v1/command   Envelope{Command}   -> State   only commands signed by the operator are executed
//
// The operator holds an Ed25519 key; pods get only its public half. So measured pods hold no credentials, and only
// the operator can make an agent send requests. Commands are idempotent: a repeated one is answered with the state. A
// started agent needs no contact until its last cell has ended.
//
// The package has types and pure functions; it opens no connection.
package protocol
