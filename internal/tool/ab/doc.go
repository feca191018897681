// Package ab makes ApacheBench 2.3 (of Apache 2.4) a tool.Tool.
//
// ab prints counters and, into a file, 101 percentiles in microseconds. What was learned from ab's behaviour and matters here:
//
//   - It speaks HTTP/1.0. With -k it asks for "Connection: Keep-Alive"; a server that keeps the connection and does not say so in
//     its answer is waited for until ab gives up.
//   - -s bounds the time in which no connection at all gets a byte: then ab ends without a result. The time of a single request
//     has no bound. A request that is unanswered while others are answered is counted nowhere.
//   - It keeps 32 bytes for each request and sorts them four times after the measured time, with as much memory again.
//   - It ends by itself after -n requests, and -t sets -n to 50,000 unless -n comes after it.
//   - Its time of a request begins with the opening of the connection. With -k that concerns the first request of each connection,
//     since the others begin where their predecessor ended.
//   - "Complete requests" are those that have ended, and the percentiles are of all of them: with -r a refused or broken connection
//     is one, and counts as "Receive", "Exceptions" and mostly as "Length" too. Against a server that has died ab -r completes
//     80,000 requests a second. They are taken out of the requests again; Brackets takes them out of the latencies.
//   - "Length" is also what a connection counts that the server closed, in good order, before its answer was whole. With -l, for
//     answers that may differ in length, ab counts neither: what was cut off passes for an answer.
//   - An answer with a status other than 2xx is "Non-2xx"; if its length is not that of the first, it is a "Length" too.
//   - It speaks TLS, and verifies nothing. It names no host where the address is an IP, offers no protocol, and begins each connection with a whole
//     handshake. The bytes that it counts are without those of TLS.
//   - It leaves Nagle's algorithm on: its first request on a connection of TLS 1.3 waits until the server's kernel has acknowledged its last message of
//     the handshake. A server that sends something by itself then, as OpenSSL does, acknowledges at once; others, as Go's, after 40 ms.
//
// The package is pure: it starts no process and opens no file.
package ab
