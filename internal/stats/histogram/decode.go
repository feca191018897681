package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	// The cookies of HdrHistogram's V2 encoding; the bits of wordSize say how counts are stored and are always the
	// same.
	compressedCookie, plainCookie, wordSize = 0x1c849304, 0x1c849303, 0xf0
	compressedHeader, plainHeader           = 8, 40
	maxVarint                               = 9
)

// Decoder decodes histograms with reused buffers. Its zero value is ready for use.
type Decoder struct {
	text, packed []byte
	source       bytes.Reader
	inflater     io.ReadCloser
	payload      bytes.Buffer
	h            Histogram
}

// Decode decodes one histogram; the caller owns it.
func Decode(encoded string) (*Histogram, error) { return new(Decoder).Decode(encoded) }

// Decode decodes a histogram, which is valid until the next call.
func (d *Decoder) Decode(encoded string) (*Histogram, error) {
	packed, err := d.unwrap(encoded)
	if err != nil {
		return nil, err
	}
	if err := d.inflate(packed); err != nil {
		return nil, fmt.Errorf("inflating: %w", err)
	}
	counts, err := checkHeader(d.payload.Bytes())
	if err != nil {
		return nil, err
	}
	if err := d.h.read(counts); err != nil {
		return nil, err
	}
	return &d.h, nil
}

func (d *Decoder) unwrap(encoded string) (packed []byte, err error) {
	d.text = append(d.text[:0], encoded...)
	if d.packed, err = base64.StdEncoding.AppendDecode(d.packed[:0], d.text); err != nil {
		return nil, fmt.Errorf("decoding base64: %w", err)
	}
	if len(d.packed) < compressedHeader || binary.BigEndian.Uint32(d.packed)&^wordSize != compressedCookie {
		return nil, errors.New("it does not begin as a compressed histogram")
	}
	packed = d.packed[compressedHeader:]
	length := binary.BigEndian.Uint32(d.packed[4:])
	if int64(length) > int64(len(packed)) {
		return nil, fmt.Errorf("it says %d bytes and has %d", length, len(packed))
	}
	return packed[:length], nil
}

func (d *Decoder) inflate(packed []byte) (err error) {
	d.source.Reset(packed)
	if r, ok := d.inflater.(zlib.Resetter); ok {
		err = r.Reset(&d.source, nil)
	} else {
		d.inflater, err = zlib.NewReader(&d.source)
	}
	if err != nil {
		return err
	}
	d.payload.Reset()
	_, err = d.payload.ReadFrom(io.LimitReader(d.inflater, plainHeader+maxBins*maxVarint+1))
	return err
}

// checkHeader refuses another geometry, which would put samples into wrong bins, and returns the counts.
func checkHeader(plain []byte) ([]byte, error) {
	if len(plain) < plainHeader || binary.BigEndian.Uint32(plain)&^wordSize != plainCookie {
		return nil, errors.New("its contents do not begin as a histogram")
	}
	counts := plain[plainHeader:]
	if length := binary.BigEndian.Uint32(plain[4:]); int64(length) != int64(len(counts)) {
		return nil, fmt.Errorf("it says %d bytes of counts and has %d", length, len(counts))
	}
	significant, low, high := binary.BigEndian.Uint32(plain[12:]), binary.BigEndian.Uint64(plain[16:]), binary.BigEndian.Uint64(plain[24:])
	if significant != digits || low != lowestMicros || high != HighestMicros {
		return nil, fmt.Errorf("it reaches from %d to %d µs with %d digits, and not from %d to %d with %d", low, high, significant, lowestMicros, HighestMicros, digits)
	}
	return counts, nil
}

// read replaces the counts; negative numbers are runs of empty bins.
func (h *Histogram) read(encoded []byte) error {
	h.counts, h.total = h.counts[:0], 0
	for len(encoded) > 0 {
		n, length := varint(encoded)
		if length == 0 {
			return errors.New("its last count is cut off")
		}
		encoded = encoded[length:]
		room := int64(maxBins - len(h.counts))
		switch {
		case n < 0 && n >= -room:
			h.counts = append(h.counts, make([]int64, -n)...)
		case n < 0 || room == 0:
			return fmt.Errorf("it has more than %d bins", maxBins)
		case n > math.MaxInt64-h.total:
			return errors.New("its counts are too large")
		default:
			h.counts = append(h.counts, n)
			h.total += n
		}
	}
	return nil
}

// varint reads a signed number, seven bits per byte, least significant first; a ninth byte has all eight. The length
// is 0 if the number is cut off.
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

// unzigzag decodes a number whose lowest bit is the sign.
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }
