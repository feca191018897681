package stats

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sort"
)

// The geometry of every histogram, as in record.Latency: microseconds, 1 µs to 1 hour, 3 digits. Values below 2,048 µs have a bin
// each; from there on each doubling of the value has 1,024 bins.
const (
	highestMicros = 3_600_000_000
	digits        = 3
	halfMagnitude = 10
	half          = 1 << halfMagnitude
	// maxBins is 2,048 and 1,024 for each of the 21 doublings up to more than an hour.
	maxBins = 23 * half
)

// histogram counts samples by bin. It reads HdrHistogram's V2 compressed encoding and is as long as its last bin with samples: a run
// has tens of thousands of them, most of which end far below an hour.
type histogram struct {
	counts []int64
	total  int64
}

// bin is the smallest value of a bin, and the number of values in it, in microseconds.
func bin(index int) (low, size int64) {
	doubling := max(index>>halfMagnitude-1, 0)
	return int64(index-doubling*half) << doubling, 1 << doubling
}

// binSize is the number of values in the bin that holds a value.
func binSize(value int64) int64 { return 1 << max(bits.Len64(uint64(value))-halfMagnitude-1, 0) }

// add adds another histogram, bin by bin.
func (h *histogram) add(o *histogram) {
	if more := len(o.counts) - len(h.counts); more > 0 {
		h.counts = append(h.counts, make([]int64, more)...)
	}
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.total += o.total
}

// mean takes each sample at the middle of its bin, in microseconds; 0 without samples.
func (h *histogram) mean() float64 {
	if h.total == 0 {
		return 0
	}
	var sum float64
	for i, n := range h.counts {
		if n > 0 {
			low, size := bin(i)
			sum += float64(n) * float64(low+size/2)
		}
	}
	return sum / float64(h.total)
}

// largest is the upper end of the last bin with samples, in microseconds; 0 without samples.
func (h *histogram) largest() int64 {
	for i := len(h.counts) - 1; i >= 0; i-- {
		if h.counts[i] > 0 {
			low, size := bin(i)
			return low + size - 1
		}
	}
	return 0
}

// ranks are the histogram's running sums, in which the bin of a rank is found by halves.
func (h *histogram) ranks() []int64 {
	sums := make([]int64, len(h.counts))
	var sum int64
	for i, n := range h.counts {
		sum += n
		sums[i] = sum
	}
	return sums
}

// binOf is the bin that holds a rank, which begins at 1 and is at most the number of samples.
func binOf(ranks []int64, rank int64) int {
	return sort.Search(len(ranks), func(i int) bool { return ranks[i] >= rank })
}

// decoder reads encoded histograms, one after the other, with the same buffers.
type decoder struct {
	text, packed []byte
	payload      bytes.Buffer
	inflater     io.ReadCloser
	h            histogram
}

const (
	// The cookies of HdrHistogram's V2 encoding; the bits of wordSize say how counts are stored and are the same for all.
	compressedCookie, plainCookie, wordSize = 0x1c849304, 0x1c849303, 0xf0
	plainHeader                             = 40
	// maxVarint is the length of the longest count, in bytes.
	maxVarint = 9
)

// decode reads a histogram of record.Latency. It is valid until the next call.
func (d *decoder) decode(encoded string) (*histogram, error) {
	d.text = append(d.text[:0], encoded...)
	var err error
	if d.packed, err = base64.StdEncoding.AppendDecode(d.packed[:0], d.text); err != nil {
		return nil, fmt.Errorf("decoding base64: %w", err)
	}
	if len(d.packed) < 8 || binary.BigEndian.Uint32(d.packed)&^wordSize != compressedCookie {
		return nil, errors.New("it does not begin as a compressed histogram")
	}
	length := binary.BigEndian.Uint32(d.packed[4:])
	if int64(length) > int64(len(d.packed)-8) {
		return nil, fmt.Errorf("it says %d bytes and has %d", length, len(d.packed)-8)
	}
	if err := d.inflate(d.packed[8 : 8+length]); err != nil {
		return nil, err
	}
	counts, err := checkHeader(d.payload.Bytes())
	if err != nil {
		return nil, err
	}
	return &d.h, d.h.read(counts)
}

// inflate unpacks at most what a histogram can hold.
func (d *decoder) inflate(packed []byte) error {
	var err error
	if r, ok := d.inflater.(zlib.Resetter); ok {
		err = r.Reset(bytes.NewReader(packed), nil)
	} else {
		d.inflater, err = zlib.NewReader(bytes.NewReader(packed))
	}
	if err != nil {
		return fmt.Errorf("inflating: %w", err)
	}
	d.payload.Reset()
	if _, err := d.payload.ReadFrom(io.LimitReader(d.inflater, plainHeader+maxBins*maxVarint+1)); err != nil {
		return fmt.Errorf("inflating: %w", err)
	}
	return nil
}

// checkHeader refuses another geometry, lest its samples land in the wrong bins, and returns the counts.
func checkHeader(plain []byte) ([]byte, error) {
	if len(plain) < plainHeader || binary.BigEndian.Uint32(plain)&^wordSize != plainCookie {
		return nil, errors.New("its contents do not begin as a histogram")
	}
	counts := plain[plainHeader:]
	if length := binary.BigEndian.Uint32(plain[4:]); int64(length) != int64(len(counts)) {
		return nil, fmt.Errorf("it says %d bytes of counts and has %d", length, len(counts))
	}
	significant, low, high := binary.BigEndian.Uint32(plain[12:]), binary.BigEndian.Uint64(plain[16:]), binary.BigEndian.Uint64(plain[24:])
	if significant != digits || low != 1 || high != highestMicros {
		return nil, fmt.Errorf("it reaches from %d to %d µs with %d digits, and not from 1 to %d with %d", low, high, significant, highestMicros, digits)
	}
	return counts, nil
}

// read replaces the histogram's counts: numbers of samples, or negative numbers of empty bins.
func (h *histogram) read(encoded []byte) error {
	h.counts, h.total = h.counts[:0], 0
	for len(encoded) > 0 {
		n, length := varint(encoded)
		if length == 0 {
			return errors.New("its last count is cut off")
		}
		encoded = encoded[length:]
		empty := int64(0)
		if n < 0 {
			empty = -n
		}
		if room := int64(maxBins - len(h.counts)); empty < 0 || empty > room || (n >= 0 && room == 0) {
			return fmt.Errorf("it has more than %d bins", maxBins)
		}
		if n < 0 {
			for range empty {
				h.counts = append(h.counts, 0)
			}
			continue
		}
		if n > math.MaxInt64-h.total {
			return errors.New("its counts are too large")
		}
		h.counts = append(h.counts, n)
		h.total += n
	}
	return nil
}

// varint reads a signed number of seven bits a byte, the least significant first; a ninth byte has all eight. The length is 0 if the
// number is cut off.
func varint(b []byte) (n int64, length int) {
	var u uint64
	for i, c := range b {
		if i == maxVarint-1 {
			u |= uint64(c) << 56
			return unzigzag(u), maxVarint
		}
		u |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return unzigzag(u), i + 1
		}
	}
	return 0, 0
}

// unzigzag undoes the encoding in which the lowest bit is the sign.
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
