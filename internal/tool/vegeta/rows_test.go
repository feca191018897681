package vegeta

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// BenchmarkRecords measures the memory per record without its text; memoryPerRequest is based on it.
func BenchmarkRecords(b *testing.B) {
	for _, headers := range []int{3, 8} {
		b.Run(fmt.Sprintf("%d headers", headers), func(b *testing.B) {
			text := recordsOf(b, 100_000, headers)
			var kept float64
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				list, err := readRows(text)
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				kept = (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(len(list))
				runtime.KeepAlive(list)
			}
			b.ReportMetric(kept, "kept-B/record")
			b.ReportMetric(float64(len(text))/100_000, "text-B/record")
		})
	}
}

func recordsOf(b *testing.B, n, headers int) []byte {
	b.Helper()
	var text bytes.Buffer
	e := gob.NewEncoder(&text)
	head := map[string][]string{"Content-Length": {"10"}}
	for i := range headers {
		head[fmt.Sprintf("X-Header-%d", i)] = []string{"a value as long as most of them are"}
	}
	for i := range uint64(n) {
		r := row{Seq: i, Code: 200, Timestamp: time.Unix(1_700_000_000, int64(i)*1000), Latency: time.Millisecond, Headers: head}
		if err := e.Encode(r); err != nil {
			b.Fatal(err)
		}
	}
	return text.Bytes()
}
