// Package protocol is how the operator speaks to its agents: small JSON over HTTP inside the cluster.
//
//	GET  /v1/state                         -> State   anybody may read it; it holds nothing secret
//	POST /v1/command   Envelope{Command}   -> State   only what the operator has signed is done
//
// The operator holds an Ed25519 key; pods are given its public half only, so that a measured pod holds no credential and
// nobody but the operator can make an agent send a request. Every command is idempotent: sent again, it is answered with the
// state. An agent that has its Start needs nobody until its last cell has ended.
//
// The package defines types and pure functions; it opens no connection.
package protocol
