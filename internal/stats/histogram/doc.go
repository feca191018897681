// Package histogram counts latencies, and owns the layout and encoding of their histograms. It is pure.
//
// The layout is HdrHistogram's for 1 µs to 1 hour with three digits: one bin per microsecond below 2,048 µs, then
// 1,024 bins per doubling. Histograms are stored in HdrHistogram's compressed V2 encoding, in base64.
//
// HdrHistogram's Go package encodes, once per cell. Decoding is done here, since a report merges tens of thousands of
// histograms. A Decoder reuses buffers and ends at the last bin with samples: it merges 128 histograms in a fifth of
// the time and a twentieth of the memory (BenchmarkMerge).
package histogram
