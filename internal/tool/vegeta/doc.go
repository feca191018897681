// Package vegeta makes vegeta 12 a tool.Tool, for imposed rates only. vegeta runs unmodified, as a process of its own; nothing of it is imported here.
//
// It leaves a record of each request, in Go's gob: number, start, latency, status, error, headers. What was learned from vegeta's behaviour and matters here:
//
//   - Arrival n, from 0, is due n + 1 times the period in whole nanoseconds after the attack began. Requests are numbered in the order in which they start,
//     those that fail with the others: number n is arrival n, exactly.
//   - Nothing tells when the attack began. No request starts before it is due, so the promptest of all gives the latest instant at which that can have been.
//     Go's timers are late by anything from nothing to a millisecond, on a grid that moves against the arrivals': of a thousand requests one in a hundred
//     starts within some microseconds of the promptest. Latencies from the intended starts may be longer than they seem by 0.1 ms.
//   - An arrival for which no worker is free waits for one, and starts late; its latency holds the wait. What has not started when the time is over never
//     does. From 1,000 arrivals a second on the time is asked for 5 ms longer, since a timer that is late at its end would lose the last of them; what starts
//     in these has no intended start.
//   - What is under way at the end is waited for, for as long as its timeout.
//   - A latency begins before a connection is found, or opened: the first on each connection holds its opening.
//   - It sends a header X-Vegeta-Seq with the number of each request, and User-Agent. Other headers go as they are written. It would ask for gzip by
//     itself: it is told not to.
//   - Bodies are read whole and compared where the cell says what they are, up to 256 bytes: more would be too much to keep. An answer whose length is not what
//     its header says has failed.
//   - It takes as many CPUs as the machine has, whatever GOMAXPROCS says: -cpus tells it.
//   - It verifies certificates unless it is told not to, resumes no session of TLS, and offers no protocol with -http2=false.
//
// The package is pure: it starts no process and opens no file.
package vegeta
