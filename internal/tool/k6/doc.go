// Package k6 makes k6 1.8 a tool.Tool. k6 runs unmodified as its own process; its code is not imported.
//
// Each cell has a wrapper script, which makes the requests or calls the user's script, and finally prints all of k6's counters as one line of
// JSON. Relevant behavior:
//
//   - The quantile q of a trend interpolates linearly between the samples of ranks ⌊q(n-1)⌋ and ⌈q(n-1)⌉, from 0. A thousand of them, dense
//     towards 1, bracket each sample between two values.
//   - http_req_duration begins when the request is written, so Observed latencies exclude connecting. http_req_blocked includes dialing:
//     latencies WithConnection are the consecutive http_req_connecting, http_req_tls_handshaking and http_req_duration.
//   - data_received counts socket bytes: with TLS also its records and handshakes.
//   - It verifies certificates unless options forbid it, and offers HTTP/2 unless GODEBUG=http2client=0 is in its own environment. The agent
//     sets that for every load that does not ask for HTTP/2.
//   - Each virtual user has its own client, and so its own connection, in HTTP/2 too: the wrapper makes one request at a time. A script's
//     parallel requests (http.batch) share that connection, unlike in HTTP/1.1. Only if they come first, each opens a connection, and one is kept.
//   - It can tag each answered request with the answer's version (proto).
//   - A counter by tag exists only if a threshold names it, so the wrapper has empty thresholds.
//   - exec.instance has nanoseconds, Date milliseconds. exec.scenario.progress gives the scenario's start until its time is over. Each virtual
//     user compares the clocks once, and the largest uncertainty widens every latency from the intended start. A user whose first iteration begins
//     after that time has only milliseconds: an uncertainty of 2 ms.
//   - At a constant rate, arrival n (from 0) is due at n periods, in whole nanoseconds. On a ramp it is due when the integral of the rate is n +
//     1, from an instant slightly after the scenario's start but before the earliest iteration. The iteration that begins as number n is taken for
//     arrival n.
//   - Dropped arrivals have no number: with d of them, iteration n is one of the arrivals n to n + d. Up to 1% widen the latencies from the
//     intended start downwards; with more there are none, and Unknown says so.
//   - A scenario ends at its deadline: DurationMicros is its duration. In the closed model requests in flight are cut off and not counted, as by
//     wrk. At an arrival rate they get another 0.5 s, since slow requests matter; what is cut off then counts as a latency between that and an
//     hour.
//   - An extra arrival may begin at the very end. It is a request without intended start.
//   - Connections are initialized virtual users. Threads are the cell's: k6 reads GOMAXPROCS or its container's CPU limit without reporting it.
//   - Initializing costs about 0.7 ms of CPU time per virtual user.
//
// A user's script exports a default function, and optionally setup and teardown. Its options and handleSummary are ignored. A status of 400 or
// above is an error unless the script sets a response callback; a failed check is a wrong body; an exception spoils the cell. At an arrival rate
// an arrival is an iteration; latencies from the intended start require one request per iteration.
package k6
