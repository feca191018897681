// Package ladder holds the same conversations over each way that two processes of one machine have to exchange messages: from memory that
// they share to TCP.
//
// A rung gives a link, which moves bytes or packets. A Conn makes messages of either, so that everything above it is the same on every
// rung: messages of 1 byte to 64 KiB, an end that is told from a death, and deadlines. All that arrives is compared, byte by byte, and
// counted on both sides.
//
// It measures one process against another, and no two machines.
package ladder
