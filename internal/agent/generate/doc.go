// Package generate makes a generator's cells: it checks the loads and the server, starts the tools on time, lets two of them take turns in a
// duet, reads the counters of the machine before and after, and parses the outputs when the last cell has ended.
//
// What tools there are, how they are called and what their output means is package tool's; which rate a search tries next is the Searcher's.
package generate
