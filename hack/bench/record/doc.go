// Program record measures pairs of equal servers on this machine, without a cluster: blocks of two fresh processes of gohttp, on
// CPU 1, under wrk, on CPU 0. From what it writes, hack/bench/verdicts draws runs whose truth is known.
//
//	make bench-record
//
// In a block both servers are first measured one after the other, as in a run, each through all levels; then both live and are
// loaded in turns: each has a wrk of its own, of which one is always stopped, in slices of 100 ms in random order. Each side gets as
// much time under load either way. After the blocks come sliced pairs of which one server runs a planted loop per request.
//
// What an iteration of that loop costs is measured before and after each of them by a server of its own, until it is known to a hundredth.
//
// The machine must be quiet. A block in which Loadstone would void a cell for what others used or the hypervisor took is measured anew, and
// if that happens too often the program gives up. It ends by itself, and the file is written after each block.
package main
