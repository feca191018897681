// Package rootfs lets a process begin in a root file system of its own: that of an unpacked image (package image), in a mount namespace that ends
// with the process, however it ends. Root needs nothing else; anybody else gets a user namespace besides, where the machine permits one.
//
// The root file system is only read, which it is not on a cluster, with a /tmp and a /dev of its own, and this machine's /proc and /sys, which are only read, too.
// A program has no capability but that to listen on any port. Everything else is this machine's: the network, the processes, the users.
package rootfs
