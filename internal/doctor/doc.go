// Package doctor says what a machine, or a cluster, lacks for a truthful run, and the way out of each. It judges what was read of it, and reads
// nothing itself.
package doctor
