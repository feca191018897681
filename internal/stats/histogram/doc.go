// Package histogram counts latencies, and alone knows how histograms of them are laid out and stored.
//
// The layout is that of an HdrHistogram of microseconds, from 1 µs to 1 hour with three digits: latencies below 2,048 µs have a bin each,
// and from there on each doubling of the latency has 1,024 bins. What is stored is HdrHistogram's V2 encoding, compressed, in base64.
//
// HdrHistogram's own Go package encodes, which happens once a cell. Decoding is done here, since a report merges tens of thousands of
// histograms: a Decoder keeps its buffers and ends at the last bin with samples, and so merges 128 histograms in a fifth of the time and a
// twentieth of the memory that the package takes (BenchmarkMerge). The tests hold every answer against that package.
//
// The package is pure: it reads no file and no clock.
package histogram
