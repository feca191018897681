package histogram_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/testbed/mutated"
)

func encoded(tb testing.TB, h *histogram.Histogram) string {
	tb.Helper()
	text, err := h.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func TestWhatIsStoredIsWhatTheLibraryStores(t *testing.T) {
	var d histogram.Decoder
	for name, samples := range sets() {
		t.Run(name, func(t *testing.T) {
			want, err := library(t, samples).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
			if err != nil {
				t.Fatal(err)
			}
			text := encoded(t, counted(t, samples))
			if text != string(want) {
				t.Errorf("encoded as %.100s, want %.100s", text, want)
			}
			read, err := hdrhistogram.Decode([]byte(text))
			if err != nil {
				t.Fatalf("the library refuses it: %v", err)
			}
			got, err := d.Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(libraryBars(read), bars(got)); diff != "" || got.Samples() != int64(len(samples)) {
				t.Errorf("decoded %d samples, want %d (-want +got):\n%s", got.Samples(), len(samples), diff)
			}
		})
	}
}

// A decoder's reused buffers must not leak earlier contents, not even after an error.
func TestADecoderForgetsWhatItDecodedBefore(t *testing.T) {
	var d histogram.Decoder
	long, short := encoded(t, counted(t, edges())), encoded(t, counted(t, []int64{40}))
	for _, text := range []string{long, short, "AAAA", short, long[:40], long, short} {
		want, wantErr := histogram.Decode(text)
		got, err := d.Decode(text)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%v, and %v of a fresh decoder", err, wantErr)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(bars(want), bars(got)); diff != "" || got.Samples() != want.Samples() {
			t.Errorf("%d samples, want %d (-want +got):\n%s", got.Samples(), want.Samples(), diff)
		}
	}
}

// parts are a stored histogram before compression.
type parts struct {
	cookie, length, digits uint32
	low, high              uint64
	counts                 []byte
	// inflated follows the counts.
	inflated    []byte
	outerCookie uint32
	missing     int
}

func good() parts {
	return parts{cookie: 0x1c849313, outerCookie: 0x1c849314, length: 2, digits: 3, low: 1, high: histogram.HighestMicros, counts: []byte{19, 6}}
}

func (p parts) encode(tb testing.TB) string {
	tb.Helper()
	plain := binary.BigEndian.AppendUint32(nil, p.cookie)
	plain = binary.BigEndian.AppendUint32(plain, p.length)
	plain = binary.BigEndian.AppendUint32(plain, 0)
	plain = binary.BigEndian.AppendUint32(plain, p.digits)
	plain = binary.BigEndian.AppendUint64(plain, p.low)
	plain = binary.BigEndian.AppendUint64(plain, p.high)
	plain = binary.BigEndian.AppendUint64(plain, math.Float64bits(1))
	plain = append(append(plain, p.counts...), p.inflated...)
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := w.Write(plain); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	out := binary.BigEndian.AppendUint32(nil, p.outerCookie)
	out = binary.BigEndian.AppendUint32(out, uint32(packed.Len()))
	out = append(out, packed.Bytes()[:packed.Len()-p.missing]...)
	return base64.StdEncoding.EncodeToString(out)
}

func (p *parts) of(counts []byte) { p.counts, p.length = counts, uint32(len(counts)) }

func TestDecodeRefuses(t *testing.T) {
	largest := []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	for name, tc := range map[string]struct {
		change func(*parts)
		want   string
	}{
		"nothing that is wrong":                   {func(*parts) {}, ""},
		"another format":                          {func(p *parts) { p.outerCookie++ }, "does not begin as a compressed histogram"},
		"another format within":                   {func(p *parts) { p.cookie++ }, "contents do not begin as a histogram"},
		"contents that are cut off":               {func(p *parts) { p.missing = 3 }, "bytes and has"},
		"fewer counts than it says":               {func(p *parts) { p.length = 3 }, "says 3 bytes of counts and has 2"},
		"more counts than it says":                {func(p *parts) { p.length = 1 }, "says 1 bytes of counts and has 2"},
		"a length beyond any memory":              {func(p *parts) { p.length = math.MaxUint32 }, "says 4294967295 bytes of counts"},
		"two digits":                              {func(p *parts) { p.digits = 2 }, "with 2 digits"},
		"another unit":                            {func(p *parts) { p.low = 1000 }, "reaches from 1000"},
		"a range of ten hours":                    {func(p *parts) { p.high *= 10 }, "to 36000000000 µs"},
		"a range below zero":                      {func(p *parts) { p.high = 1 << 63 }, "to 9223372036854775808 µs"},
		"a count that is cut off":                 {func(p *parts) { p.of([]byte{19, 0x80}) }, "last count is cut off"},
		"a run of empty bins beyond the last":     {func(p *parts) { p.of([]byte{0x81, 0xf0, 0x02}) }, "more than 23552 bins"},
		"a run of all the bins that numbers have": {func(p *parts) { p.of(bytes.Repeat([]byte{0xff}, 9)) }, "more than 23552 bins"},
		"a count beyond the last bin":             {func(p *parts) { p.of(append([]byte{0xff, 0xef, 0x02}, 2)) }, "more than 23552 bins"},
		"counts whose sum is no number":           {func(p *parts) { p.of(append(largest, 2)) }, "counts are too large"},
		"a megabyte of nothing":                   {func(p *parts) { p.inflated = make([]byte, 1<<20) }, "says 2 bytes of counts and has 211969"},
	} {
		t.Run(name, func(t *testing.T) {
			p := good()
			tc.change(&p)
			h, err := histogram.Decode(p.encode(t))
			if tc.want == "" {
				if err != nil || h.Samples() != 3 || h.Min() != 10 || h.Max() != 10 {
					t.Errorf("Decode() = %+v, %v; want three samples of 10 µs", h, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || h != nil {
				t.Errorf("Decode() = %v, %v; want an error that says %q", h, err, tc.want)
			}
		})
	}
}

func TestDecodeRefusesWhatIsNoEncoding(t *testing.T) {
	damaged := []byte(encoded(t, counted(t, edges())))
	damaged[len(damaged)/2] ^= 1
	for name, text := range map[string]string{
		"nothing":                   "",
		"text that is no base64":    "<script>",
		"bytes that are too few":    "AAAA",
		"contents that are no zlib": base64.StdEncoding.EncodeToString([]byte{0x1c, 0x84, 0x93, 0x14, 0, 0, 0, 2, 1, 2}),
		"a byte that was changed":   string(damaged),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := histogram.Decode(text); err == nil {
				t.Error("it was decoded")
			}
		})
	}
}

// FuzzDecode compares the decoder with the library on valid histograms; otherwise it expects an error and no panic.
func FuzzDecode(f *testing.F) {
	corpus := mutated.Of[string](f)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 7, 3000} {
		corpus.Add(encoded(f, counted(f, draw(rng, n))))
	}
	corpus.Add("AAAA")
	corpus.Fuzz(func(t testing.TB, text string) {
		got, err := histogram.Decode(text)
		if err != nil {
			return
		}
		want, err := hdrhistogram.Decode([]byte(text))
		if err != nil {
			t.Fatalf("the library refuses what was decoded: %v", err)
		}
		if diff := cmp.Diff(libraryBars(want), bars(got)); diff != "" || got.Samples() != want.TotalCount() {
			t.Errorf("%d samples, want %d (-want +got):\n%s", got.Samples(), want.TotalCount(), diff)
		}
	})
}

// BenchmarkMerge merges the histograms of 16 generators in 4 blocks, two kinds each, here and in the library.
func BenchmarkMerge(b *testing.B) {
	rng := rand.New(rand.NewPCG(2, 1))
	var stored []string
	for range 128 {
		stored = append(stored, encoded(b, counted(b, draw(rng, 4000))))
	}
	b.Run("here", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var sum histogram.Histogram
			var d histogram.Decoder
			for _, text := range stored {
				h, err := d.Decode(text)
				if err != nil {
					b.Fatal(err)
				}
				sum.Add(h)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sum := hdrhistogram.New(1, histogram.HighestMicros, 3)
			for _, text := range stored {
				h, err := hdrhistogram.Decode([]byte(text))
				if err != nil {
					b.Fatal(err)
				}
				if dropped := sum.Merge(h); dropped > 0 {
					b.Fatalf("%d samples were dropped", dropped)
				}
			}
		}
	})
}
