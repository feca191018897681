// Package socket sends messages, open descriptors and credentials between two ends of a Unix socket pair.
//
// A Socket makes blocking system calls itself, unknown to Go's runtime. A Polled one uses the net package and the runtime's poller, as most
// programs do. The first costs less per message, but a thread per waiting call.
//
// Both are safe for concurrent use: senders take turns, as do receivers. Neither has deadlines.
package socket
