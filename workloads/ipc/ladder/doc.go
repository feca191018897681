// Package ladder holds the same conversations over each way to exchange messages between two processes of one machine, from shared memory to
// TCP.
//
// A rung provides a link, which moves bytes or packets. A Conn makes messages of either, so everything above is the same: messages of 1 byte
// to 64 KiB, an end distinct from a death, and deadlines. All data is compared byte by byte, and counted on both sides.
//
// It compares processes, not machines.
package ladder
