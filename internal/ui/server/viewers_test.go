package server

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"syscall"
	"testing"
	"time"

	kruntime "k8s.io/apimachinery/pkg/runtime"

	"loadstone.dev/loadstone/internal/ui"
)

// The cost of a change each second with many open browsers: all are notified and ask again.
func BenchmarkFiftyViewers(b *testing.B) {
	for name, path := range map[string]string{"queue": ui.QueuePath, "runs": ui.RunsPath, "run": ui.RunPath("bench", "now")} {
		b.Run(name, func(b *testing.B) {
			s := newTested(b, &files{})
			objects := []kruntime.Object{measuring()}
			for i := range 200 {
				r := ended()
				r.Name, r.UID = fmt.Sprintf("ended-%03d", i), ""
				objects = append(objects, r)
			}
			s.runs.replace(objects)
			server := httptest.NewServer(s.routes())
			defer server.Close()
			asked := make(chan struct{}, 1000)
			leave := make([]io.Closer, 50)
			for i := range leave {
				leave[i] = view(b, server.URL, path, asked)
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			cpu, began := used(b), time.Now()
			for b.Loop() {
				s.runs.replace(objects)
				for range leave {
					<-asked
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric((used(b)-cpu).Seconds()/time.Since(began).Minutes(), "cpu-s/min")
			b.ReportMetric(float64(after.HeapInuse)/1e6, "heap-MB")
			for _, l := range leave {
				l.Close()
			}
		})
	}
}

func view(b *testing.B, address, path string, asked chan<- struct{}) io.Closer {
	b.Helper()
	own := &http.Client{Transport: &http.Transport{}}
	stream, err := own.Get(address + ui.EventsPath)
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			if lines.Text() != "event: changed" {
				continue
			}
			page, err := own.Get(address + path)
			if err == nil {
				_, err = io.Copy(io.Discard, page.Body)
				page.Body.Close()
			}
			if err != nil {
				b.Errorf("asking for the page again: %v", err)
			}
			asked <- struct{}{}
		}
	}()
	return stream.Body
}

func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
