// Package kernel reads what the kernel reports on a machine, its processes, containers and network: /proc, /sys, cgroups of both versions,
// netlink, resource usage. It also makes requests that only the kernel can grant: CPU affinity, memory protection, file limits.
//
// It knows no trials, cells or servers, and reads no clock.
package kernel
