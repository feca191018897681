// Package wrk makes wrk 4.1 a tool.Tool.
//
// wrk prints a few percentiles only, so a Lua function dumps its whole histogram and its counters; one raw text file then
// holds everything. What was learned from wrk's behaviour and matters here:
//
//   - done runs in a Lua state of its own, not in those of the threads in which init runs.
//   - wrk looks for its end every 100 ms: it exits up to 0.1 s after its -d, and its duration says so.
//   - The histogram that done gets is already "corrected" for coordinated omission, by inserted samples. Undo takes them out.
//   - A response later than --timeout is counted as a request and as a timeout, and is not in the histogram. A request that
//     is never answered is counted nowhere. Hence the samples, without inserted ones, are the requests minus the timeouts.
//   - Only status codes above 399 count as status errors; those requests are requests like any other.
//   - latency(i) searches from the smallest bin on, so a dump through it takes quadratic time: 2.6 s for 3,600 bins of up to
//     1.5 s. The script reads the memory of wrk 4.1's histogram where it can tell that it is one, in about a millisecond.
//   - A script that does not load is only complained of: wrk measures without it, and exits with status 0. The script around the
//     user's ends wrk instead. An error that a script throws later, in whatever wrk calls, ends wrk with status 1 and "PANIC".
//   - wrk opens a connection for each request if it asks for "Connection: close"; a script that makes its own headers must do so
//     itself. Its latencies begin after the connection is open.
//   - It speaks TLS, and verifies nothing. It sends the host of its URL as the server's name, also an IP, and whatever the Host header says; it offers no
//     protocol, keeps connections, and resumes the session where it opens one anew. The bytes that it counts are without those of TLS.
//   - A script's request may be several requests. wrk then has one sample for all of them, and the observed latencies are unknown.
//
// The package is pure: it starts no process and opens no file. Other versions of wrk may work; nothing says so.
package wrk
