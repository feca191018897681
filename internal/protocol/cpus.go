package protocol

import "loadstone.dev/loadstone/internal/cpuset"

// ParseCPUs is cpuset.Parse, by the name under which package stats calls it.
func ParseCPUs(list string) []int { return cpuset.Parse(list) }
