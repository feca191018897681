// Package generate runs a generator's cells. It checks the loads and the server, starts the tools on time, alternates two of them in a duet,
// reads the machine's counters, and parses the outputs after the last cell.
package generate
