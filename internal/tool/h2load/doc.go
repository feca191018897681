// Package h2load makes h2load of nghttp2 1.52 a tool.Tool, for HTTP/1.1, and for HTTP/2 with several streams per connection.
//
// Relevant behavior:
//
//   - Its log has a row per request that ended in the measured time: start, status (-1 if the stream failed), and microseconds until the end of
//     the answer. It has as many rows as requests "done". Latencies are exact.
//   - A request on a broken connection is in no row and no error. The same holds for a refused connection; the observer of the server's sockets
//     notices that it is missing.
//   - It has no timeout. With an inactivity timeout (-N) it aborted or never ended when a server hung or closed connections, so it gets none.
//   - With --npn-list=h2 it offers only HTTP/2, so all its answers over TLS are HTTP/2.
//   - Byte counts exclude TLS. For HTTP/2 they include frames and compressed heads.
//   - --rate is for connections, and --rps per connection, in bursts: it keeps no timetable of requests.
//   - It refuses fewer connections than threads.
package h2load
