// Package wrk makes wrk 4.1 a tool.Tool.
//
// wrk prints few percentiles, so a Lua function dumps its whole histogram and counters into one raw text file. Relevant behavior:
//
//   - done runs in its own Lua state, not in the threads' states where init runs.
//   - wrk checks for its end every 100 ms: it exits up to 0.1 s after -d, and its duration says so.
//   - done gets a histogram already "corrected" for coordinated omission with inserted samples. Undo removes them.
//   - A response later than --timeout counts as request and timeout, and is not in the histogram. A request never answered is not counted. So
//     samples without inserted ones equal requests minus timeouts.
//   - Only status codes above 399 are status errors; those requests count as requests.
//   - latency(i) searches from the smallest bin, so a dump through it takes quadratic time: 2.6 s for 3,600 bins of up to 1.5 s. The script
//     reads wrk 4.1's histogram from memory if it recognizes it, in about a millisecond.
//   - If a script does not load, wrk only complains, measures without it and exits with 0. The script around the user's ends wrk instead. A
//     later error in a script ends wrk with status 1 and "PANIC".
//   - wrk opens a connection per request if it sends "Connection: close"; a script with its own headers must add it. Latencies begin after the
//     connection is open.
//   - It uses TLS without verification. It sends the URL's host as server name, even an IP, whatever the Host header says. It offers no
//     protocol, keeps connections, and resumes the session on reconnect. Its byte counts exclude TLS.
//   - A script's request may be several requests. wrk then has one sample for all, and observed latencies are unknown.
//
// Other versions of wrk may work but are untested.
package wrk
