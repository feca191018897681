// Package vegeta makes vegeta 12 a tool.Tool, for imposed rates only. vegeta runs unmodified as its own process; its code is not imported.
//
// It leaves a gob record per request: number, start, latency, status, error, headers. Relevant behavior:
//
//   - Arrival n, from 0, is due n + 1 periods (whole nanoseconds) after the attack began. Requests are numbered in starting order, failed ones
//     included: number n is exactly arrival n.
//   - The attack's start is not reported. No request starts before it is due, so the earliest gives the latest possible start. Go's timers are
//     up to a millisecond late, on a grid that shifts against the arrivals: of a thousand requests 1% start within microseconds of the earliest.
//     Latencies from the intended starts may be 0.1 ms longer than they seem.
//   - An arrival without a free worker waits and starts late; its latency includes the wait. Arrivals not started when the time is over never
//     start. From 1,000 arrivals per second the time is extended by 5 ms, or a late timer would lose the last ones; requests in that margin have
//     no intended start.
//   - At the end it waits for requests in flight, up to their timeout.
//   - A latency begins before a connection is found or opened: each connection's first includes its opening.
//   - It sends the headers X-Vegeta-Seq (the number) and User-Agent; others go as written. It would ask for gzip unless told otherwise.
//   - Bodies are read whole, and compared up to 256 bytes if the cell gives them: more would be too much to keep. An answer whose length
//     contradicts its header has failed.
//   - It uses all CPUs of the machine whatever GOMAXPROCS says; -cpus limits it.
//   - It verifies certificates unless told otherwise, resumes no TLS session, and offers no protocol with -http2=false.
package vegeta
