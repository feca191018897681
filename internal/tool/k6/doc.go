// Package k6 makes k6 1.8 a tool.Tool. k6 runs unmodified, as a process of its own; nothing of it is imported here.
//
// Each cell has a wrapper script, which makes the requests or calls the user's script, and which prints all that k6 counted as one line of
// JSON when k6 has ended. What was learned from k6's behaviour and matters here:
//
//   - The quantile q of a trend is the linear interpolation between the samples of the ranks ⌊q(n-1)⌋ and ⌈q(n-1)⌉, from 0. A thousand of
//     them, dense towards 1, say of each sample between which two values it lies: latencies are brackets.
//   - http_req_duration begins when the request is written, so Observed latencies hold no opening of a connection. http_req_blocked contains
//     the dialling: latencies WithConnection are http_req_connecting, http_req_tls_handshaking and http_req_duration, which follow each other
//     without a gap.
//   - data_received counts what comes from the socket: with TLS also its records and handshakes.
//   - It verifies certificates unless its options say otherwise, and offers HTTP/2 in a handshake unless GODEBUG=http2client=0 is in its own environment,
//     which the agent puts there for every load that does not ask for HTTP/2.
//   - Each virtual user has a client of its own, and so a connection of its own, in HTTP/2 too: the wrapper has it make one request at a time. A script that makes
//     several at once (http.batch) sends them over that connection, and not over several as in HTTP/1.1. Only where they are the first, each opens one, of
//     which one is kept.
//   - It tags each request that was answered with the version of the answer (proto), if it is told to.
//   - A counter by tag exists only where a threshold names it: the wrapper names thresholds that are empty.
//   - exec.instance tells the time in nanoseconds, Date in milliseconds. exec.scenario.progress tells when the scenario began, until its
//     time is over; each virtual user compares the two clocks once, and the largest doubt widens every latency from the intended start.
//     A virtual user whose first iteration begins after that has whole milliseconds only: then the doubt is 2 ms.
//   - At a constant rate arrival n, from 0, is due at n times the period in whole nanoseconds; on a ramp when the integral of the rate is
//     n + 1, from an instant slightly after the scenario's start, which is known to lie before the promptest iteration. The iteration that
//     begins as number n is taken for arrival n.
//   - Dropped arrivals have no number: with d of them, iteration n is one of the arrivals n to n + d. Up to one in a hundred widens the
//     latencies from the intended start downwards; of more there are none, and Unknown says so.
//   - A scenario ends at its deadline, whatever runs: DurationMicros is the scenario's duration. In the closed model what is under way then is
//     cut off and counted nowhere, as by wrk. At an arrival rate it has another 0.5 s, since what is under way is what is slow; what is cut
//     off even then counts as a latency between that and an hour.
//   - One arrival more than wanted may begin at the very end, where timer and deadline meet. It is a request; it has no intended start.
//   - Connections are the virtual users that k6 has initialised. The number of threads is what the cell says: k6 reads the environment variable
//     GOMAXPROCS or the CPU limit of its container, and tells nobody.
//   - Initialising takes about 0.7 ms of CPU time for each virtual user.
//
// A user's script exports a default function, and setup and teardown if it likes. It finds the server as host:port in
// __ENV.LOADSTONE_TARGET, and no other variable of the environment but LOADSTONE_PURPOSE, and LOADSTONE_SCHEME (https) if the server speaks TLS. Its options and its handleSummary are ignored,
// since the cell says what runs. A request that is answered with a status of 400 or above is an error, unless the script sets a response
// callback of its own; a check that fails is a wrong body; anything that it throws spoils the cell. At an arrival rate an arrival is
// an iteration, and latencies from the intended start are given if each iteration made one request.
//
// The package is pure: it starts no process and opens no file.
package k6
