// Package socket sends messages, open descriptors and credentials between two ends of a Unix socket pair.
//
// There are two kinds of end with the same methods. A Socket makes its system calls itself, on a blocking descriptor that Go's
// runtime knows nothing about. A Polled one goes through the net package and the runtime's poller, as most programs do. The first
// costs less per message, and a thread for each call that waits.
//
// Both can be used by several goroutines at once: senders take turns, and receivers do. Neither has deadlines.
package socket
