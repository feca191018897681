// Package kernel reads what the kernel tells of a machine, its processes, their containers and their network: /proc, /sys, cgroups of both
// versions, netlink, resource usage. It also makes the few requests that only the kernel can grant: on which CPUs a process runs, who may
// read its memory, how many files it may open.
//
// Nothing in it decides what a number means or when it is read. It knows no trial, cell or server, and looks at no clock.
package kernel
