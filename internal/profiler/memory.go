package profiler

// MemoryBytes returns the memory of a program under a tool, from its own need. Tools add their own size, translated code, and an overhead per
// byte: memcheck shadows memory with values' origins.
func MemoryBytes(tool Tool, own int64) int64 {
	const mebibyte = 1 << 20
	switch tool {
	case Memcheck:
		return own*3 + 256*mebibyte
	case Massif, MassifHeap, MassifPages:
		return own*2 + 96*mebibyte
	case Callgrind, Cachegrind:
		return own*2 + 192*mebibyte
	case Strace, PerfStat:
		return own + 32*mebibyte
	}
	return own
}
