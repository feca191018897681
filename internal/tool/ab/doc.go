// Package ab makes ApacheBench 2.3 (of Apache 2.4) a tool.Tool.
//
// ab prints counters and, into a file, 101 percentiles in microseconds. Relevant behavior:
//
//   - It uses HTTP/1.0. With -k it sends "Connection: Keep-Alive". If a server keeps the connection without saying so, ab waits for the end
//     until it gives up.
//   - -s bounds the time without a byte on any connection: then ab ends without a result. Single requests have no timeout. A request that is
//     unanswered while others are answered is not counted.
//   - It keeps 32 bytes per request, and sorts them four times after the measured time, using as much memory again.
//   - It ends after -n requests, and -t sets -n to 50,000 unless -n follows.
//   - A request's time starts when its connection opens. With -k this affects only each connection's first request; later ones start where their
//     predecessor ended.
//   - "Complete requests" and percentiles include every ended request. With -r a refused or broken connection counts as one, also in "Receive",
//     "Exceptions" and mostly "Length". Against a dead server ab -r completes 80,000 requests per second. They are subtracted here; Brackets
//     removes them from latencies.
//   - "Length" also counts connections that the server closed cleanly before the answer was complete. With -l, for answers of varying length, ab
//     does not notice these: a truncated answer counts as good.
//   - A status other than 2xx is "Non-2xx", and also "Length" if its length differs from the first.
//   - It uses TLS without verification, names no host if the address is an IP, offers no protocol, and starts each connection with a full
//     handshake. Its byte counts exclude TLS.
//   - It leaves Nagle's algorithm on: the first request of a TLS 1.3 connection waits until the server's kernel acknowledges the handshake's
//     last message. Servers that send something then (OpenSSL) acknowledge at once; others (Go) after 40 ms.
package ab
