package profiler

// MemoryBytes is what a program needs under a tool, of what it needs without. Tools add what they are themselves, with the translated code, and
// something for each byte of the program: memcheck a shadow of its memory with the origins of values.
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
