// Package h2load makes h2load of nghttp2 1.52 a tool.Tool, for HTTP/1.1 and for HTTP/2 with several streams per connection.
//
// What was learned from its behaviour and matters here:
//
//   - Its log has a row for each request that ended in the measured time: start, status (-1 if the stream failed), and microseconds until the end of the
//     answer. Rows are as many as the requests that it calls done. The latencies are exact.
//   - A request whose connection broke is in no row and among no errors. Neither is a connection that was refused: the observer of the server's sockets
//     sees that it is missing.
//   - It has no timeout of its own. With an inactivity timeout (-N) it aborted, or never ended, when a server hung or closed connections: it is given none.
//   - With --npn-list=h2 it offers HTTP/2 alone, so that each of its answers over TLS is in it.
//   - Bytes are those of HTTP without TLS. Those of HTTP/2 have frames and compressed heads.
//   - Its --rate is of connections, and --rps of each connection, in bursts: it sustains no timetable of requests.
//   - It refuses fewer connections than threads.
//
// The package is pure: it starts no process and opens no file.
package h2load
